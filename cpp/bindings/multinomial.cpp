// Ensembles of penalised regressions with several classes, for Python.

#include <nanobind/stl/optional.h>

#include <optional>

#include "bindings/arrays.hpp"
#include "bindings/entries.hpp"
#include "bindings/parts.hpp"
#include "paths/multinomial_ensemble.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace selica {
namespace {

template <class T>
using Out = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

// Returns the array of this name, of so many entries; null where it is not wanted.
template <class T>
T* output(nb::dict& arrays, const char* name, std::size_t entries) {
  if (!arrays.contains(name)) return nullptr;
  auto array = nb::cast<Out<T>>(arrays[name], false);
  require(array.size() == entries, "an array has the wrong size");
  return array.data();
}

// Solves an ensemble into `arrays`; y holds numbers of classes below `classes`. Returns how often
// the design was read, and sparse entries (rows, columns, values) or None.
nb::object solve_multinomial(Design& design, Matrix y, Index classes, Matrix weights, Matrix lams,
                             Matrix lam2, Matrix factor,
                             std::optional<Array<const bool, 1>> unpenalised, nb::dict settings,
                             nb::dict arrays, nb::object progress) {
  const std::size_t members = weights.shape(0), n = static_cast<std::size_t>(design.rows());
  const std::size_t columns = factor.shape(1), K = static_cast<std::size_t>(classes);
  const auto shared_or_each = [&](const Matrix& array) {
    return array.shape(0) == 1 || array.shape(0) == members;
  };
  require(weights.shape(1) == n, "weights need one number for each row");
  require(static_cast<Index>(columns) == design.columns() && shared_or_each(factor),
          "penalty weights need one number for each column");
  require(y.shape(1) == n && shared_or_each(y), "the response needs one number for each row");
  require(classes > 0, "there must be a class");
  for (std::size_t i = 0; i < y.size(); ++i)
    require(y.data()[i] >= 0.0 && y.data()[i] < static_cast<double>(classes),
            "the response must be numbers of classes");
  require(shared_or_each(lams) && lams.shape(1) > 0 && lam2.shape(0) == lams.shape(0) &&
              lam2.shape(1) == lams.shape(1),
          "ridges need the shape of the penalties");
  require(!unpenalised || unpenalised->shape(0) == columns, "unpenalised is one flag a column");

  Problem problem;
  problem.design = &design;
  problem.members = static_cast<Index>(members);
  problem.columns = design.columns();
  problem.y = {y.data()};
  problem.y_each = members > 1 && y.shape(0) == members;
  problem.weights = weights.data();
  problem.lams = lams.data();
  problem.lam2 = lam2.data();
  problem.lams_each = members > 1 && lams.shape(0) == members;
  problem.n_lams = static_cast<Index>(lams.shape(1));
  problem.factor = factor.data();
  problem.factor_each = members > 1 && factor.shape(0) == members;
  problem.unpenalised = unpenalised ? unpenalised->data() : nullptr;
  problem.fit_intercept = problem.centred = true;
  problem.standardize = nb::cast<bool>(settings["standardize"]);
  problem.tol = nb::cast<double>(settings["tol"]);
  problem.max_iter = nb::cast<Index>(settings["max_iter"]);
  problem.max_active = nb::cast<Index>(settings["max_active"]);
  const bool group = nb::cast<bool>(settings["group"]);
  const Index threads = nb::cast<Index>(settings["threads"]);
  const bool sparse = nb::cast<bool>(settings["sparse"]);
  for (std::size_t b = 0; b < members; ++b) {
    Index count = 0;
    for (std::size_t i = 0; i < n; ++i) count += weights.data()[b * n + i] > 0.0;
    problem.most_rows = std::max(problem.most_rows, count);
  }

  const std::size_t grid = members * lams.shape(1);
  Kept kept;
  kept.coef = output<double>(arrays, "coef", grid * columns * K);
  kept.intercept = output<double>(arrays, "intercept", grid * K);
  kept.n_active = output<std::int64_t>(arrays, "n_active", grid);
  kept.gap = output<double>(arrays, "gap", grid);
  kept.kkt = output<double>(arrays, "kkt", grid);
  kept.iterations = output<std::int64_t>(arrays, "iterations", grid);
  kept.status = output<std::int8_t>(arrays, "status", grid);
  kept.entry = output<double>(arrays, "entry", members * columns);
  kept.largest = output<double>(arrays, "largest", members);
  kept.counts = output<std::int64_t>(arrays, "counts", lams.shape(1) * columns);
  require(kept.intercept != nullptr && kept.n_active != nullptr && kept.gap != nullptr &&
              kept.kkt != nullptr && kept.iterations != nullptr && kept.status != nullptr &&
              kept.largest != nullptr,
          "an array is missing");

  MultinomialEnsemble ensemble(problem, classes, group, kept, sparse, threads);
  Index told = -1;
  bool interrupted = false;
  {
    nb::gil_scoped_release release;
    design.prepare(true);
    ensemble.run([&](Index done) {
      nb::gil_scoped_acquire acquire;
      if (PyErr_CheckSignals() != 0) {
        interrupted = true;
        return false;
      }
      if (progress.is_none() || done == 0 || done == told) return true;
      told = done;
      try {
        progress(done, problem.members);
      } catch (nb::python_error& error) {
        error.restore();
        interrupted = true;
        return false;
      }
      return true;
    });
  }
  if (interrupted) throw nb::python_error();
  const double passes = ensemble.passes();
  if (!sparse) return nb::make_tuple(passes, nb::none());
  return nb::make_tuple(passes, joined(ensemble.entries()));
}

}  // namespace
}  // namespace selica

void bind_multinomial(nb::module_& m) {
  m.def("solve_multinomial", &selica::solve_multinomial, "design"_a, "y"_a, "classes"_a,
        "weights"_a, "lams"_a, "lam2"_a, "factor"_a, "unpenalised"_a.none(), "settings"_a,
        "arrays"_a, "progress"_a.none());
}
