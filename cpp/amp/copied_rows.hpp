// What rows make of variables and of their knockoff copies, for each of L penalties.
#pragma once

#include "base/types.hpp"

namespace selica::amp {

// What rows see: responses y (n,); of the variables the fit, its response chi to the fields and its
// variance v over the members, each (n, L); a (n, L) of the step before; and of the copies the sums
// of chi and v, each (L,).
struct Seen {
  const double* y;
  const double* fit;
  const double* chi;
  const double* v;
  const double* a;
  const double* chi_copies;
  const double* v_copies;
};

// Writes a, f_1 and f_1^2 v to rows (3, n, L), and the sums over the rows of f_1^2 v + a^2, of f_1
// and of the squared residuals to sums (3, L).
inline void copied_rows(const Seen& seen, Index n, Index L, double* rows, double* sums) {
  const Index size = n * L;
  for (Index k = 0; k < 3 * L; ++k) sums[k] = 0.0;
  for (Index i = 0; i < n; ++i) {
#pragma omp simd
    for (Index k = 0; k < L; ++k) {
      const Index at = i * L + k;
      const double f = 1.0 / (1.0 + seen.chi[at] + seen.chi_copies[k]);
      // the mean of the copies' part is zero: only the own response comes back
      const double z = seen.y[i] - seen.fit[at] + seen.chi[at] * seen.a[at];
      const double spread = f * f * (seen.v[at] + seen.v_copies[k]);
      rows[at] = f * z;
      rows[size + at] = f;
      rows[2 * size + at] = spread;
      sums[k] += spread + f * z * f * z;
      sums[L + k] += f;
      sums[2 * L + k] += z * z;
    }
  }
}

}  // namespace selica::amp
