// Whether a column outside the working set was missed: bounds of gradients, and lists of columns.
//
// 1. Gradients of all columns are remembered at two earlier fits. The present residual is a line
//    through these two plus a remainder, and by Cauchy and Schwarz the gradient of column j is that
//    of the line, up to |x_j| |remainder|. While no variable enters or leaves, the remainder of the
//    squared loss is zero.
// 2. Where that leaves a few columns open, their gradients are computed.
// 3. Where it leaves many, the gradients of all columns are computed in single precision, for all
//    members that ask. The rounding error is bounded by a margin times |x_j| |residual|, and a
//    column within it of its penalty is admitted and solved for in double precision.
//
// The certificate is therefore exact although no product over all columns is.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "paths/member.hpp"

namespace selica {

namespace screening_detail {
inline constexpr Index kBlock = 64;
inline constexpr double kBelow = 1.0 - 1e-6;  // factor of a bar that is compared in floats
inline constexpr double kAbove = 1.0 + 1e-6;  // and of a bound
}  // namespace screening_detail

// How many of the listed columns exceed the penalty for sure or perhaps, and how many are listed.
struct Listing {
  Index missing;
  Index listed;
};

// Lists columns outside the working set whose gradients are at least `bar` by the line, up to
// limit + 1; returns how many. `bar` is in units of the reference.
inline Index list_open(Member& m, Index columns, Line line, double bar, Index limit) {
  using namespace screening_detail;
  const float* last = m.gradient[m.newest].data();
  const float* first = m.gradient[1 - m.newest].data();
  const float least = static_cast<float>(bar * kBelow),
              wide = static_cast<float>(line.rest * kAbove);
  const float t = static_cast<float>(line.t);
  const float *inverse = m.inverse.data(), *reach = m.reach.data();
  Index count = 0;
  for (Index start = 0; start < columns; start += kBlock) {
    const Index stop = std::min(start + kBlock, columns);
    float largest = 0.0F;
#pragma omp simd reduction(max : largest)
    for (Index j = start; j < stop; ++j) {
      const float value = last[j] + t * (last[j] - first[j]);
      const float size = (value < 0.0F ? -value : value) * inverse[j] + wide * reach[j];
      largest = size > largest ? size : largest;
    }
    if (!(largest >= least)) continue;
    for (Index j = start; j < stop; ++j) {
      if (m.slot[j] >= 0 || inverse[j] == 0.0F) continue;
      const float value = last[j] + t * (last[j] - first[j]);
      if (!((value < 0.0F ? -value : value) * inverse[j] + wide * reach[j] >= least)) continue;
      m.listed[count++] = static_cast<std::int32_t>(j);
      if (count > limit) return count;
    }
  }
  return count;
}

// Computes the gradients of the listed columns; keeps those above lam, or else above `ahead`.
// `pull` is over all rows and sums to `pulled`.
inline Listing settle(Member& m, const Design& design, const double* pull, double pulled,
                      bool intercept, double lam, double ahead, Index count) {
  Index kept = 0, missing = 0;
  const Index p = design.columns();
  for (Index c = 0; c < count; ++c) {
    const Index j = m.listed[c];
    double value = m.product(design, j, pull);
    if (intercept) value -= (j < p ? design.centre(j) : m.own->centre(j - p)) * pulled;
    const double size = std::abs(value) / m.penalty[j];
    if (size > lam) {
      if (missing == 0) kept = 0;
      ++missing;
    } else if (missing > 0 || size < ahead) {
      continue;
    }
    m.listed[kept++] = static_cast<std::int32_t>(j);
  }
  return {missing, kept};
}

// Lists columns that may exceed `lam` by their screened gradients, whose error is `slack` times
// their norm, or else those above `ahead`; both in units of the reference. The strongest `limit`.
inline Listing list_screened(Member& m, Index columns, double slack, double lam, double ahead,
                             Index limit, std::vector<float>& strength) {
  using namespace screening_detail;
  const float* value = m.gradient[m.newest].data();
  const float *inverse = m.inverse.data(), *reach = m.reach.data();
  const float least = static_cast<float>(std::min(lam, ahead) * kBelow);
  const float wide = static_cast<float>(slack * kAbove);
  strength.clear();
  Index count = 0, missing = 0;
  for (Index start = 0; start < columns; start += kBlock) {
    const Index stop = std::min(start + kBlock, columns);
    float largest = 0.0F;
#pragma omp simd reduction(max : largest)
    for (Index j = start; j < stop; ++j) {
      const float size = (value[j] < 0.0F ? -value[j] : value[j]) * inverse[j] + wide * reach[j];
      largest = size > largest ? size : largest;
    }
    if (!(largest >= least)) continue;
    for (Index j = start; j < stop; ++j) {
      if (m.slot[j] >= 0 || inverse[j] == 0.0F) continue;
      const float size = (value[j] < 0.0F ? -value[j] : value[j]) * inverse[j];
      if (static_cast<double>(size + wide * reach[j]) >= lam * kBelow) {
        if (missing == 0) {
          count = 0;
          strength.clear();
        }
        ++missing;
      } else if (missing > 0 || static_cast<double>(size) < ahead) {
        continue;
      }
      m.listed[count++] = static_cast<std::int32_t>(j);
      strength.push_back(size);
    }
  }
  if (count > limit) {
    std::vector<Index> best(static_cast<std::size_t>(count));
    std::iota(best.begin(), best.end(), Index{0});
    std::nth_element(best.begin(), best.begin() + limit, best.end(), [&](Index a, Index b) {
      const float x = strength[static_cast<std::size_t>(a)],
                  y = strength[static_cast<std::size_t>(b)];
      return x != y ? x > y : a < b;
    });
    std::sort(best.begin(), best.begin() + limit);
    for (Index c = 0; c < limit; ++c) m.listed[c] = m.listed[best[static_cast<std::size_t>(c)]];
    count = limit;
  }
  return {missing, count};
}

}  // namespace selica
