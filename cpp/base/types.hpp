// Names for the numbers that everything here counts with.
#pragma once

#include <cstdint>

namespace selica {

using Index = std::int64_t;

// Vectors are padded with zeros to whole blocks of this many doubles (one line of the cache).
inline constexpr Index kPad = 8;

constexpr Index padded(Index size) { return (size + kPad - 1) / kPad * kPad; }

}  // namespace selica
