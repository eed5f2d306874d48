// Many lassos over one Gram matrix: the members of some data sets.
#pragma once

#include <algorithm>

#include "base/buffer.hpp"
#include "base/types.hpp"
#include "quadratic/solve.hpp"

namespace selica {

// Finds the w of least w'G w / 2 - b'w + theta |w|_1 for each b, from where coef begins; b and coef
// are (sets, members, k). A member that begins at zero begins where the one before it ended, since
// the two have the same data. Returns how many fits did not converge.
inline Index solve_members(const double* gram, Index k, const double* b, double theta, Index sets,
                           Index members, double* coef) {
  // tolerance and longest run of coordinate descent, where columns are degenerate
  constexpr double kTol = 1e-12;
  constexpr Index kEpochs = 100'000;

  const Index ld = padded(k);
  Buffer<double> rows, factor, corners, vectors;
  Buffer<Index> order;
  LassoScratch scratch;
  rows.zeros(k * ld);
  for (Index i = 0; i < k; ++i) std::copy_n(gram + i * k, k, rows.data() + i * ld);
  factor.zeros(k * ld);
  corners.zeros(ld * kPad);
  vectors.zeros(3 * ld);
  order.zeros(k);
  double *penalty = vectors.data(), *gradient = penalty + ld, *inverse = gradient + ld;
  std::fill_n(penalty, k, theta);

  Index failed = 0;
  for (Index j = 0; j < sets; ++j) {
    for (Index m = 0; m < members; ++m) {
      const Index at = (j * members + m) * k;
      double* w = coef + at;
      const bool blank = std::all_of(w, w + k, [](double each) { return each == 0.0; });
      if (m > 0 && blank) std::copy_n(w - k, k, w);
      Lasso problem{
          k, ld,       rows.data(),  b + at, penalty,
          w, gradient, order.data(), -1,     {factor.data(), ld, inverse, corners.data()}};
      failed += solve(problem, scratch, kTol, kEpochs).solved ? 0 : 1;
    }
  }
  return failed;
}

}  // namespace selica
