// The Gram matrix of second derivatives in the unknowns of all variables of a working set.
//
// Unknown s of variable i is number i m + s. Its product with unknown t of variable l is
// sum_r weight_st[r] x_ri x_rl, with the weights c (diag P - P P') in the basis of the unknowns:
// one Gram matrix of the columns for each pair s <= t. The rows of c (diag P - P P') sum to zero,
// so that for "each" the pairs s < t give the others.
#pragma once

#include <algorithm>

#include "numeric/gram.hpp"
#include "paths/multinomial_charge.hpp"
#include "paths/working_set.hpp"

namespace selica {

class MultinomialCurvature {
 public:
  // Takes the probabilities at which second derivatives are wanted.
  void refer(const Charge& charge, const double* weight, const double* probabilities, Index size) {
    charge_ = &charge;
    weight_ = weight;
    size_ = size;
    const Index K = charge.classes();
    std::copy_n(probabilities, K * size, P_.reserve(K * size));
    if (!charge.group()) return;
    double* in_basis = in_basis_.zeros(charge.unknowns() * size);
    for (Index s = 0; s < charge.unknowns(); ++s)
      for (Index k = 0; k < K; ++k)
        if (charge.basis(k, s) != 0.0)
          axpy_padded(charge.basis(k, s), probabilities + k * size, in_basis + s * size, size);
  }

  // Writes the rows of the unknowns of variables `from` and up, and their columns.
  void write(const WorkingSet& variables, Index from, WorkingSet& unknowns) {
    const Index k = variables.k, m = charge_->unknowns(), ld = padded(k);
    pair_.reserve(k * ld);
    row_.reserve(size_);
    scratch_.reserve(4 * gram_detail::kBlock);
    for (Index r = from * m; r < k * m; ++r) std::fill_n(unknowns.gram_row(r), k * m, 0.0);
    for (Index s = 0; s < m; ++s)
      for (Index t = s; t < m; ++t) {
        if (s == t && !charge_->group()) continue;
        write_weights(s, t);
        gram_rows(variables.columns.data(), variables.length, row_.data(), from, k, size_,
                  pair_.data(), ld, scratch_.data());
        for (Index i = from; i < k; ++i) scatter(i, s, t, pair_.data() + i * ld, unknowns);
      }
    for (Index r = from * m; r < k * m; ++r) {
      const double* row = unknowns.gram_row(r);
      for (Index c = 0; c < r; ++c) unknowns.gram_row(c)[r] = row[c];
    }
  }

 private:
  void write_weights(Index s, Index t) {
    const Charge& charge = *charge_;
    const double* base = charge.group() ? in_basis_.data() : P_.data();
    const double *left = base + s * size_, *right = base + t * size_;
    double* out = row_.data();
    for (Index i = 0; i < size_; ++i) out[i] = -left[i] * right[i];
    if (charge.group())
      for (Index k = 0; k < charge.classes(); ++k) {
        const double both = charge.basis(k, s) * charge.basis(k, t);
        if (both != 0.0) axpy_padded(both, P_.data() + k * size_, out, size_);
      }
    for (Index i = 0; i < size_; ++i) out[i] *= weight_[i];
  }

  // Puts products of variable i with variables up to i in the places of the pair (s, t).
  void scatter(Index i, Index s, Index t, const double* products, WorkingSet& unknowns) const {
    const Index m = charge_->unknowns();
    const bool each = !charge_->group();
    double *first = unknowns.gram_row(i * m + s), *second = unknowns.gram_row(i * m + t);
    for (Index l = 0; l <= i; ++l) {
      first[l * m + t] = products[l];
      second[l * m + s] = products[l];
      if (!each) continue;
      first[l * m + s] -= products[l];
      second[l * m + t] -= products[l];
    }
  }

  const Charge* charge_ = nullptr;
  const double* weight_ = nullptr;
  Index size_ = 0;
  Buffer<double> P_, in_basis_, pair_, row_, scratch_;
};

}  // namespace selica
