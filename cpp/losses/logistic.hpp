// The log-loss of a response of 0 and 1: log(1 + e^eta) - y eta.
//
// Dual point: shares y - kappa (y - p) between 0 and 1, with their entropy as the dual objective.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>

#include "losses/row_loss.hpp"

namespace selica {

struct LogisticRow {
  static constexpr Index fields = 1;
  // A saturated row still counts this much.
  static constexpr double kLeastCurvature = 1e-9;

  struct State {
    Doubles value, slope;
  };

  static Doubles size(Doubles eta) { return eta < 0.0 ? -eta : eta; }

  static Doubles share(Doubles eta) {
    const Doubles e = exponential(-size(eta));
    const Doubles larger = 1.0 / (1.0 + e);
    return eta < 0.0 ? e * larger : larger;
  }

  static State state(Doubles y, Doubles, Doubles eta) {
    const Doubles e = exponential(-size(eta));
    const Doubles larger = 1.0 / (1.0 + e);
    const Doubles p = eta < 0.0 ? e * larger : larger;
    const Doubles positive = eta < 0.0 ? Doubles{} : eta;
    return {positive - y * eta + logarithm(1.0 + e), p - y};
  }

  static Doubles curvature(Doubles, Doubles, Doubles eta) {
    const Doubles e = exponential(-size(eta));
    const Doubles larger = 1.0 / (1.0 + e);
    const Doubles variance = e * larger * larger, least = same(kLeastCurvature);
    return variance > least ? variance : least;
  }

  static Doubles conjugate(Doubles y, Doubles, Doubles eta, double scale) {
    const Doubles v = y + scale * (share(eta) - y);
    return entropy_term(v) + entropy_term(1.0 - v);
  }

  static Doubles lowest(Doubles, Doubles) { return Doubles{}; }
};

class Logistic final : public RowLoss<LogisticRow> {
 public:
  bool degenerate() const override { return mass_ <= 0.0 || mass_ >= total_; }

  double balance(const double* eta) override {
    double moved = 0.0;
    for (int step = 0; step < 50; ++step) {
      Doubles pull{}, curve{};
      for (Index i = 0; i < size_; i += kDoubles) {
        const Doubles p = LogisticRow::share(load(eta + i) + moved), c = load(c_ + i);
        pull += c * (y(i) - p);
        curve += c * p * (1.0 - p);
      }
      const double force = sum(pull), give = sum(curve);
      if (std::abs(force) <= 1e-15 * total_ || give <= 1e-12 * total_) break;
      const double change = std::min(std::max(force / give, -1.0), 1.0);
      moved += change;
      if (std::abs(change) <= 1e-15) break;
    }
    return moved;
  }
};

class LogisticKind final : public LossKind {
 public:
  std::unique_ptr<Loss> member() const override { return std::make_unique<Logistic>(); }
};

}  // namespace selica
