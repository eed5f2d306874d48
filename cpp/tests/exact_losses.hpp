// The losses by their definitions, in long double: slow, and without anything of the core.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/types.hpp"

namespace selica::fuzz {

using Real = long double;
using Reals = std::vector<Real>;

enum class LossName { squared, logistic, poisson, cox_breslow, cox_efron };

// The rows of positive weight of one member.
struct Rows {
  LossName loss;
  Reals c;     // weights
  Reals y[3];  // fields of the response
  Index count() const { return static_cast<Index>(c.size()); }
  bool is_cox() const { return loss == LossName::cox_breslow || loss == LossName::cox_efron; }
};

struct Value {
  Real total = 0.0L;
  Real size = 0.0L;  // sum of the sizes of what was added
  Reals residual;    // minus the derivative
  Reals curve;       // diagonal that bounds the second derivative
};

inline Real entropy(Real x) { return x > 0.0L ? x * std::log(x) : 0.0L; }

// A term of the partial likelihood: omega log sum_i b_i e^eta_i.
struct Term {
  Real omega;
  Reals b;
  Reals dying;  // c of the deaths over their sum, by row
};

inline std::vector<Term> cox_terms(const Rows& rows) {
  std::vector<Term> out;
  const std::size_t n = rows.c.size();
  const Reals &time = rows.y[0], &event = rows.y[1], &stratum = rows.y[2];
  for (std::size_t i = 0; i < n; ++i) {
    if (event[i] == 0.0L) continue;
    const auto same = [&](std::size_t k) {
      return stratum[k] == stratum[i] && time[k] == time[i] && event[k] != 0.0L;
    };
    bool first = true;
    Real weight = 0.0L, deaths = 0.0L;
    for (std::size_t k = 0; k < n; ++k) {
      if (!same(k)) continue;
      first = first && k >= i;
      weight += rows.c[k];
      deaths += 1.0L;
    }
    if (!first) continue;
    const Real terms = rows.loss == LossName::cox_efron ? deaths : 1.0L;
    for (Real k = 0.0L; k < terms; k += 1.0L) {
      Term term{weight / terms, Reals(n), Reals(n)};
      for (std::size_t r = 0; r < n; ++r) {
        const bool at_risk = stratum[r] == stratum[i] && time[r] >= time[i];
        term.b[r] = at_risk ? rows.c[r] * (same(r) ? 1.0L - k / terms : 1.0L) : 0.0L;
        term.dying[r] = same(r) ? rows.c[r] / weight : 0.0L;
      }
      out.push_back(std::move(term));
    }
  }
  return out;
}

inline bool degenerate(const Rows& rows) {
  Real total = 0.0L, mass = 0.0L;
  for (std::size_t i = 0; i < rows.c.size(); ++i) {
    total += rows.c[i];
    mass += rows.c[i] * (rows.is_cox() ? rows.y[1][i] : rows.y[0][i]);
  }
  if (rows.loss == LossName::squared) return false;
  return !(mass > 0.0L) || (rows.loss == LossName::logistic && mass >= total);
}

namespace exact_detail {

// Returns the logarithm of sum_i b_i e^eta_i.
inline Real log_sum(const Term& term, const Reals& eta) {
  Real top = -1e4000L, sum = 0.0L;
  for (std::size_t i = 0; i < eta.size(); ++i)
    if (term.b[i] > 0.0L) top = std::max(top, eta[i]);
  for (std::size_t i = 0; i < eta.size(); ++i)
    if (term.b[i] > 0.0L) sum += term.b[i] * std::exp(eta[i] - top);
  return top + std::log(sum);
}

inline Value cox(const Rows& rows, const std::vector<Term>& terms, const Reals& eta) {
  Value out;
  const std::size_t n = eta.size();
  out.residual.assign(n, 0.0L);
  out.curve.assign(n, 0.0L);
  for (const Term& term : terms) {
    const Real log_s = log_sum(term, eta);
    out.total += term.omega * log_s;
    out.size += term.omega * std::abs(log_s);
    for (std::size_t i = 0; i < n; ++i)
      if (term.b[i] > 0.0L) out.curve[i] += term.omega * term.b[i] * std::exp(eta[i] - log_s);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const Real dies = rows.c[i] * rows.y[1][i];
    out.total -= dies * eta[i];
    out.size += std::abs(dies * eta[i]);
    out.residual[i] = dies - out.curve[i];
  }
  return out;
}

}  // namespace exact_detail

inline Value evaluate(const Rows& rows, const std::vector<Term>& terms, const Reals& eta) {
  if (rows.is_cox()) return exact_detail::cox(rows, terms, eta);
  Value out;
  const auto add = [&](Real c, Real value, Real size, Real slope, Real curve) {
    out.total += c * value;
    out.size += c * size;
    out.residual.push_back(-c * slope);
    out.curve.push_back(c * curve);
  };
  for (std::size_t i = 0; i < eta.size(); ++i) {
    const Real c = rows.c[i], y = rows.y[0][i], e = eta[i];
    if (rows.loss == LossName::squared) {
      add(c, 0.5L * (y - e) * (y - e), 0.5L * (y * y + e * e), e - y, 1.0L);
    } else if (rows.loss == LossName::logistic) {
      const Real p = e > 0.0L ? 1.0L / (1.0L + std::exp(-e)) : std::exp(e) / (1.0L + std::exp(e));
      const Real value = std::max(e, 0.0L) + std::log1p(std::exp(-std::abs(e))) - y * e;
      add(c, value, std::abs(e) + 1.0L, p - y, p * (1.0L - p));
    } else {
      const Real mean = std::exp(rows.y[1][i] + e);
      add(c, mean - y * e, mean + std::abs(y * e), mean - y, mean);
    }
  }
  return out;
}

// Returns the smallest loss that any predictors have.
inline Real infimum(const Rows& rows, const std::vector<Term>& terms) {
  Real total = 0.0L;
  if (rows.loss == LossName::poisson)
    for (std::size_t i = 0; i < rows.c.size(); ++i)
      total += rows.c[i] * (rows.y[0][i] * (1.0L + rows.y[1][i]) - entropy(rows.y[0][i]));
  // the dying have e^eta, all others next to nothing
  for (const Term& term : terms) {
    Real sum = 0.0L;
    for (std::size_t i = 0; i < term.b.size(); ++i)
      if (term.dying[i] > 0.0L) sum += term.b[i];
    total += term.omega * std::log(sum);
  }
  return total;
}

// Returns the dual objective without ridges at `scale` times the derivative at eta.
inline Real dual(const Rows& rows, const std::vector<Term>& terms, const Reals& eta, Real scale) {
  Real total = 0.0L;
  for (const Term& term : terms) {
    const Real log_s = exact_detail::log_sum(term, eta);
    for (std::size_t i = 0; i < eta.size(); ++i) {
      if (!(term.b[i] > 0.0L)) continue;
      const Real p = scale * term.b[i] * std::exp(eta[i] - log_s) + (1.0L - scale) * term.dying[i];
      if (p > 0.0L) total -= term.omega * p * std::log(p / term.b[i]);
    }
  }
  if (rows.is_cox()) return total;
  for (std::size_t i = 0; i < eta.size(); ++i) {
    const Real c = rows.c[i], y = rows.y[0][i], e = eta[i];
    if (rows.loss == LossName::squared) {
      const Real r = scale * (y - e);
      total += c * (r * y - 0.5L * r * r);
    } else if (rows.loss == LossName::logistic) {
      const Real p = e > 0.0L ? 1.0L / (1.0L + std::exp(-e)) : std::exp(e) / (1.0L + std::exp(e));
      const Real v = y + scale * (p - y);
      total -= c * (entropy(v) + entropy(1.0L - v));
    } else {
      const Real r = y + scale * (std::exp(rows.y[1][i] + e) - y);
      total -= c * (entropy(r) - r * (1.0L + rows.y[1][i]));
    }
  }
  return total;
}

// Returns the constant that minimises the loss when it is added to eta, near a first guess.
inline Real balance(const Rows& rows, const std::vector<Term>& terms, Reals eta, Real guess) {
  if (rows.loss == LossName::poisson) {
    Real mass = 0.0L, means = 0.0L;
    for (std::size_t i = 0; i < eta.size(); ++i) {
      mass += rows.c[i] * rows.y[0][i];
      means += rows.c[i] * std::exp(rows.y[1][i] + eta[i]);
    }
    return std::log(mass / means);
  }
  Real moved = rows.loss == LossName::squared ? 0.0L : guess;
  for (Real& each : eta) each += moved;
  for (int step = 0; step < 60; ++step) {
    const Value at = evaluate(rows, terms, eta);
    Real force = 0.0L, give = 0.0L;
    for (std::size_t i = 0; i < eta.size(); ++i) {
      force += at.residual[i];
      give += at.curve[i];
    }
    if (!(give > 0.0L)) break;
    const Real change = rows.loss == LossName::squared
                            ? force / give
                            : std::min(std::max(force / give, -2.0L), 2.0L);
    moved += change;
    for (Real& each : eta) each += change;
    if (std::abs(change) <= 1e-18L * (1.0L + std::abs(moved)) || rows.loss == LossName::squared)
      break;
  }
  return moved;
}

}  // namespace selica::fuzz
