// Weighted sums of the entries of a column and of their squares, for many weights at once.
#pragma once

#include "base/types.hpp"
#include "numeric/lanes.hpp"

namespace selica {

// Adds sum_i w_im x_i and sum_i w_im x_i^2 to first and second (width,), for weights (rows, width)
// with a width of whole blocks of kPad.
inline void add_moments(const double* column, Index rows, const double* weights, Index width,
                        double* first, double* second) {
  constexpr Index V = kPad / kDoubles;
  for (Index m = 0; m < width; m += kPad) {
    Doubles a[V] = {}, b[V] = {};
    for (Index i = 0; i < rows; ++i) {
      const double x = column[i], square = x * x;
      for (Index v = 0; v < V; ++v) {
        const Doubles w = load(weights + i * width + m + v * kDoubles);
        a[v] += x * w;
        b[v] += square * w;
      }
    }
    for (Index v = 0; v < V; ++v) {
      double *to = first + m + v * kDoubles, *too = second + m + v * kDoubles;
      store(to, load(to) + a[v]);
      store(too, load(too) + b[v]);
    }
  }
}

// Writes the same sums for one vector of weights, about a centre.
inline void add_moments_of_one(const double* column, Index rows, double centre,
                               const double* weights, double& first, double& second) {
  Doubles a{}, b{};
  Index i = 0;
  for (; i + kDoubles <= rows; i += kDoubles) {
    const Doubles x = load(column + i) - centre, wx = load(weights + i) * x;
    a += wx;
    b += wx * x;
  }
  first = sum(a);
  second = sum(b);
  for (; i < rows; ++i) {
    const double x = column[i] - centre;
    first += weights[i] * x;
    second += weights[i] * x * x;
  }
}

}  // namespace selica
