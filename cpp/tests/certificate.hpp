// The duality gap of an answer over all columns, by its definition and in long double.
//
// A column that the screening missed shows here as a gap that was not reported. The gap comes with
// an allowance: what the rounding of coefficients, predictors and gradients to doubles can change.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "tests/cases.hpp"

namespace selica::fuzz {

struct Judged {
  Real gap = 0.0L;        // in the unit of the objective
  Real free = 0.0L;       // what of it is about columns without a penalty: a guess, not a bound
  Real allowance = 0.0L;  // of the gap
  Real excess = 0.0L;     // of the loss with the given intercept over that with the best one
  Real unit = 0.0L;       // null loss less the smallest one
  Real unit_error = 0.0L;
};

// One member: rows of positive weight, columns centred where that changes nothing.
class Judge {
 public:
  Judge(const Case& is, Index member) : is_(is), member_(member) {
    const Problem& problem = is.problem;
    rows_.loss = is.loss;
    for (Index i = 0; i < is.n; ++i) {
      const double c = problem.weights[member * is.n + i];
      if (!(c > 0.0)) continue;
      places_.push_back(i);
      rows_.c.push_back(c);
      total_ += c;
      for (std::size_t field = 0; field < is.y.size(); ++field)
        rows_.y[field].push_back(
            is.y[field][static_cast<std::size_t>((problem.y_each ? member * is.n : 0) + i)]);
    }
    degenerate_ = fuzz::degenerate(rows_);
    if (degenerate_) return;
    if (rows_.is_cox()) terms_ = cox_terms(rows_);
    for (Index j = 0; j < is.columns(); ++j) measure(j);
    const Reals zeros(rows_.c.size(), 0.0L);
    null_.assign(rows_.c.size(),
                 problem.fit_intercept ? balance(rows_, terms_, zeros, 0.0L) : 0.0L);
    const Value null = evaluate(rows_, terms_, null_);
    const Real least = infimum(rows_, terms_);
    unit_ = null.total - least;
    unit_error_ = kMany * (null.size + std::abs(least));
    pull_ = null.residual;
  }

  bool degenerate() const { return degenerate_; }

  // Whether rounding decides if a column is constant.
  bool unclear() const { return unclear_; }

  // Returns the smallest penalty at which nothing is selected, and how far off it may be.
  Real largest(Real& error) const {
    Real top = 0.0L;
    error = 0.0L;
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      if (!(penalty_[j] > 0.0L) || flat_[j]) continue;
      Real product = 0.0L, size = 0.0L;
      for (std::size_t i = 0; i < pull_.size(); ++i) {
        product += columns_[j][i] * pull_[i];
        size +=
            (std::abs(columns_[j][i]) + std::abs(centre_[j]) + middle_[j]) *
            (std::abs(pull_[i]) + rows_.c[i] * (rows_.is_cox() ? 1.0L : std::abs(rows_.y[0][i])));
      }
      top = std::max(top, std::abs(product) / penalty_[j]);
      error = std::max(error, kMany * size / penalty_[j]);
    }
    return top;
  }

  Judged judge(const double* w, double intercept, Real lam, Real lam2) const {
    const std::size_t n = rows_.c.size(), p = columns_.size();
    Reals eta(n, 0.0L), moved(n, 0.0L);
    Real paid = 0.0L, shift = 0.0L, shifted = 0.0L;
    for (std::size_t j = 0; j < p; ++j) {
      const Real value = w[j];
      if (value == 0.0L) continue;
      paid += penalty(j, lam) * std::abs(value) + 0.5L * lam2 * ridge_[j] * value * value;
      shift += centre_[j] * value;
      shifted += std::abs(centre_[j] * value);
      for (std::size_t i = 0; i < n; ++i) {
        eta[i] += columns_[j][i] * value;
        moved[i] += std::abs(columns_[j][i] * value);
      }
    }
    Judged out;
    out.unit = unit_;
    out.unit_error = unit_error_;
    Real constant = 0.0L;
    if (is_.problem.fit_intercept) {
      constant = balance(rows_, terms_, eta, intercept + shift);
      Reals given = eta;
      for (Real& each : given) each += intercept + shift;
      for (Real& each : eta) each += constant;
      out.excess = evaluate(rows_, terms_, given).total - evaluate(rows_, terms_, eta).total;
    }
    const Value here = evaluate(rows_, terms_, eta);
    Reals off(n);  // how far off predictors may be
    for (std::size_t i = 0; i < n; ++i) {
      off[i] = moved[i] + std::abs(constant) + shifted;
      if (is_.loss == LossName::squared) off[i] += std::abs(rows_.y[0][i]);
      off[i] *= kMany;
    }
    Real scale = 1.0L, least = 1.0L, largest = 1.0L, free = 0.0L, free_error = 0.0L;
    Reals q(p), error(p);
    for (std::size_t j = 0; j < p; ++j) {
      if (flat_[j] && w[j] == 0.0) continue;
      Real curve = 0.0L;
      for (std::size_t i = 0; i < n; ++i) {
        const Real x = columns_[j][i];
        q[j] += x * here.residual[i];
        error[j] +=
            (std::abs(x) + apart_[j]) * (here.curve[i] * off[i] + kMany * subtracted(i, here));
        curve += here.curve[i] * x * x;
      }
      const Real bent = lam2 * ridge_[j] * w[j];
      q[j] -= bent;
      error[j] += kMany * std::abs(bent);
      const Real most = penalty(j, lam), size = std::abs(q[j]);
      if (most > 0.0L) {
        if (size > most) scale = std::min(scale, most / size);
        if (size + error[j] > most) least = std::min(least, most / (size + error[j]));
        if (size - error[j] > most) largest = std::min(largest, most / (size - error[j]));
      } else if (lam2 * ridge_[j] == 0.0L) {
        free += size * std::abs(w[j]) + (curve > 0.0L ? 0.5L * size * size / curve : 0.0L);
        free_error += error[j] * std::abs(w[j]) +
                      (curve > 0.0L ? (size + error[j]) * error[j] / curve : 0.0L);
      }
    }
    const Real conjugate = bent(w, q, error, lam, lam2, scale, false);
    const Real most = bent(w, q, error, lam, lam2, scale, true);
    const Real best = dual(rows_, terms_, eta, scale);
    const Real worst = dual(rows_, terms_, eta, least), seen = dual(rows_, terms_, eta, largest);
    out.free = free;
    out.gap = here.total + paid - best + conjugate + free;
    out.allowance = kMany * (here.size + paid + std::abs(best)) +
                    std::max(std::abs(best - worst), std::abs(best - seen)) +
                    std::max(most - conjugate, 0.0L) + free_error;
    for (std::size_t i = 0; i < n; ++i) out.allowance += std::abs(here.residual[i]) * off[i];
    return out;
  }

 private:
  static constexpr Real kMany = 64.0L * 2.3e-16L;  // roundings

  Real penalty(std::size_t j, Real lam) const { return lam * penalty_[j]; }

  // Returns the sizes of the numbers whose difference is the residual of a row.
  Real subtracted(std::size_t i, const Value& here) const {
    const Real c = rows_.c[i];
    switch (is_.loss) {
      case LossName::squared:
        return std::abs(here.residual[i]);
      case LossName::logistic:
        return c;
      case LossName::poisson:
        return c * rows_.y[0][i] + here.curve[i];
      default:
        return c * rows_.y[1][i] + here.curve[i];
    }
  }

  void measure(Index j) {
    const Problem& problem = is_.problem;
    const double* column = is_.column(member_, j);
    Reals z;
    Real mean = 0.0L, square = 0.0L, variance = 0.0L;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      z.push_back(column[places_[i]]);
      mean += rows_.c[i] * z.back() / total_;
      square += rows_.c[i] * z.back() * z.back() / total_;
    }
    if (!problem.centred) mean = 0.0L;
    for (std::size_t i = 0; i < z.size(); ++i) {
      z[i] -= mean;
      variance += rows_.c[i] * z[i] * z[i] / total_;
    }
    // the core takes columns for constant about the mean over all rows, of whatever weight
    Real away = 0.0L, all = 0.0L;
    for (Index i = 0; i < is_.n; ++i)
      all += static_cast<Real>(column[i]) / static_cast<Real>(is_.n);
    if (problem.centred) away = all - mean;
    const bool free = problem.unpenalised != nullptr && problem.unpenalised[j];
    const bool scaled = problem.standardize && !free;
    penalty_.push_back((free ? 0.0L : problem.factor_of(member_)[j]) *
                       (scaled ? std::sqrt(variance) : 1.0L));
    ridge_.push_back(free ? 0.0L : scaled ? variance : 1.0L);
    const Real size = square + away * away + all * all;
    flat_.push_back(variance <= 1e-11L * size);
    unclear_ = unclear_ || (flat_.back() && variance > 0.0L);
    centre_.push_back(mean);
    middle_.push_back(std::abs(all));
    apart_.push_back(problem.centred ? std::abs(all - mean) : 0.0L);
    columns_.push_back(std::move(z));
  }

  // Returns what ridges add to minus the dual objective, with gradients that may be off.
  Real bent(const double* w, const Reals& q, const Reals& error, Real lam, Real lam2, Real scale,
            bool worst) const {
    Real total = 0.0L;
    for (std::size_t j = 0; j < q.size(); ++j) {
      const Real ridge = lam2 * ridge_[j], most = penalty(j, lam);
      if (!(ridge > 0.0L)) continue;
      const Real more = worst ? error[j] : 0.0L;
      const Real over = std::max(scale * (std::abs(q[j] + ridge * w[j]) + more) - most, 0.0L);
      Real value = 0.5L * over * over / ridge;
      if (scale * std::abs(q[j]) <= most + error[j] && !worst)
        value = std::min(value, 0.5L * ridge * scale * scale * w[j] * w[j]);
      total += value;
    }
    return total;
  }

  const Case& is_;
  Index member_;
  Rows rows_;
  std::vector<Index> places_;
  std::vector<Term> terms_;
  Real total_ = 0.0L, unit_ = 0.0L, unit_error_ = 0.0L;
  bool degenerate_ = false, unclear_ = false;
  std::vector<Reals> columns_;
  Reals centre_, middle_, apart_, penalty_, ridge_, null_, pull_;
  std::vector<char> flat_;  // constant, or nearly
};

}  // namespace selica::fuzz
