// Random numbers of one row of one copy.
//
// Philox 4x64 with ten rounds (Salmon, Moraes, Dror and Shaw 2011): a block of four words is a
// function of a key, which belongs to the copy, and of a counter, which holds the number of the row
// and of the block. So a row draws the same numbers whoever draws them. NumPy's Philox with the
// counter (0, row, 0, 0) has the same stream.
#pragma once

#include <array>
#include <cstdint>

#include "base/types.hpp"

namespace selica::chains {

using Word = std::uint64_t;
using Key = std::array<Word, 2>;

class Stream {
 public:
  Stream(Key key, Index row) : key_(key), row_(static_cast<Word>(row)) {}

  // Returns the next number in [0, 1), a multiple of 2^-53.
  double uniform() {
    if (used_ == 4) refill();
    return static_cast<double>(words_[used_++] >> 11) * 0x1p-53;
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
  __extension__ typedef unsigned __int128 Wide;

  void refill() {
    constexpr Word kFactor0 = 0xD2E7470EE14C6C93U, kFactor1 = 0xCA5A826395121157U;
    constexpr Word kStep0 = 0x9E3779B97F4A7C15U, kStep1 = 0xBB67AE8584CAA73BU;
    std::array<Word, 4> c{++block_, row_, 0, 0};
    Key key = key_;
    for (int round = 0; round < 10; ++round) {
      const Wide first = static_cast<Wide>(kFactor0) * c[0];
      const Wide second = static_cast<Wide>(kFactor1) * c[2];
      c = {static_cast<Word>(second >> 64) ^ c[1] ^ key[0], static_cast<Word>(second),
           static_cast<Word>(first >> 64) ^ c[3] ^ key[1], static_cast<Word>(first)};
      key[0] += kStep0;
      key[1] += kStep1;
    }
    words_ = c;
    used_ = 0;
  }

  Key key_;
  Word row_;
  Word block_ = 0;
  std::array<Word, 4> words_{};
  std::size_t used_ = 4;
};

}  // namespace selica::chains
