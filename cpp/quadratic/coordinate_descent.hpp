// Cyclic coordinate descent for the small lasso: slow and sure, where columns are degenerate.
#pragma once

#include <algorithm>
#include <cmath>

#include "quadratic/lasso.hpp"

namespace selica {

// Runs until no coordinate's contribution changes by more than tol times the largest gradient;
// returns whether it did within `max_epochs`. `epochs` counts.
inline bool descend(Lasso& p, LassoScratch& scratch, double tol, Index max_epochs, Index& epochs) {
  write_gradient(p, scratch.z(), scratch.rows());
  double scale = 0.0;
  for (Index j = 0; j < p.k; ++j) scale = std::max(scale, std::abs(p.b[j]));
  epochs = 0;
  if (scale == 0.0) return true;
  bool settled = false;
  while (!settled && epochs < max_epochs) {
    ++epochs;
    check_stop();
    double largest = 0.0;
    for (Index j = 0; j < p.k; ++j) {
      const double own = p.row(j)[j];
      if (!(own > 0.0)) continue;
      const double pull = p.q[j] + own * p.w[j];
      const double size = std::abs(pull) - p.penalty[j];
      const double fresh = size > 0.0 ? std::copysign(size, pull) / own : 0.0;
      const double change = fresh - p.w[j];
      if (change == 0.0) continue;
      p.w[j] = fresh;
      axpy_padded(-change, p.row(j), p.q, padded(p.k));
      largest = std::max(largest, std::abs(change) * own);
    }
    settled = largest <= tol * scale;
  }
  write_gradient(p, scratch.z(), scratch.rows());
  return settled;
}

}  // namespace selica
