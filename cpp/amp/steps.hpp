// A step of an iteration beside the one before.
#pragma once

#include "base/types.hpp"

namespace selica::amp {

// Writes new - old to step, all (p, L); to sums (4, L) are added the squares of step, new and the
// step before, `ago`, and the products of step and ago, of each column.
inline void compare(const double* old, const double* now, const double* ago, Index p, Index L,
                    double* step, double* sums) {
  for (Index i = 0; i < p; ++i) {
    for (Index k = 0; k < L; ++k) {
      const Index at = i * L + k;
      const double d = now[at] - old[at];
      const double x = now[at];
      const double e = ago[at];
      step[at] = d;
      sums[k] += d * d;
      sums[L + k] += x * x;
      sums[2 * L + k] += e * e;
      sums[3 * L + k] += d * e;
    }
  }
}

}  // namespace selica::amp
