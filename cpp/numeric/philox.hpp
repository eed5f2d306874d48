// Random words as a function of a key and a counter: Philox 4x64 with ten rounds (Salmon, Moraes,
// Dror and Shaw 2011). Whoever asks for the same block gets the same words, in any order and on any
// thread.
#pragma once

#include <array>
#include <cstdint>

namespace selica {

using Word = std::uint64_t;
using Key = std::array<Word, 2>;
using Counter = std::array<Word, 4>;

// Returns the block of four words that belongs to a key and a counter.
inline std::array<Word, 4> philox(Key key, Counter c) {
  __extension__ typedef unsigned __int128 Wide;
  constexpr Word kFactor0 = 0xD2E7470EE14C6C93U, kFactor1 = 0xCA5A826395121157U;
  constexpr Word kStep0 = 0x9E3779B97F4A7C15U, kStep1 = 0xBB67AE8584CAA73BU;
  for (int round = 0; round < 10; ++round) {
    const Wide first = static_cast<Wide>(kFactor0) * c[0];
    const Wide second = static_cast<Wide>(kFactor1) * c[2];
    c = {static_cast<Word>(second >> 64) ^ c[1] ^ key[0], static_cast<Word>(second),
         static_cast<Word>(first >> 64) ^ c[3] ^ key[1], static_cast<Word>(first)};
    key[0] += kStep0;
    key[1] += kStep1;
  }
  return c;
}

// Returns a number in [0, 1), a multiple of 2^-53, from a random word.
inline double unit(Word word) { return static_cast<double>(word >> 11) * 0x1p-53; }

}  // namespace selica
