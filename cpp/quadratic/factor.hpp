// The Cholesky factor of a growing and shrinking set of rows and columns of a Gram matrix.
//
// Row i of L holds its i entries left of the diagonal, padded with zeros; the diagonal is kept as
// its inverse in `inverse`, since a division would wait for the one before it.
#pragma once

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
  double* inverse;  // (capacity,)

  double* row(Index i) const { return rows + i * ld; }
};

// Solves L x = x in place. Entries of x behind m, up to a whole block, must be finite.
inline void forward(const Factor& L, double* x, Index m) {
  double part[kPad];
  for (Index first = 0; first < m; first += kPad) {
    const Index count = std::min(kPad, m - first);
    if (first > 0) {
      multiply_rows(L.row(first), L.ld, count, x, first, part);
      for (Index r = 0; r < count; ++r) x[first + r] -= part[r];
    }
    for (Index r = 0; r < count; ++r) {
      const double* row = L.row(first + r) + first;
      double value = x[first + r];
      for (Index c = 0; c < r; ++c) value -= row[c] * x[first + c];
      x[first + r] = value * L.inverse[first + r];
    }
  }
}

// Solves L' x = x in place; x has room for a whole block.
inline void backward(const Factor& L, double* x, Index m) {
  for (Index i = m - 1; i >= 0; --i) {
    x[i] *= L.inverse[i];
    const double value = x[i];
    const double* row = L.row(i);
    const Index size = padded(i);
    // the padding of a row is zero: entries behind i do not change
    for (Index c = 0; c < size; c += kDoubles) store(x + c, load(x + c) - value * load(row + c));
  }
}

// Appends a row for a column with products `line` (m entries, overwritten, padded room) and own
// square; returns false, and leaves the factor as it is, if the column is dependent.
inline bool append(const Factor& L, Index m, double* line, double square) {
  for (Index c = m; c < padded(m); ++c) line[c] = 0.0;
  forward(L, line, m);
  for (Index c = m; c < padded(m); ++c) line[c] = 0.0;
  const double rest = square - dot_padded(line, line, padded(m));
  if (!(rest > kDependent * square)) return false;
  double* row = L.row(m);
  for (Index c = 0; c < padded(m); ++c) row[c] = line[c];
  L.inverse[m] = 1.0 / std::sqrt(rest);
  return true;
}

// Takes row `gone` of m out. Without it each later row has one entry above the diagonal; rotations
// of neighbouring columns remove them, and turn `half` = L^{-1} rhs with them. `turns` has room
// for 2 m numbers.
inline void remove(const Factor& L, Index m, Index gone, double* half, double* turns) {
  double *cosine = turns, *sine = turns + m;
  for (Index row = gone; row < m - 1; ++row) {
    const double* old = L.row(row + 1);
    double* line = L.row(row);
    const double corner = 1.0 / L.inverse[row + 1];
    for (Index c = 0; c < gone; ++c) line[c] = old[c];
    double left = old[gone];
    for (Index c = gone; c < row; ++c) {
      const double right = old[c + 1];
      line[c] = cosine[c] * left + sine[c] * right;
      left = cosine[c] * right - sine[c] * left;
    }
    const double length = std::hypot(left, corner);
    cosine[row] = left / length;
    sine[row] = corner / length;
    L.inverse[row] = 1.0 / length;
    for (Index c = row; c < padded(row); ++c) line[c] = 0.0;
    const double above = half[row], below = half[row + 1];
    half[row] = cosine[row] * above + sine[row] * below;
    half[row + 1] = cosine[row] * below - sine[row] * above;
  }
}

}  // namespace selica
