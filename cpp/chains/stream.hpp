// Random numbers of one row of one copy.
//
// The key belongs to the copy, and the counter holds the number of the row, of the part of the copy
// where it has several, and of the block (`numeric/philox.hpp`). So a row draws the same numbers
// whoever draws them. NumPy's Philox with the counter (0, row, 0, 0) has the same stream.
#pragma once

#include <array>
#include <cstddef>

#include "base/types.hpp"
#include "numeric/philox.hpp"

namespace selica::chains {

class Stream {
 public:
  explicit Stream(Key key, Index row, Index part = 0)
      : key_(key), row_(static_cast<Word>(row)), part_(static_cast<Word>(part)) {}

  // Returns the next number in [0, 1), a multiple of 2^-53.
  double uniform() {
    if (used_ == 4) refill();
    return unit(words_[used_++]);
  }

  // Returns k with a probability of weights[k] / total.
  Index pick(const double* weights, Index size, double total) {
    double rest = uniform() * total;
    Index last = 0;
    for (Index k = 0; k < size; ++k) {
      if (weights[k] <= 0.0) continue;
      last = k;
      rest -= weights[k];
      if (rest < 0.0) break;
    }
    return last;  // that of the largest k, where rounding leaves a rest
  }

 private:
  void refill() {
    words_ = philox(key_, {++block_, row_, part_, 0});
    used_ = 0;
  }

  Key key_;
  Word row_;
  Word part_;
  Word block_ = 0;
  std::array<Word, 4> words_{};
  std::size_t used_ = 4;
};

}  // namespace selica::chains
