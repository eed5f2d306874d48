// A loss that is a sum over rows: sum_i c_i l(y_i, eta_i), from functions of a register of rows.
//
// F has: fields (how many numbers a response has), and static functions of registers: `value` and
// `slope` together (State), `curvature`, `conjugate` (at kappa times the slope) and `lowest`.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/buffer.hpp"
#include "losses/loss.hpp"
#include "numeric/functions.hpp"

namespace selica {

template <class F>
class RowLoss : public Loss {
 public:
  void open(const MemberRows& rows) override {
    size_ = padded(rows.count);
    c_ = rows.weight;
    for (Index field = 0; field < F::fields; ++field) {
      double* to = y_[field].reserve(size_);
      const double* from = rows.y[static_cast<std::size_t>(field)];
      for (Index i = 0; i < rows.count; ++i) to[i] = from[rows.places[i]];
      std::fill(to + rows.count, to + size_, 0.0);
    }
    total_ = total([](Doubles, Doubles) { return same(1.0); });
    mass_ = total([](Doubles y, Doubles) { return y; });
  }

  double infimum() const override {
    return total([](Doubles y, Doubles extra) { return F::lowest(y, extra); });
  }

  double evaluate(const double* eta, double* residual) override {
    Doubles sums{};
    for (Index i = 0; i < size_; i += kDoubles) {
      const Doubles c = load(c_ + i);
      const auto [value, slope] = F::state(y(i), extra(i), load(eta + i));
      sums += c * value;
      store(residual + i, -c * slope);
    }
    return sum(sums);
  }

  double dual(const double* eta, double scale) override {
    Doubles sums{};
    for (Index i = 0; i < size_; i += kDoubles)
      sums += load(c_ + i) * F::conjugate(y(i), extra(i), load(eta + i), scale);
    return -sum(sums);
  }

  void curvature(const double* eta, double* weight) override {
    for (Index i = 0; i < size_; i += kDoubles)
      store(weight + i, load(c_ + i) * F::curvature(y(i), extra(i), load(eta + i)));
  }

 protected:
  Doubles y(Index i) const { return load(y_[0].data() + i); }
  Doubles extra(Index i) const {
    if constexpr (F::fields > 1) return load(y_[1].data() + i);
    return Doubles{};
  }

  // Returns the weighted sum of a function of the response.
  template <class G>
  double total(G function) const {
    Doubles sums{};
    for (Index i = 0; i < size_; i += kDoubles) sums += load(c_ + i) * function(y(i), extra(i));
    return sum(sums);
  }

  Index size_ = 0;
  const double* c_ = nullptr;
  Buffer<double> y_[F::fields];
  double total_ = 0.0;  // weight of the rows
  double mass_ = 0.0;   // weighted sum of the response
};

}  // namespace selica
