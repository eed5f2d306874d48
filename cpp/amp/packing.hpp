// Columns side by side for one matrix product, scaled so that single precision loses nothing.
#pragma once

#include <algorithm>
#include <vector>

#include "base/types.hpp"

namespace selica::amp {

// The place of one part among those that are side by side: columns [first, first + columns) of
// matrices with `stride` columns.
struct Place {
  Index first;
  Index columns;
  Index stride;
};

// Writes scale_i part_ik / size_k to its place in both; size_k takes the largest of a column to 1,
// and is 1 for a column without positive entries.
template <typename Real>
void pack(const double* __restrict part, const double* __restrict scale, Index rows, Place at,
          Real* __restrict both, double* __restrict size) {
  std::fill(size, size + at.columns, 0.0);
  for (Index i = 0; i < rows; ++i)
    for (Index k = 0; k < at.columns; ++k)
      size[k] = std::max(size[k], scale[i] * part[i * at.columns + k]);
  std::vector<double> inverse(at.columns);
  for (Index k = 0; k < at.columns; ++k) {
    if (!(size[k] > 0.0)) size[k] = 1.0;
    inverse[k] = 1.0 / size[k];
  }
  for (Index i = 0; i < rows; ++i) {
    const double* from = part + i * at.columns;
    Real* __restrict to = both + i * at.stride + at.first;
    for (Index k = 0; k < at.columns; ++k)
      to[k] = static_cast<Real>(scale[i] * from[k] * inverse[k]);
  }
}

// Writes scale_i size_k both_ik of one place to part, which has only its columns.
template <typename Real>
void unpack(const Real* __restrict both, const double* __restrict scale,
            const double* __restrict size, Index rows, Place at, double* __restrict part) {
  for (Index i = 0; i < rows; ++i) {
    const Real* from = both + i * at.stride + at.first;
    double* __restrict to = part + i * at.columns;
    for (Index k = 0; k < at.columns; ++k)
      to[k] = scale[i] * size[k] * static_cast<double>(from[k]);
  }
}

}  // namespace selica::amp
