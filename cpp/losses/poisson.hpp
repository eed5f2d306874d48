// Counts with the mean mu = e^(offset + eta): the loss of a row is mu - y eta.
//
// Dual point: r = y + kappa (mu - y) >= 0; the conjugate of a row is r (log r - 1 - offset).
#pragma once

#include <cmath>
#include <memory>

#include "losses/row_loss.hpp"

namespace selica {

struct PoissonRow {
  static constexpr Index fields = 2;  // count, offset
  // Beyond this predictor a mean is not a number any more: a step there is not accepted.
  static constexpr double kLargest = 700.0;

  struct State {
    Doubles value, slope;
  };

  static State state(Doubles y, Doubles offset, Doubles eta) {
    const Doubles z = offset + eta, mean = exponential(z);
    const Doubles value = mean - y * eta;
    return {z > kLargest ? same(1e300) : value, mean - y};
  }

  static Doubles curvature(Doubles, Doubles offset, Doubles eta) {
    return exponential(offset + eta);
  }

  static Doubles conjugate(Doubles y, Doubles offset, Doubles eta, double scale) {
    const Doubles r = y + scale * (exponential(offset + eta) - y);
    return entropy_term(r) - r * (1.0 + offset);
  }

  static Doubles lowest(Doubles y, Doubles offset) { return y * (1.0 + offset) - entropy_term(y); }
};

class Poisson final : public RowLoss<PoissonRow> {
 public:
  bool degenerate() const override { return !(mass_ > 0.0); }

  double balance(const double* eta) override {
    Doubles means{};
    for (Index i = 0; i < size_; i += kDoubles)
      means += load(c_ + i) * exponential(extra(i) + load(eta + i));
    return std::log(mass_ / sum(means));
  }

  double longest_step() const override { return 5.0; }
};

class PoissonKind final : public LossKind {
 public:
  std::unique_ptr<Loss> member() const override { return std::make_unique<Poisson>(); }
};

}  // namespace selica
