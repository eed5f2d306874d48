// The small problem of one member: a lasso given by a Gram matrix.
//
//   minimise  w'G w / 2 - b'w + sum_j penalty_j |w_j|   over w of size k .
//
// An elastic net has its ridge on the diagonal of G. A penalty of zero leaves a coefficient free.
#pragma once

#include <algorithm>

#include "base/buffer.hpp"
#include "base/stop.hpp"
#include "base/types.hpp"
#include "numeric/products.hpp"
#include "quadratic/factor.hpp"

namespace selica {

// A gradient may exceed its penalty by this share before its variable enters: far below any gap.
inline constexpr double kEntry = 1e-12;

struct Lasso {
  Index k;                // variables
  Index ld;               // distance of rows of G
  const double* G;        // both triangles
  const double* b;        // (k,)
  const double* penalty;  // (k,)
  double* w;              // (k,) coefficients: where to begin, and the answer
  double* q;              // (padded(k),) gradients b - G w, up to date on return
  Index* order;           // active variables, in the order of the factor
  Index active;           // how many; -1 where the factor has to be made anew
  Factor L;

  const double* row(Index j) const { return G + j * ld; }
};

// Room that is used while a problem is solved.
class LassoScratch {
 public:
  void reserve(Index k) {
    const Index size = padded(k + 1);
    if (size <= size_) return;
    size_ = size;
    numbers_.zeros(6 * size);
    rows_.reserve(size);
    blocked_.reserve(size);
  }
  double* sign() { return numbers_.data(); }
  double* half() { return numbers_.data() + size_; }
  double* z() { return numbers_.data() + 2 * size_; }
  double* line() { return numbers_.data() + 3 * size_; }
  double* turns() { return numbers_.data() + 4 * size_; }  // twice the size
  const double** rows() { return rows_.data(); }
  bool* blocked() { return blocked_.data(); }

 private:
  Index size_ = 0;
  Buffer<double> numbers_;
  Buffer<const double*> rows_;
  Buffer<bool> blocked_;
};

// Writes q = b - G w; `values` and `rows` are room for k entries.
inline void write_gradient(const Lasso& p, double* values, const double** rows) {
  Index count = 0;
  for (Index j = 0; j < p.k; ++j) {
    if (p.w[j] == 0.0) continue;
    values[count] = -p.w[j];
    rows[count++] = p.row(j);
  }
  std::copy(p.b, p.b + p.k, p.q);
  std::fill(p.q + p.k, p.q + padded(p.k), 0.0);
  add_rows(values, rows, count, p.q, padded(p.k));
}

// Appends variable j to the factor; returns false if it depends on the active ones.
inline bool append_variable(const Lasso& p, Index active, Index j, double* line) {
  check_stop();
  const double* row = p.row(j);
  for (Index i = 0; i < active; ++i) line[i] = row[p.order[i]];
  if (!append(p.L, active, line, row[j])) return false;
  p.order[active] = j;
  return true;
}

// Makes the factor of the variables with w != 0. Dependent ones are set to zero (they may come
// back by an exchange), or, if `strict`, the factor is given up and p.active is -1.
inline void factorise(Lasso& p, double* line, bool strict) {
  p.active = 0;
  for (Index j = 0; j < p.k; ++j) {
    if (p.w[j] == 0.0) continue;
    if (append_variable(p, p.active, j, line)) {
      ++p.active;
    } else if (strict) {
      p.active = -1;
      return;
    } else {
      p.w[j] = 0.0;
    }
  }
}

}  // namespace selica
