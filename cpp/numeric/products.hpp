// Inner products and sums of vectors. "Padded" vectors have zeros up to a whole block of kPad.
#pragma once

#include <algorithm>

#include "base/types.hpp"
#include "numeric/lanes.hpp"

namespace selica {

// Returns a . b over padded vectors.
inline double dot_padded(const double* a, const double* b, Index size) {
  Doubles s0{}, s1{}, s2{}, s3{};
  Index i = 0;
  for (; i + 4 * kDoubles <= size; i += 4 * kDoubles) {
    s0 += load(a + i) * load(b + i);
    s1 += load(a + i + kDoubles) * load(b + i + kDoubles);
    s2 += load(a + i + 2 * kDoubles) * load(b + i + 2 * kDoubles);
    s3 += load(a + i + 3 * kDoubles) * load(b + i + 3 * kDoubles);
  }
  for (; i < size; i += kDoubles) s0 += load(a + i) * load(b + i);
  return sum((s0 + s1) + (s2 + s3));
}

// Returns a . b over vectors without padding.
inline double dot(const double* a, const double* b, Index size) {
  const Index whole = size / kDoubles * kDoubles;
  double total = dot_padded(a, b, whole);
  for (Index i = whole; i < size; ++i) total += a[i] * b[i];
  return total;
}

// Adds scale * a to b, padded.
inline void axpy_padded(double scale, const double* a, double* b, Index size) {
  for (Index i = 0; i < size; i += kDoubles) store(b + i, load(b + i) + scale * load(a + i));
}

// Adds the sum over c < count of scale[c] * rows[c] to b, padded; four rows at a time.
inline void add_rows(const double* scale, const double* const* rows, Index count, double* b,
                     Index size) {
  Index c = 0;
  for (; c + 4 <= count; c += 4) {
    const double *r0 = rows[c], *r1 = rows[c + 1], *r2 = rows[c + 2], *r3 = rows[c + 3];
    const double x0 = scale[c], x1 = scale[c + 1], x2 = scale[c + 2], x3 = scale[c + 3];
    for (Index i = 0; i < size; i += kDoubles) {
      const Doubles left = x0 * load(r0 + i) + x1 * load(r1 + i);
      const Doubles right = x2 * load(r2 + i) + x3 * load(r3 + i);
      store(b + i, load(b + i) + (left + right));
    }
  }
  for (; c < count; ++c) axpy_padded(scale[c], rows[c], b, size);
}

// Writes the products of `count` rows of A (length `size`, padded, `ld` apart) with x.
inline void multiply_rows(const double* A, Index ld, Index count, const double* x, Index size,
                          double* out) {
  Index r = 0;
  for (; r + kDoubles <= count; r += kDoubles) {
    Doubles s[kDoubles] = {};
    const double* row = A + r * ld;
    for (Index i = 0; i < size; i += kDoubles) {
      const Doubles v = load(x + i);
      for (Index c = 0; c < kDoubles; ++c) s[c] += load(row + c * ld + i) * v;
    }
    store(out + r, sums(s));
  }
  for (; r < count; ++r) out[r] = dot_padded(A + r * ld, x, size);
}

// Returns the sum of all entries.
inline double sum_of(const double* a, Index size) {
  Doubles s[4] = {};
  Index i = 0;
  for (; i + 4 * kDoubles <= size; i += 4 * kDoubles)
    for (Index v = 0; v < 4; ++v) s[v] += load(a + i + v * kDoubles);
  double total = sum((s[0] + s[1]) + (s[2] + s[3]));
  for (; i < size; ++i) total += a[i];
  return total;
}

// Returns the largest distance of an entry from `centre`.
inline double furthest_of(const double* a, Index size, double centre) {
  Doubles high[4] = {}, low[4] = {};
  Index i = 0;
  for (; i + 4 * kDoubles <= size; i += 4 * kDoubles)
    for (Index v = 0; v < 4; ++v) {
      const Doubles x = load(a + i + v * kDoubles) - centre;
      high[v] = x > high[v] ? x : high[v];
      low[v] = x < low[v] ? x : low[v];
    }
  double largest = 0.0;
  for (Index v = 0; v < 4; ++v)
    for (Index c = 0; c < kDoubles; ++c) largest = std::max({largest, high[v][c], -low[v][c]});
  for (; i < size; ++i) largest = std::max(largest, a[i] < centre ? centre - a[i] : a[i] - centre);
  return largest;
}

}  // namespace selica
