// Random numbers that are the same everywhere: a problem is reproduced by its number.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/types.hpp"

namespace selica::fuzz {

class Random {
 public:
  explicit Random(std::uint64_t number) : state_(number * 0x9E3779B97F4A7C15ULL + 1) {}

  // Returns a number between 0 and 1.
  double uniform() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    z ^= z >> 31;
    return static_cast<double>(z >> 11) * 0x1p-53;
  }
  double uniform(double from, double to) { return from + (to - from) * uniform(); }
  // Returns a whole number from `least` to `most`.
  Index whole(Index least, Index most) {
    return least + static_cast<Index>(uniform() * static_cast<double>(most - least + 1));
  }
  bool chance(double share) { return uniform() < share; }
  double normal() {
    const double size = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return size * std::cos(6.283185307179586 * uniform());
  }

 private:
  std::uint64_t state_;
};

}  // namespace selica::fuzz
