// Random small ensembles with every loss and every design, degenerate on purpose.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "losses/cox.hpp"
#include "losses/logistic.hpp"
#include "losses/poisson.hpp"
#include "paths/problem.hpp"
#include "tests/exact_losses.hpp"
#include "tests/tables.hpp"

namespace selica::fuzz {

struct Case {
  Index number = 0;
  LossName loss = LossName::squared;
  Index n = 1, p = 1, members = 1, n_lams = 1;
  Table table;
  std::vector<Table> own;          // none, or one for each member or for several
  std::vector<std::size_t> whose;  // own table of each member
  std::vector<std::vector<double>> y;
  std::vector<double> weights, lams, lam2, factor;
  std::unique_ptr<bool[]> unpenalised;
  Problem problem;
  Index chunk = 1, threads = 1;
  // Whether all coefficients are bounded well, so that nothing but convergence will do.
  bool tame = true;

  Index columns() const { return problem.columns; }
  const double* column(Index member, Index j) const {
    const Table& of = j < p ? table : own[whose[static_cast<std::size_t>(member)]];
    return of.entries.data() + (j < p ? j : j - p) * n;
  }
};

namespace cases_detail {

inline void draw_weights(Random& random, Case& is) {
  is.weights.resize(static_cast<std::size_t>(is.members * is.n));
  const Index kind = random.whole(0, 4);
  const double size = random.chance(0.1) ? std::pow(10.0, random.uniform(-8.0, 8.0)) : 1.0;
  for (Index b = 0; b < is.members; ++b) {
    const double none = random.chance(0.02) ? 1.0 : random.chance(0.5) ? 0.3 : 0.0;
    for (Index i = 0; i < is.n; ++i) {
      double c = 1.0;
      if (kind == 1) c = static_cast<double>(random.whole(0, 3));
      if (kind == 2) c = -std::log(1.0 - random.uniform());
      if (kind == 3) c = static_cast<double>(random.whole(0, 1));
      if (kind == 4) c = random.chance(0.1) ? std::pow(10.0, random.uniform(-6.0, 3.0)) : 1.0;
      is.weights[static_cast<std::size_t>(b * is.n + i)] = random.chance(none) ? 0.0 : c * size;
    }
  }
  if (kind == 4) is.tame = false;
}

// Draws the response of all members, or of each.
inline void draw_response(Random& random, Case& is, bool each) {
  const Index rows = each ? is.members * is.n : is.n;
  const bool cox = is.loss == LossName::cox_breslow || is.loss == LossName::cox_efron;
  const bool poisson = is.loss == LossName::poisson;
  is.y.assign(cox ? 3 : poisson ? 2 : 1, std::vector<double>(static_cast<std::size_t>(rows)));
  const double strength = random.chance(0.3) ? 0.0 : random.uniform(0.0, 3.0);
  const bool extreme = random.chance(0.05);
  const double size = random.chance(0.1) ? std::pow(10.0, random.uniform(-30.0, 25.0)) : 1.0;
  const double events = random.chance(0.05) ? 0.0 : random.uniform(0.2, 1.0);
  const Index tied = random.chance(0.5) ? random.whole(1, 6) : 1000000;
  const Index strata = random.chance(0.5) ? 1 : random.whole(1, 4);
  const Index shown = random.whole(0, is.p - 1);
  double largest = 1e-300;
  const double* column = is.table.entries.data() + shown * is.n;
  for (Index i = 0; i < is.n; ++i) largest = std::max(largest, std::abs(column[i]));
  for (Index r = 0; r < rows; ++r) {
    const std::size_t at = static_cast<std::size_t>(r);
    const double eta = strength * column[r % is.n] / largest, noise = random.normal();
    switch (is.loss) {
      case LossName::squared:
        is.y[0][at] = size * (extreme ? 1.0 : eta + noise);
        break;
      case LossName::logistic:
        is.y[0][at] = extreme || eta + noise > 0.0 ? 1.0 : 0.0;
        break;
      case LossName::poisson:
        is.y[0][at] = extreme ? 0.0 : std::floor(std::exp(eta + noise));
        if (size > 1.0 && size < 1e12) is.y[0][at] *= size;
        is.y[1][at] = strata > 1 ? random.uniform(-2.0, 2.0) : 0.0;
        break;
      default:
        is.y[0][at] = std::floor(static_cast<double>(tied) * std::exp(-eta) * random.uniform());
        is.y[1][at] = random.chance(events) ? 1.0 : 0.0;
        is.y[2][at] = static_cast<double>(random.whole(0, strata - 1));
    }
  }
}

// Returns about the largest penalty that selects anything in any member.
inline double top_penalty(const Case& is) {
  double top = 0.0;
  for (Index b = 0; b < is.members; ++b) {
    const double* c = is.weights.data() + b * is.n;
    const std::vector<double>& y = is.y[is.problem.y.size() == 3 ? 1 : 0];
    const double* of = y.data() + (is.problem.y_each ? b * is.n : 0);
    double mean = 0.0, total = 1e-300;
    for (Index i = 0; i < is.n; ++i) {
      mean += c[i] * of[i];
      total += c[i];
    }
    for (Index j = 0; j < is.columns(); ++j) {
      const double factor = is.problem.factor_of(b)[j];
      if (factor == 0.0 || (is.unpenalised && is.unpenalised[static_cast<std::size_t>(j)]))
        continue;
      double product = 0.0, square = 0.0, first = 0.0;
      for (Index i = 0; i < is.n; ++i) {
        const double x = is.column(b, j)[i];
        product += c[i] * (of[i] - mean / total) * x;
        first += c[i] * x / total;
        square += c[i] * x * x / total;
      }
      const double deviation = std::sqrt(std::max(square - first * first, 1e-16 * square));
      const double size = is.problem.standardize ? deviation : 1.0;
      if (size > 0.0) top = std::max(top, std::abs(product) / factor / size);
    }
  }
  return top > 0.0 && std::isfinite(top) ? top : 1.0;
}

inline void draw_penalties(Random& random, Case& is) {
  Problem& problem = is.problem;
  const std::size_t columns = static_cast<std::size_t>(problem.columns);
  problem.factor_each = random.chance(0.2);
  is.factor.assign(columns * (problem.factor_each ? static_cast<std::size_t>(is.members) : 1), 1.0);
  if (random.chance(0.5))
    for (double& each : is.factor) {
      each = random.uniform(0.5, 2.0);
      if (random.chance(0.05)) each = 0.0;
      if (each == 0.0) is.tame = false;
    }
  problem.factor = is.factor.data();
  if (random.chance(0.2)) {
    is.unpenalised = std::make_unique<bool[]>(columns);
    for (std::size_t j = 0; j < columns; ++j) is.unpenalised[j] = random.chance(0.1);
    problem.unpenalised = is.unpenalised.get();
    is.tame = false;
  }
  const double top = top_penalty(is);
  problem.lams_each = random.chance(0.3);
  const Index paths = problem.lams_each ? is.members : 1;
  for (Index b = 0; b < paths; ++b) {
    const double least = random.chance(0.1) ? -12.0 : -2.5;
    std::vector<double> path;
    for (Index l = 0; l < is.n_lams; ++l)
      path.push_back(top * std::pow(10.0, random.uniform(least, 0.2)));
    if (random.chance(0.05)) path.back() = 0.0;
    if (random.chance(0.05)) path.back() = path.front();
    std::sort(path.begin(), path.end(), std::greater<>());
    is.lams.insert(is.lams.end(), path.begin(), path.end());
  }
  for (const double lam : is.lams) is.tame = is.tame && lam >= 1e-3 * top;
  is.lam2.assign(is.lams.size(), 0.0);
  const Index ridges = random.whole(0, 3);
  for (double& each : is.lam2) {
    if (ridges == 1) each = std::pow(10.0, random.uniform(-3.0, 2.0));
    if (ridges == 2) each = std::pow(10.0, random.uniform(-25.0, 10.0));
  }
  if (ridges == 2) is.tame = false;
  problem.lams = is.lams.data();
  problem.lam2 = is.lam2.data();
}

inline std::shared_ptr<const LossKind> kind_of(const Case& is) {
  switch (is.loss) {
    case LossName::squared:
      return nullptr;
    case LossName::logistic:
      return std::make_shared<LogisticKind>();
    case LossName::poisson:
      return std::make_shared<PoissonKind>();
    default:
      return std::make_shared<CoxKind>(
          is.y[0].data(), is.y[1].data(), is.y[2].data(), is.n,
          is.loss == LossName::cox_efron ? Ties::efron : Ties::breslow);
  }
}

}  // namespace cases_detail

// Writes problem `number` to `is`, which stays where it is.
inline void draw(Index number, Case& is) {
  using namespace cases_detail;
  Random random(static_cast<std::uint64_t>(number));
  is.number = number;
  is.loss = static_cast<LossName>(random.whole(0, 4));
  const bool cox = is.loss == LossName::cox_breslow || is.loss == LossName::cox_efron;
  const bool large = random.chance(0.01);
  is.n = random.chance(0.05) ? 1 : random.whole(2, random.chance(0.2) ? 40 : 16);
  is.p = random.chance(0.05) ? 1 : random.whole(1, random.chance(0.1) ? 80 : 14);
  if (large) {
    is.n = random.whole(500, 1100);
    is.p = random.whole(1, 40);
  }
  if (large && cox) is.n /= 10;
  is.members = random.chance(0.3) ? 1 : random.whole(1, large ? 3 : 9);
  is.n_lams = random.whole(1, 4);
  Columns columns{is.n, is.p, random.chance(0.08), random.chance(0.15)};
  is.tame = !columns.wild && !columns.hard;
  is.table = some_table(random, columns);

  Problem& problem = is.problem;
  problem.columns = is.p;
  if (random.chance(0.2)) {
    columns.count = random.whole(1, is.p);
    problem.columns += columns.count;
    problem.own_is_shared = random.chance(0.5);
    for (Index b = 0; b < is.members; ++b) {
      if (b == 0 || !problem.own_is_shared || random.chance(0.5)) {
        is.own.push_back(some_table(random, columns));
        is.own.back().design->prepare(false);
      }
      is.whose.push_back(is.own.size() - 1);
    }
  }
  draw_weights(random, is);
  problem.members = is.members;
  problem.n_lams = is.n_lams;
  problem.weights = is.weights.data();
  for (Index b = 0; b < is.members; ++b) {
    Index count = 0;
    for (Index i = 0; i < is.n; ++i) count += problem.weights[b * is.n + i] > 0.0;
    problem.most_rows = std::max(problem.most_rows, count);
  }
  problem.y_each = !cox && random.chance(0.2);
  draw_response(random, is, problem.y_each);
  for (const auto& field : is.y) problem.y.push_back(field.data());
  problem.standardize = random.chance(0.4);
  draw_penalties(random, is);

  problem.fit_intercept = !cox && random.chance(0.6);
  problem.centred = problem.fit_intercept || cox;
  problem.tol = std::pow(10.0, -static_cast<double>(random.whole(3, 12)));
  is.tame = is.tame && problem.tol > 1e-10;
  problem.max_iter = is.loss == LossName::squared ? 10'000 : 100;
  if (random.chance(0.15)) problem.max_active = random.whole(0, 5);
  if (random.chance(0.3)) is.table.design = std::make_shared<Heavy>(is.table.design);
  problem.design = is.table.design.get();
  problem.loss = kind_of(is);
  is.table.design->prepare(problem.centred);
  for (Table& each : is.own) each.design->prepare(problem.centred);
  if (!is.own.empty())
    problem.own = [&is](Index b) -> OwnColumns {
      return is.own[is.whose[static_cast<std::size_t>(b)]].design;
    };
  is.chunk = random.whole(1, is.members);
  is.threads = random.chance(0.05) ? random.whole(2, 3) : 1;
}

}  // namespace selica::fuzz
