// The columns a member works with, their Gram matrix, and the coefficients.
//
// Columns are rows of an array, `length` apart, padded with zeros. They were centred and, for the
// squared loss, multiplied by the roots of the weights when they were admitted. The Gram matrix has
// both triangles, rows `ld` apart.
#pragma once

#include <algorithm>
#include <utility>

#include "base/buffer.hpp"
#include "base/types.hpp"
#include "quadratic/lasso.hpp"

namespace selica {

struct WorkingSet {
  Index k = 0;         // columns
  Index active = 0;    // those in the factor; -1 where there is none
  Index room = 0;      // that this member asked for; nothing of members before it may show
  Index capacity = 0;  // room that there is
  Index length = 0;    // of a column
  Index ld = 0;        // of Gram matrix and factor

  Buffer<double> columns;  // (capacity, length)
  Buffer<double> gram;     // (capacity, ld)
  Buffer<double> factor;   // (capacity, ld)
  Buffer<double> inverse;  // diagonal of the factor, inverted
  Buffer<double> corners;  // its triangles on the diagonal, inverted
  Buffer<double> square;   // diagonal of the Gram matrix without a ridge
  Buffer<double> b;        // linear term of the small lasso
  Buffer<double> w;
  Buffer<double> q;        // gradients of the loss, without that of a ridge
  Buffer<double> shift;    // what was subtracted from a column
  Buffer<double> penalty;  // at the present penalty
  Buffer<double> ridge;
  Buffer<Index> which;      // numbers of the columns in the member's design
  Buffer<Index> order;      // the active ones, in the order of the factor
  Buffer<double> old_w[2];  // coefficients and gradients where all gradients were computed last
  Buffer<double> old_q[2];

  double* column(Index i) { return columns.data() + i * length; }
  const double* column(Index i) const { return columns.data() + i * length; }
  double* gram_row(Index i) { return gram.data() + i * ld; }

  void open(Index column_length) {
    k = 0;
    active = 0;
    room = 0;
    if (column_length != length) capacity = 0;
    length = column_length;
  }

  // Makes room for `needed` columns, of `most` that there are.
  void make_room(Index needed, Index most) {
    if (needed <= room) return;
    const Index wanted = std::max({needed + 8, room + room / 8, Index{136}});
    const Index larger = room = std::max(needed, std::min(wanted, most));
    if (larger <= capacity) return;
    const Index wide = padded(larger + 1);
    columns.extend(k * length, larger * length);
    spread(gram, k, wide);
    spread(factor, std::max<Index>(active, 0), wide);
    for (Buffer<double>* each : {&inverse, &square, &b, &w, &q, &shift, &penalty, &ridge, &old_w[0],
                                 &old_w[1], &old_q[0], &old_q[1]})
      each->grow(k, wide);
    corners.grow(std::min(padded(std::max<Index>(active, 0)) * kPad, corners.size()), wide * kPad);
    which.grow(k, wide);
    order.grow(std::max<Index>(active, 0), wide);
    capacity = larger;
    ld = wide;
  }

  Lasso lasso(double* solution, double* gradient) {
    return Lasso{k,
                 ld,
                 gram.data(),
                 b.data(),
                 penalty.data(),
                 solution,
                 gradient,
                 order.data(),
                 active,
                 {factor.data(), ld, inverse.data(), corners.data()}};
  }

 private:
  // Moves the first `rows` rows of a square array to rows `wide` apart.
  void spread(Buffer<double>& square_array, Index rows, Index wide) {
    if (square_array.size() >= wide * wide && ld == wide) return;
    Buffer<double> larger(wide * wide);
    for (Index i = 0; i < rows; ++i)
      std::copy_n(square_array.data() + i * ld, std::min(ld, wide), larger.data() + i * wide);
    square_array = std::move(larger);
  }
};

}  // namespace selica
