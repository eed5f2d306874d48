// New rows of a Gram matrix, in tiles that stay in registers over blocks that stay in the cache.
#pragma once

#include <algorithm>

#include "base/stop.hpp"
#include "base/types.hpp"
#include "numeric/lanes.hpp"

namespace selica {

namespace gram_detail {

inline constexpr Index kTileRows = 4;
#if defined(__AVX512F__)
inline constexpr Index kTileColumns = 4;
#else
inline constexpr Index kTileColumns = 2;
#endif
// Doubles of a column that are taken at once.
inline constexpr Index kBlock = 512;

// Adds (or writes) the products of rows a .. a + R - 1 with b .. b + C - 1 over `size` entries.
template <Index R, Index C>
inline void tile(const double* a, const double* b, Index lda, Index ldb, Index size, double* out,
                 Index ld_out, bool first) {
  Doubles s[R * C] = {};
  for (Index i = 0; i < size; i += kDoubles) {
    Doubles x[R];
    for (Index r = 0; r < R; ++r) x[r] = load(a + r * lda + i);
    for (Index c = 0; c < C; ++c) {
      const Doubles y = load(b + c * ldb + i);
      for (Index r = 0; r < R; ++r) s[r * C + c] += x[r] * y;
    }
  }
  double values[R * C];
  if constexpr (R * C % kDoubles == 0) {
    for (Index v = 0; v < R * C; v += kDoubles) store(values + v, sums(s + v));
  } else {
    for (Index v = 0; v < R * C; ++v) values[v] = sum(s[v]);
  }
  for (Index r = 0; r < R; ++r)
    for (Index c = 0; c < C; ++c)
      out[r * ld_out + c] = first ? values[r * C + c] : out[r * ld_out + c] + values[r * C + c];
}

template <Index R>
inline void tiles(const double* a, const double* A, Index lda, Index ld, Index columns, Index size,
                  double* out, Index ld_out, bool first) {
  Index c = 0;
  for (; c + kTileColumns <= columns; c += kTileColumns)
    tile<R, kTileColumns>(a, A + c * ld, lda, ld, size, out + c, ld_out, first);
  for (; c < columns; ++c) tile<R, 1>(a, A + c * ld, lda, ld, size, out + c, ld_out, first);
}

}  // namespace gram_detail

// Writes G[i][j] = sum over r of weight[r] A[i][r] A[j][r] for from <= i < to and j <= i, and the
// same to G[j][i]. Rows of A have `size` entries, a multiple of kPad, and are `ld` apart; those of
// G are `ld_g` apart. Without weights (nullptr) they are ones. `scratch` holds 4 * 512 doubles.
inline void gram_rows(const double* A, Index ld, const double* weight, Index from, Index to,
                      Index size, double* G, Index ld_g, double* scratch) {
  using namespace gram_detail;
  for (Index start = 0; start < size; start += kBlock) {
    const Index length = std::min(kBlock, size - start);
    const bool first = start == 0;
    for (Index i = from; i < to; i += kTileRows) {
      check_stop();
      const Index rows = std::min(kTileRows, to - i);
      const double* a = A + i * ld + start;
      Index lda = ld;
      if (weight != nullptr) {
        for (Index r = 0; r < rows; ++r)
          for (Index e = 0; e < length; e += kDoubles)
            store(scratch + r * kBlock + e, load(a + r * ld + e) * load(weight + start + e));
        a = scratch;
        lda = kBlock;
      }
      const Index columns = i + rows;  // a little more than the triangle
      double* out = G + i * ld_g;
      switch (rows) {
        case 1:
          tiles<1>(a, A + start, lda, ld, columns, length, out, ld_g, first);
          break;
        case 2:
          tiles<2>(a, A + start, lda, ld, columns, length, out, ld_g, first);
          break;
        case 3:
          tiles<3>(a, A + start, lda, ld, columns, length, out, ld_g, first);
          break;
        default:
          tiles<kTileRows>(a, A + start, lda, ld, columns, length, out, ld_g, first);
      }
    }
  }
  for (Index i = from; i < to; ++i)
    for (Index j = 0; j < i; ++j) G[j * ld_g + i] = G[i * ld_g + j];
}

}  // namespace selica
