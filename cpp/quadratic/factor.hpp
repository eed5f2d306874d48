// The Cholesky factor of a growing and shrinking set of rows and columns of a Gram matrix.
//
// Row i of L holds its i entries left of the diagonal, padded with zeros; the inverse of the
// diagonal is apart. The triangles of kPad rows on the diagonal are kept inverted as well, column
// by column: a triangular solve then is a chain of small products instead of one of single numbers.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/types.hpp"
#include "numeric/lanes.hpp"
#include "numeric/products.hpp"

namespace selica {

// A column whose part outside the span of the others is below this share is dependent.
inline constexpr double kDependent = 1e-10;

struct Factor {
  double* rows;     // (capacity, ld)
  Index ld;         // a multiple of kPad
  double* inverse;  // (capacity,): inverse of the diagonal
  double* corners;  // (capacity, kPad): inverted triangles, column c of block b at kPad b + c

  double* row(Index i) const { return rows + i * ld; }
  double* corner(Index first) const { return corners + first * kPad; }
};

// Writes row i of the inverted triangle it belongs to.
inline void invert_row(const Factor& L, Index i) {
  const Index first = i / kPad * kPad, r = i - first;
  const double* row = L.row(i) + first;
  double* corner = L.corner(first);
  if (r == 0) std::fill_n(corner, kPad * kPad, 0.0);
  const double own = L.inverse[i];
  for (Index c = 0; c < r; ++c) {
    double total = 0.0;
    for (Index s = c; s < r; ++s) total += row[s] * corner[c * kPad + s];
    corner[c * kPad + r] = -own * total;
  }
  for (Index c = r + 1; c < kPad; ++c) corner[c * kPad + r] = 0.0;
  corner[r * kPad + r] = own;
  for (Index s = r + 1; s < kPad; ++s) corner[r * kPad + s] = 0.0;
}

// Solves L x = x in place. x has room for a whole block; what is behind m becomes zero.
inline void forward(const Factor& L, double* x, Index m) {
  constexpr Index V = kPad / kDoubles;
  for (Index i = m; i < padded(m); ++i) x[i] = 0.0;
  for (Index first = 0; first < m; first += kPad) {
    double rest[kPad];
    if (first > 0) {
      multiply_rows(L.row(first), L.ld, std::min(kPad, m - first), x, first, rest);
      for (Index r = 0; r < kPad; ++r) rest[r] = first + r < m ? x[first + r] - rest[r] : 0.0;
    } else {
      for (Index r = 0; r < kPad; ++r) rest[r] = x[r];
    }
    const double* corner = L.corner(first);
    Doubles even[V] = {}, odd[V] = {};
    for (Index c = 0; c < kPad; c += 2)
      for (Index v = 0; v < V; ++v) {
        even[v] += rest[c] * load(corner + c * kPad + v * kDoubles);
        odd[v] += rest[c + 1] * load(corner + (c + 1) * kPad + v * kDoubles);
      }
    for (Index v = 0; v < V; ++v) store(x + first + v * kDoubles, even[v] + odd[v]);
  }
}

// Solves L' x = x in place; x has room for a whole block.
inline void backward(const Factor& L, double* x, Index m) {
  for (Index i = m; i < padded(m); ++i) x[i] = 0.0;
  for (Index first = padded(m) - kPad; first >= 0; first -= kPad) {
    const Index count = std::min(kPad, m - first);
    double part[kPad];
    multiply_rows(L.corner(first), kPad, kPad, x + first, kPad, part);
    std::copy_n(part, kPad, x + first);
    if (first == 0) break;
    Index r = 0;
    for (; r + 4 <= count; r += 4) {
      const double *r0 = L.row(first + r), *r1 = r0 + L.ld, *r2 = r1 + L.ld, *r3 = r2 + L.ld;
      const double a = part[r], b = part[r + 1], c = part[r + 2], d = part[r + 3];
      for (Index i = 0; i < first; i += kDoubles) {
        const Doubles left = a * load(r0 + i) + b * load(r1 + i);
        const Doubles right = c * load(r2 + i) + d * load(r3 + i);
        store(x + i, load(x + i) - (left + right));
      }
    }
    for (; r < count; ++r) axpy_padded(-part[r], L.row(first + r), x, first);
  }
}

// Appends a row for a column with products `line` (m entries, overwritten, padded room) and own
// square; returns false, and leaves the factor as it is, if the column is dependent.
inline bool append(const Factor& L, Index m, double* line, double square) {
  forward(L, line, m);
  const double rest = square - dot_padded(line, line, padded(m));
  if (!(rest > kDependent * square)) return false;
  std::copy_n(line, padded(m), L.row(m));
  L.inverse[m] = 1.0 / std::sqrt(rest);
  invert_row(L, m);
  return true;
}

// Takes row `gone` of m out. Without it each later row has one entry above the diagonal; rotations
// of neighbouring columns remove them, and turn `half` = L^{-1} rhs with them. `turns` has room
// for 2 m numbers. Four rows are turned at a time, since each waits for its last number.
inline void remove(const Factor& L, Index m, Index gone, double* half, double* turns) {
  constexpr Index kTogether = 4;
  double *cosine = turns, *sine = turns + m;
  for (Index start = gone; start < m - 1; start += kTogether) {
    const Index count = std::min(kTogether, m - 1 - start);
    double left[kTogether];
    for (Index r = 0; r < count; ++r) {
      const double* old = L.row(start + r + 1);
      std::copy_n(old, gone, L.row(start + r));
      left[r] = old[gone];
    }
    // rotations that are known; a row is read before the one above it is written over
    for (Index c = gone; c < start; ++c) {
      const double x = cosine[c], y = sine[c];
      for (Index r = 0; r < count; ++r) {
        const double right = L.row(start + r + 1)[c + 1];
        L.row(start + r)[c] = x * left[r] + y * right;
        left[r] = x * right - y * left[r];
      }
    }
    for (Index r = 0; r < count; ++r) {
      const Index row = start + r;
      const double* old = L.row(row + 1);
      double* line = L.row(row);
      const double corner = 1.0 / L.inverse[row + 1];
      double last = left[r];
      for (Index c = start; c < row; ++c) {
        const double right = old[c + 1];
        line[c] = cosine[c] * last + sine[c] * right;
        last = cosine[c] * right - sine[c] * last;
      }
      const double length = std::sqrt(last * last + corner * corner);
      cosine[row] = last / length;
      sine[row] = corner / length;
      L.inverse[row] = 1.0 / length;
      for (Index c = row; c < padded(row); ++c) line[c] = 0.0;
      const double above = half[row], below = half[row + 1];
      half[row] = cosine[row] * above + sine[row] * below;
      half[row + 1] = cosine[row] * below - sine[row] * above;
    }
  }
  for (Index row = gone / kPad * kPad; row < m - 1; ++row) invert_row(L, row);
}

}  // namespace selica
