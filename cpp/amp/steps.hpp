// A step of an iteration beside the one before.
#pragma once

#include "base/types.hpp"

namespace selica::amp {

// Writes now - old to step, all (p, L); to sums (4, L) are added the squares of step, of now and of
// the step before, `ago`, and the products of step and ago, of each column.
inline void compare(const double* __restrict old, const double* __restrict now,
                    const double* __restrict ago, Index p, Index L, double* __restrict step,
                    double* __restrict sums) {
  if (L == 1) {
    double steps = 0.0, squares = 0.0, before = 0.0, products = 0.0;
#pragma omp simd reduction(+ : steps, squares, before, products)
    for (Index i = 0; i < p; ++i) {
      const double d = now[i] - old[i];
      step[i] = d;
      steps += d * d;
      squares += now[i] * now[i];
      before += ago[i] * ago[i];
      products += d * ago[i];
    }
    sums[0] += steps;
    sums[1] += squares;
    sums[2] += before;
    sums[3] += products;
    return;
  }
  for (Index i = 0; i < p; ++i) {
#pragma omp simd
    for (Index k = 0; k < L; ++k) {
      const Index at = i * L + k;
      const double d = now[at] - old[at];
      step[at] = d;
      sums[k] += d * d;
      sums[L + k] += now[at] * now[at];
      sums[2 * L + k] += ago[at] * ago[at];
      sums[3 * L + k] += d * ago[at];
    }
  }
}

}  // namespace selica::amp
