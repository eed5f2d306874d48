// Random numbers of one purpose at one place in one sweep of one chain: whatever else is drawn, and
// in whatever order, they are the same.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "base/types.hpp"
#include "numeric/philox.hpp"

namespace selica::masked {

enum class Purpose : Word { order, visit, exchange, latent, level };

// A sweep of a chain, whose numbers these are.
struct Moment {
  Key key;
  Word chain, sweep;
};

class Draws {
 public:
  Draws(const Moment& at, Purpose purpose, Index place)
      : key_(at.key),
        counter_{0, static_cast<Word>(place), at.sweep,
                 at.chain << 8 | static_cast<Word>(purpose)} {}

  // Returns a number in [0, 1).
  double uniform() {
    if (used_ == 4) {
      words_ = philox(key_, counter_);
      ++counter_[0];
      used_ = 0;
    }
    return unit(words_[used_++]);
  }

  // Returns a whole number below `size`, which is small beside 2^53.
  Index below(Index size) { return static_cast<Index>(uniform() * static_cast<double>(size)); }

  // Returns a standard normal number, by Box and Muller.
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

  // Returns a standard normal number above `low`: normal numbers until one is, or for a high bound
  // exponential ones, accepted as Robert (1995) says.
  double normal_above(double low) {
    constexpr double kHigh = 0.4;
    if (low < kHigh) {
      double x = normal();
      while (!(x > low)) x = normal();
      return x;
    }
    const double rate = 0.5 * (low + std::sqrt(low * low + 4.0));
    while (true) {
      const double x = low - std::log(1.0 - uniform()) / rate;
      if (uniform() <= std::exp(-0.5 * (x - rate) * (x - rate))) return x;
    }
  }

  // Returns a Gamma number of a shape of at least one and scale one (Marsaglia and Tsang 2000).
  double gamma(double shape) {
    const double d = shape - 1.0 / 3.0, c = 1.0 / std::sqrt(9.0 * d);
    while (true) {
      const double x = normal(), root = 1.0 + c * x;
      if (root <= 0.0) continue;
      const double v = root * root * root;
      if (std::log(1.0 - uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
    }
  }

 private:
  Key key_;
  Counter counter_;
  std::array<Word, 4> words_{};
  std::size_t used_ = 4;
};

}  // namespace selica::masked
