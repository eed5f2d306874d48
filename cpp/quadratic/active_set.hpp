// Feature-sign search for the small lasso.
//
// On the active set with fixed signs the minimiser is a linear system, kept as a Cholesky factor. A
// step that would change a sign stops at zero and drops the variable; a variable whose gradient
// exceeds its penalty enters. The objective falls at every step, so the search ends, and its answer
// is exact to rounding. It may fail (return false) where columns are degenerate.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "quadratic/lasso.hpp"

namespace selica {

// Gradients of active variables may miss their penalty by this share of the largest before the
// factor, which has been updated many times, is built anew.
inline constexpr double kStale = 1e-12;

class ActiveSet {
 public:
  ActiveSet(Lasso& problem, LassoScratch& scratch) : p_(problem), s_(scratch) { s_.reserve(p_.k); }

  // Searches from the current state; returns whether a solution was found. `rounds` counts.
  bool solve(Index max_rounds, Index& rounds) {
    std::fill_n(s_.blocked(), p_.k, false);
    double largest = 0.0;
    for (Index j = 0; j < p_.k; ++j) largest = std::max(largest, std::abs(p_.b[j]));
    for (Index i = 0; i < p_.active; ++i) s_.sign()[i] = p_.w[p_.order[i]] > 0.0 ? 1.0 : -1.0;
    solve_half();
    bool renewed = false;
    for (rounds = 0; rounds < max_rounds;) {
      ++rounds;
      check_stop();
      if (!step()) continue;
      write_gradient();
      const int entered = enter_all();
      if (entered < 0) return false;
      if (entered > 0) continue;
      double violation = 0.0;
      for (Index i = 0; i < p_.active; ++i) {
        const Index j = p_.order[i];
        violation = std::max(violation, std::abs(p_.q[j] - p_.penalty[j] * s_.sign()[i]));
      }
      if (renewed || violation <= kStale * largest) return true;
      renewed = true;
      for (Index i = 0; i < p_.active; ++i)
        if (!append_variable(p_, i, p_.order[i], s_.line())) return false;
      solve_half();
    }
    return false;
  }

 private:
  // Writes half = L^{-1} (b - penalty * sign) on the active set.
  void solve_half() {
    double* half = s_.half();
    for (Index i = 0; i < p_.active; ++i) {
      const Index j = p_.order[i];
      half[i] = p_.b[j] - p_.penalty[j] * s_.sign()[i];
    }
    forward(p_.L, half, p_.active);
  }

  // Moves to the minimiser of the active set; returns false where a variable reached zero first.
  bool step() {
    double *z = s_.z(), *sign = s_.sign();
    std::copy_n(s_.half(), p_.active, z);
    backward(p_.L, z, p_.active);
    double reach = 1.0;
    Index hit = -1;
    for (Index i = 0; i < p_.active; ++i) {
      const Index j = p_.order[i];
      if (z[i] * sign[i] > 0.0 || p_.penalty[j] == 0.0) continue;
      const double value = p_.w[j];
      const double share = value != z[i] ? value / (value - z[i]) : 0.0;
      if (share < reach) {
        reach = share;
        hit = i;
      }
    }
    if (hit < 0) {
      for (Index i = 0; i < p_.active; ++i) p_.w[p_.order[i]] = z[i];
      return true;
    }
    for (Index i = 0; i < p_.active; ++i) {
      double& value = p_.w[p_.order[i]];
      value += reach * (z[i] - value);
    }
    const Index gone = p_.order[hit];
    p_.w[gone] = 0.0;
    if (reach > 0.0)
      std::fill_n(s_.blocked(), p_.k, false);
    else
      s_.blocked()[gone] = true;
    drop(hit);
    return false;
  }

  void drop(Index which) {
    remove(p_.L, p_.active, which, s_.half(), s_.turns());
    std::copy(p_.order + which + 1, p_.order + p_.active, p_.order + which);
    std::copy(s_.sign() + which + 1, s_.sign() + p_.active, s_.sign() + which);
    --p_.active;
  }

  // Writes q = b - G w.
  void write_gradient() {
    double* values = s_.z();
    const double** rows = s_.rows();
    for (Index i = 0; i < p_.active; ++i) {
      values[i] = -p_.w[p_.order[i]];
      rows[i] = p_.row(p_.order[i]);
    }
    std::copy(p_.b, p_.b + p_.k, p_.q);
    std::fill(p_.q + p_.k, p_.q + padded(p_.k), 0.0);
    add_rows(values, rows, p_.active, p_.q, padded(p_.k));
  }

  // Lets variables enter whose gradients exceed their penalties; returns how many, -1 for failure.
  int enter_all() {
    // a variable can be blocked wrongly only if nothing moved since; it is tried when no other is
    // left
    int entered = 0;
    for (const bool again : {false, true}) {
      for (Index j = 0; j < p_.k; ++j) {
        if (p_.w[j] != 0.0 || std::abs(p_.q[j]) <= p_.penalty[j] * (1.0 + kEntry)) continue;
        if (s_.blocked()[j] != again) continue;
        if (enter(j, p_.q[j])) {
          ++entered;
          if (again) {
            std::fill_n(s_.blocked(), p_.k, false);
            break;
          }
        } else if (entered == 0) {
          if (p_.penalty[j] == 0.0) {  // a free variable in the span of others adds nothing
            s_.blocked()[j] = true;
            if (again) continue;
          } else if (!exchange(j)) {
            return -1;
          } else {
            ++entered;
            break;  // the gradient has to be seen anew
          }
        }
      }
      if (entered > 0) break;
    }
    return entered;
  }

  bool enter(Index j, double towards) {
    if (!append_variable(p_, p_.active, j, s_.line())) return false;
    const Index at = p_.active;
    s_.sign()[at] = towards > 0.0 ? 1.0 : -1.0;
    double* half = s_.half();
    for (Index i = at; i < padded(at); ++i) half[i] = 0.0;
    const double rest =
        p_.b[j] - p_.penalty[j] * s_.sign()[at] - dot_padded(p_.L.row(at), half, padded(at));
    half[at] = rest * p_.L.inverse[at];
    ++p_.active;
    return true;
  }

  // Brings in a column that depends on the active ones; returns whether that was possible.
  //
  // With x_j = X_A v the fit does not change along (w_A, w_j) -> (w_A - t s v, t s); since the
  // gradient of j exceeds its penalty, the penalty paid falls until an active variable reaches
  // zero. That one leaves, j takes its place.
  bool exchange(Index j) {
    double* v = s_.z();
    for (Index i = 0; i < p_.active; ++i) v[i] = p_.row(j)[p_.order[i]];
    forward(p_.L, v, p_.active);
    backward(p_.L, v, p_.active);
    const double towards = p_.q[j] > 0.0 ? 1.0 : -1.0;
    double step = std::numeric_limits<double>::infinity();
    Index hit = -1;
    for (Index i = 0; i < p_.active; ++i) {
      const double move = -towards * v[i], value = p_.w[p_.order[i]];
      if (p_.penalty[p_.order[i]] > 0.0 && move * value < 0.0 && -value / move < step) {
        step = -value / move;
        hit = i;
      }
    }
    if (hit < 0) return false;
    for (Index i = 0; i < p_.active; ++i) p_.w[p_.order[i]] -= step * towards * v[i];
    p_.w[p_.order[hit]] = 0.0;
    p_.w[j] = step * towards;
    drop(hit);
    return enter(j, towards);
  }

  Lasso& p_;
  LassoScratch& s_;
};

}  // namespace selica
