// How a member is fitted on its working set at one penalty: by squares, or by Newton's steps.
#pragma once

#include <algorithm>
#include <cmath>

#include "losses/loss.hpp"
#include "paths/working_set.hpp"

namespace selica {

// What a fit at one penalty says of itself.
struct Solved {
  bool failed = false;
  Index steps = 0;
  double gap = 0.0;     // in the unit of the objective
  double kkt = 0.0;     // largest violation of the conditions of optimality
  double square = 0.0;  // |residual|^2 by the inverse weights
};

// The present residual as a line through two earlier ones, r2 + t (r2 - r1), and a remainder.
struct Line {
  double t;
  double rest;  // norm of the remainder, by the inverse weights
};

class Fit {
 public:
  virtual ~Fit() = default;

  // Takes the rows of a member; returns the unit in which gaps are measured.
  virtual double open(const MemberRows& rows, const double* root, WorkingSet& set) = 0;
  virtual bool degenerate() const { return false; }
  // Returns how a column is multiplied when it is admitted: by roots of the weights, or by nothing.
  virtual bool rooted() const = 0;
  // Whether the intercept is a matter of centring; else it is column 0 of the working set.
  virtual bool centring() const = 0;
  // Makes the products of columns from .. set.k - 1, which are new.
  virtual void admitted(Index from) = 0;
  // Solves at the penalties and ridges of the working set, until the gap is `enough`.
  virtual Solved solve(double enough, Index max_iter) = 0;
  // Returns the line through the residuals remembered as `newest` and before.
  virtual Line line(int newest) const = 0;
  // Remembers the present residual as number `which`.
  virtual void remember(int which) = 0;
  // Copies number `which` to the other one.
  virtual void remember_twice(int which) = 0;
  // Writes the derivative of the loss, sign turned, by row of the member.
  virtual void write_pull(double* pull) = 0;
  // The intercept without variables, of the squared loss.
  virtual double base() const { return 0.0; }
};

// Returns how far the gradient of a column is from where it should be, given its coefficient.
inline double distance(double q, double w, double penalty) {
  if (w != 0.0) return w > 0.0 ? std::abs(q - penalty) : std::abs(q + penalty);
  return std::abs(q) - penalty;
}

// Returns what ridges add to minus the dual objective at `scale` times the residual.
//
// The conjugate of l |w| + r w^2 / 2 at the gradient g of the loss is (|g| - l)_+^2 / 2 r, finite
// everywhere: with a ridge every residual is a dual point. q = g - r w is the gradient of loss and
// ridge together. Where scale * q is within the penalty the conjugate is at most r (scale w)^2 / 2,
// which is free of the rounding that a tiny ridge magnifies.
inline double ridge_conjugate(const WorkingSet& set, double scale) {
  constexpr double kRounding = 1e-14;
  double total = 0.0;
  for (Index j = 0; j < set.k; ++j) {
    const double ridge = set.ridge[j];
    if (!(ridge > 0.0)) continue;
    const double q = set.q[j], w = set.w[j], penalty = set.penalty[j];
    const double over = std::max(scale * std::abs(q + ridge * w) - penalty, 0.0);
    double value = 0.5 * over * over / ridge;
    if (scale * std::abs(q) <= penalty * (1.0 + kRounding))
      value = std::min(value, 0.5 * ridge * (scale * w) * (scale * w));
    total += value;
  }
  return total;
}

}  // namespace selica
