// Products of a matrix and of its squared entries with three vectors; the matrix is read once.
//
// With one penalty such a product is as fast as the matrix comes from memory, so that three in one
// cost little more than one, and the squares need not be stored. Sums run over the columns in a
// fixed order, which depends on the instruction set only.
#pragma once

#include "base/types.hpp"

namespace selica::amp {

// The vectors that a matrix A is multiplied with: A u, A^2 s, A^2 t, with squares entry by entry.
struct Factors {
  const double* u;
  const double* s;
  const double* t;
};

// Writes the products with a (rows, columns) to out (3, rows).
inline void along(const double* a, Index rows, Index columns, Factors by, double* out) {
  const double* __restrict u = by.u;
  const double* __restrict s = by.s;
  const double* __restrict t = by.t;
  Index i = 0;
  for (; i + 2 <= rows; i += 2) {  // two rows for each reading of the vectors
    const double* __restrict x = a + i * columns;
    const double* __restrict y = x + columns;
    double x1 = 0.0, x2 = 0.0, x3 = 0.0, y1 = 0.0, y2 = 0.0, y3 = 0.0;
#pragma omp simd reduction(+ : x1, x2, x3, y1, y2, y3)
    for (Index j = 0; j < columns; ++j) {
      const double xx = x[j] * x[j];
      const double yy = y[j] * y[j];
      x1 += x[j] * u[j];
      x2 += xx * s[j];
      x3 += xx * t[j];
      y1 += y[j] * u[j];
      y2 += yy * s[j];
      y3 += yy * t[j];
    }
    out[i] = x1;
    out[i + 1] = y1;
    out[rows + i] = x2;
    out[rows + i + 1] = y2;
    out[2 * rows + i] = x3;
    out[2 * rows + i + 1] = y3;
  }
  if (i < rows) {
    const double* __restrict x = a + i * columns;
    double x1 = 0.0, x2 = 0.0, x3 = 0.0;
#pragma omp simd reduction(+ : x1, x2, x3)
    for (Index j = 0; j < columns; ++j) {
      const double xx = x[j] * x[j];
      x1 += x[j] * u[j];
      x2 += xx * s[j];
      x3 += xx * t[j];
    }
    out[i] = x1;
    out[rows + i] = x2;
    out[2 * rows + i] = x3;
  }
}

// Writes the products with the transpose of a (rows, columns) to out (3, columns).
inline void across(const double* a, Index rows, Index columns, Factors by, double* out) {
  double* __restrict first = out;
  double* __restrict second = out + columns;
  double* __restrict third = out + 2 * columns;
  for (Index j = 0; j < 3 * columns; ++j) out[j] = 0.0;
  Index i = 0;
  for (; i + 4 <= rows; i += 4) {  // four rows for each writing of the sums
    const double* __restrict x = a + i * columns;
    const double* __restrict y = x + columns;
    const double* __restrict z = y + columns;
    const double* __restrict w = z + columns;
    const double* u = by.u + i;
    const double* s = by.s + i;
    const double* t = by.t + i;
    const double ux = u[0], uy = u[1], uz = u[2], uw = u[3];
    const double sx = s[0], sy = s[1], sz = s[2], sw = s[3];
    const double tx = t[0], ty = t[1], tz = t[2], tw = t[3];
#pragma omp simd
    for (Index j = 0; j < columns; ++j) {
      const double xx = x[j] * x[j], yy = y[j] * y[j], zz = z[j] * z[j], ww = w[j] * w[j];
      first[j] += (x[j] * ux + y[j] * uy) + (z[j] * uz + w[j] * uw);
      second[j] += (xx * sx + yy * sy) + (zz * sz + ww * sw);
      third[j] += (xx * tx + yy * ty) + (zz * tz + ww * tw);
    }
  }
  for (; i < rows; ++i) {
    const double* __restrict x = a + i * columns;
    const double ux = by.u[i], sx = by.s[i], tx = by.t[i];
#pragma omp simd
    for (Index j = 0; j < columns; ++j) {
      const double xx = x[j] * x[j];
      first[j] += x[j] * ux;
      second[j] += xx * sx;
      third[j] += xx * tx;
    }
  }
}

}  // namespace selica::amp
