// Products of columns in single precision with the residuals of many members.
//
// Residuals lie side by side: entry (i, m) of row i and member m is at i * width + m, with a width
// of whole registers. A column is read once for all members. Sums run over blocks of kSummed rows,
// and then over the blocks: a sum of n terms is off by at most `rounding_margin(n)` of the product
// of the norms, in whatever order a block is summed.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/types.hpp"
#include "numeric/lanes.hpp"

namespace selica {

inline constexpr Index kSummed = 512;
// Columns that are finished before their products are written.
inline constexpr Index kPanelColumns = 32;
// Products of this many members are computed at once, at most.
inline constexpr Index kPanelMembers = 64;

// Fewest members that are computed at once.
inline constexpr Index kNarrow = 8;
inline constexpr Index kNarrowBytes = std::min<Index>(4 * kNarrow, kBytes);
using NarrowFloats = float __attribute__((vector_size(kNarrowBytes)));

inline double rounding_margin(Index rows) {
  const double unit = std::numeric_limits<float>::epsilon() / 2.0;
  const double terms = static_cast<double>(std::min(rows, kSummed) + rows / kSummed + 8);
  return 1.01 * unit * terms / (1.0 - unit * terms);
}

// Width for so many members: eight, one register, or an even number of them.
inline Index panel_width(Index members) {
  if (members <= kNarrow) return kNarrow;
  if (members <= kFloats) return kFloats;
  return (members + 2 * kFloats - 1) / (2 * kFloats) * (2 * kFloats);
}

namespace panel_detail {

#if defined(__AVX512F__)
inline constexpr Index kTile = 8;
#else
inline constexpr Index kTile = 4;
#endif

template <class Vector>
inline Vector load_as(const float* from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

// Adds the products of C columns with V vectors of residuals to out (C rows of `width`).
template <class Vector, Index C, Index V>
inline void tile(const float* columns, Index ld, Index rows, const float* residuals, Index width,
                 float* out) {
  constexpr Index kWide = sizeof(Vector) / sizeof(float);
  Vector s[C][V] = {};
  for (Index i = 0; i < rows; ++i) {
    Vector r[V];
    for (Index v = 0; v < V; ++v) r[v] = load_as<Vector>(residuals + i * width + v * kWide);
    for (Index c = 0; c < C; ++c) {
      const float x = columns[c * ld + i];
      for (Index v = 0; v < V; ++v) s[c][v] += x * r[v];
    }
  }
  for (Index c = 0; c < C; ++c)
    for (Index v = 0; v < V; ++v) {
      float* to = out + c * width + v * kWide;
      const Vector total = load_as<Vector>(to) + s[c][v];
      std::memcpy(to, &total, sizeof total);
    }
}

template <class Vector, Index V>
inline void tiles(const float* columns, Index ld, Index count, Index rows, const float* residuals,
                  Index width, float* out) {
  Index c = 0;
  for (; c + kTile <= count; c += kTile)
    tile<Vector, kTile, V>(columns + c * ld, ld, rows, residuals, width, out + c * width);
  for (; c < count; ++c)
    tile<Vector, 1, V>(columns + c * ld, ld, rows, residuals, width, out + c * width);
}

}  // namespace panel_detail

// Adds products of `count` columns (`ld` apart) over a block of rows to out (count, width).
inline void multiply_panel(const float* columns, Index ld, Index count, Index rows,
                           const float* residuals, Index width, float* out) {
  using namespace panel_detail;
  if (width == kNarrow) {
    tiles<NarrowFloats, 4 * kNarrow / kNarrowBytes>(columns, ld, count, rows, residuals, width,
                                                    out);
  } else if (width == kFloats) {
    tiles<Floats, 1>(columns, ld, count, rows, residuals, width, out);
  } else {
    for (Index v = 0; v < width; v += 2 * kFloats)
      tiles<Floats, 2>(columns, ld, count, rows, residuals + v, width, out + v);
  }
}

// Adds the products of four columns, or of their squares, with one residual to out.
template <bool squared>
inline void multiply_four(const float* columns, Index ld, Index rows, const float* residual,
                          float* out) {
  Floats s[4] = {};
  Index i = 0;
  for (; i + kFloats <= rows; i += kFloats) {
    const Floats r = load(residual + i);
    for (Index c = 0; c < 4; ++c) {
      const Floats x = load(columns + c * ld + i);
      s[c] += squared ? x * x * r : x * r;
    }
  }
  for (Index c = 0; c < 4; ++c) {
    float total = sum(s[c]);
    for (Index t = i; t < rows; ++t) {
      const float x = columns[c * ld + t];
      total += squared ? x * x * residual[t] : x * residual[t];
    }
    out[c] += total;
  }
}

template <bool squared>
inline float multiply_one(const float* column, Index rows, const float* residual) {
  Floats s{};
  Index i = 0;
  for (; i + kFloats <= rows; i += kFloats) {
    const Floats x = load(column + i);
    s += squared ? x * x * load(residual + i) : x * load(residual + i);
  }
  float total = sum(s);
  for (; i < rows; ++i) total += (squared ? column[i] * column[i] : column[i]) * residual[i];
  return total;
}

}  // namespace selica
