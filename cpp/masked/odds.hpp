// Functions of log odds, and logarithms of sums of probabilities of any size.
#pragma once

#include <cmath>
#include <limits>

namespace selica::masked {

// Returns log(1 + e^x).
inline double softplus(double x) {
  return x > 0.0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

// Returns 1 / (1 + e^-x).
inline double sigmoid(double x) {
  const double t = std::exp(-std::abs(x));
  return (x >= 0.0 ? 1.0 : t) / (1.0 + t);
}

// The logarithm of a sum, term by term, as largest term and the rest in its unit.
class LogSum {
 public:
  void add(double log_term) {
    if (log_term <= largest_) {
      rest_ += std::exp(log_term - largest_);
    } else {
      rest_ = rest_ * std::exp(largest_ - log_term) + 1.0;
      largest_ = log_term;
    }
  }
  double value() const { return largest_ + std::log(rest_); }

 private:
  double largest_ = -std::numeric_limits<double>::infinity();
  double rest_ = 0.0;
};

// Sums of sigmoid(e) and of sigmoid(-e) over sweeps.
struct Odds {
  LogSum first, second;

  void add(double e) {
    const double small = std::log1p(std::exp(-std::abs(e)));  // - log of the larger of the two
    first.add(e >= 0.0 ? -small : e - small);
    second.add(e >= 0.0 ? -e - small : -small);
  }
};

}  // namespace selica::masked
