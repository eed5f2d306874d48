// What ensembles of all responses take from Python, and how they are solved.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "bindings/arrays.hpp"
#include "bindings/entries.hpp"
#include "bindings/interruptible.hpp"
#include "paths/problem.hpp"
#include "paths/tasks.hpp"

namespace selica {

using Flags = Array<const bool, 1>;

// Says whether an array has a row of so many entries for all members, or one for each.
inline bool shared_or_each(const Matrix& array, Index members, Index columns) {
  return shaped(1, columns, array) || shaped(members, columns, array);
}

// Returns a problem without its response; members have so many columns.
inline Problem problem_of(const Design& design, Index columns, const Matrix& weights,
                          const Matrix& lams, const Matrix& lam2, const Matrix& factor,
                          const std::optional<Flags>& unpenalised, const nanobind::dict& settings) {
  Problem problem;
  problem.design = &design;
  problem.members = static_cast<Index>(weights.shape(0));
  problem.columns = columns;
  problem.n_lams = static_cast<Index>(lams.shape(1));
  const Index members = problem.members, n = design.rows();
  const auto each = [&](const Matrix& array) { return members > 1 && has_shape(array, members); };
  require(has_shape(weights, members, n), "weights need one number for each row");
  require(shared_or_each(factor, members, columns),
          "penalty weights need one number for each column");
  require(problem.n_lams > 0 && shared_or_each(lams, members, problem.n_lams) &&
              shaped(lams.shape(0), problem.n_lams, lam2),
          "ridges need the shape of the penalties");
  require(!unpenalised || sized(columns, *unpenalised), "unpenalised is one flag a column");
  problem.weights = weights.data();
  problem.lams = lams.data();
  problem.lam2 = lam2.data();
  problem.lams_each = each(lams);
  problem.factor = factor.data();
  problem.factor_each = each(factor);
  problem.unpenalised = unpenalised ? unpenalised->data() : nullptr;
  problem.standardize = nanobind::cast<bool>(settings["standardize"]);
  problem.tol = nanobind::cast<double>(settings["tol"]);
  problem.max_iter = nanobind::cast<Index>(settings["max_iter"]);
  problem.max_active = nanobind::cast<Index>(settings["max_active"]);
  for (Index b = 0; b < members; ++b) {
    const double* own = problem.weights_of(b);
    problem.most_rows = std::max<Index>(
        problem.most_rows, std::count_if(own, own + n, [](double w) { return w > 0.0; }));
  }
  return problem;
}

// Returns the arrays that are filled; coefficients and intercepts have a last axis of `classes`.
inline Kept kept_of(const nanobind::dict& arrays, const Problem& problem, Index classes = 1) {
  const Index grid = problem.members * problem.n_lams, cells = problem.n_lams * problem.columns;
  Kept kept;
  kept.coef = output<double>(arrays, "coef", grid * problem.columns * classes);
  kept.intercept = output<double>(arrays, "intercept", grid * classes);
  kept.n_active = output<std::int64_t>(arrays, "n_active", grid);
  kept.gap = output<double>(arrays, "gap", grid);
  kept.kkt = output<double>(arrays, "kkt", grid);
  kept.iterations = output<std::int64_t>(arrays, "iterations", grid);
  kept.status = output<std::int8_t>(arrays, "status", grid);
  kept.entry = output<double>(arrays, "entry", problem.members * problem.columns);
  kept.largest = output<double>(arrays, "largest", problem.members);
  kept.counts = output<std::int64_t>(arrays, "counts", cells);
  kept.total = output<double>(arrays, "total", cells);
  kept.square = output<double>(arrays, "square", cells);
  require(kept.intercept != nullptr && kept.n_active != nullptr && kept.gap != nullptr &&
              kept.kkt != nullptr && kept.iterations != nullptr && kept.status != nullptr &&
              kept.largest != nullptr && (kept.total == nullptr) == (kept.square == nullptr),
          "an array is missing");
  return kept;
}

// Prepares the design and solves all members; returns how often the design was read, and sparse
// entries (rows, columns, values), or None where they are not wanted.
template <class SomeEnsemble>
nanobind::tuple run_ensemble(SomeEnsemble& ensemble, Design& design, const Problem& problem,
                             bool sparse, const nanobind::object& progress) {
  interruptible(
      [&](const Poll& poll) { ensemble.run(poll, [&] { design.prepare(problem.centred); }); },
      progress, problem.members);
  nanobind::object entries = nanobind::none();
  if (sparse) entries = joined(ensemble.entries());
  return nanobind::make_tuple(ensemble.passes(), entries);
}

}  // namespace selica
