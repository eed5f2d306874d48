// Lines of codes of two bits, four in a byte, low bits first, as PLINK stores genotypes.
//
// Code 0 is two copies of the first allele, 1 a missing call, 2 one copy, 3 none. A line is never
// read beyond its last byte, and what the last byte holds beyond the last row does not matter.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/types.hpp"
#include "numeric/lanes.hpp"

namespace selica {

static_assert(std::endian::native == std::endian::little, "bytes of a word are taken in order");

inline constexpr Index kCodes = 4;
inline constexpr int kMissing = 1;
// Copies by code; those of a missing call are the column's own.
inline constexpr double kCopies[kCodes] = {2.0, 0.0, 1.0, 0.0};
// Rows of a word of codes, and of a word of flags.
inline constexpr Index kWordRows = 32;
inline constexpr Index kFlagRows = 64;

inline Index line_bytes(Index rows) { return (rows + 3) / 4; }

inline int code_at(const std::uint8_t* line, Index row) {
  return line[row >> 2] >> (2 * (row & 3)) & 3;
}

namespace two_bit_detail {

using Ints = std::int32_t __attribute__((vector_size(kBytes)));
inline constexpr std::uint64_t kEven = 0x5555555555555555ULL;

template <Index... lane>
constexpr Ints shifts_of(std::integer_sequence<Index, lane...>) {
  return Ints{static_cast<std::int32_t>(2 * lane)...};
}
inline constexpr Ints kShifts = shifts_of(std::make_integer_sequence<Index, kFloats>{});

// Copies minus one by byte, four rows each; zero where a call is missing.
constexpr std::array<double, 256 * 4> steps_by_byte() {
  std::array<double, 256 * 4> out{};
  for (std::size_t byte = 0; byte < 256; ++byte)
    for (std::size_t row = 0; row < 4; ++row) {
      const std::size_t code = byte >> (2 * row) & 3;
      out[4 * byte + row] = code == kMissing ? 0.0 : kCopies[code] - 1.0;
    }
  return out;
}
alignas(64) inline constexpr std::array<double, 256 * 4> kSteps = steps_by_byte();

// Returns word k of a line, 32 rows; rows beyond the end have code 0.
inline std::uint64_t word_of(const std::uint8_t* line, Index rows, Index k) {
  const Index from = 8 * k, bytes = std::min<Index>(8, line_bytes(rows) - from);
  std::uint64_t word = 0;
  std::memcpy(&word, line + from, static_cast<std::size_t>(bytes));
  const Index left = rows - kWordRows * k;
  return left >= kWordRows ? word : word & ((std::uint64_t{1} << (2 * left)) - 1);
}

// Returns flags at even bits: which of the rows of a word have a code.
inline std::uint64_t flags_of(std::uint64_t word, int code) {
  const std::uint64_t low = code & 1 ? word : ~word, high = code & 2 ? word >> 1 : ~(word >> 1);
  return low & high & kEven;
}

// Returns the even bits, one beside the other.
inline std::uint64_t squeezed(std::uint64_t x) {
  x = (x | x >> 1) & 0x3333333333333333ULL;
  x = (x | x >> 2) & 0x0F0F0F0F0F0F0F0FULL;
  x = (x | x >> 4) & 0x00FF00FF00FF00FFULL;
  x = (x | x >> 8) & 0x0000FFFF0000FFFFULL;
  return (x | x >> 16) & 0x00000000FFFFFFFFULL;
}

}  // namespace two_bit_detail

// One value for each code, in a register.
class FloatsByCode {
 public:
  explicit FloatsByCode(const float* values) {
    for (Index lane = 0; lane < kFloats; ++lane) all_[lane] = values[lane & 3];
    for (Index code = 0; code < kCodes; ++code) each_[code] = values[code];
  }

  // Returns the values of kFloats rows, from a byte of the line on.
  Floats at(const std::uint8_t* bytes) const {
    using namespace two_bit_detail;
    std::int32_t word = 0;
    std::memcpy(&word, bytes, kFloats / 4);
    const Ints codes = (Ints{} + word) >> kShifts;
#if defined(__AVX2__) && !defined(__clang__)
    return __builtin_shuffle(all_, codes);  // the table repeats: higher bits do not matter
#else
    const Ints low = (codes & 1) != 0, high = (codes & 2) != 0;
    const Floats zero{};
    return high ? (low ? zero + each_[3] : zero + each_[2])
                : (low ? zero + each_[1] : zero + each_[0]);
#endif
  }
  float at(const std::uint8_t* line, Index row) const { return each_[code_at(line, row)]; }

 private:
  Floats all_{};
  float each_[kCodes];
};

// Writes the values of `length` rows from row `start`, a multiple of four, on.
inline void unpack(const std::uint8_t* line, Index start, Index length, const FloatsByCode& values,
                   float* to) {
  Index i = 0;
  for (; i + kFloats <= length; i += kFloats) store(to + i, values.at(line + (start + i) / 4));
  for (; i < length; ++i) to[i] = values.at(line, start + i);
}

// Adds the products of some columns, over rows from `start` on, with one residual to `out`.
template <Index columns>
inline void multiply_codes(const std::uint8_t* const* lines, const FloatsByCode* values,
                           Index start, Index length, const float* residual, float* out) {
  Floats s[columns] = {};
  Index i = 0;
  for (; i + kFloats <= length; i += kFloats) {
    const Floats r = load(residual + start + i);
    for (Index c = 0; c < columns; ++c) s[c] += values[c].at(lines[c] + (start + i) / 4) * r;
  }
  for (Index c = 0; c < columns; ++c) {
    float total = sum(s[c]);
    for (Index t = i; t < length; ++t)
      total += values[c].at(lines[c], start + t) * residual[start + t];
    out[c] += total;
  }
}

// Counts how many rows of a line have each code.
inline void count_codes(const std::uint8_t* line, Index rows, std::int64_t* counts) {
  using namespace two_bit_detail;
  std::int64_t missing = 0, one = 0, none = 0;
  for (Index k = 0; k * kWordRows < rows; ++k) {
    const std::uint64_t word = word_of(line, rows, k);
    missing += std::popcount(flags_of(word, kMissing));
    one += std::popcount(flags_of(word, 2));
    none += std::popcount(flags_of(word, 3));
  }
  counts[0] = rows - missing - one - none;
  counts[1] = missing;
  counts[2] = one;
  counts[3] = none;
}

// Writes flags of the rows of a line that have a code, 64 rows in a word.
inline void flag_rows(const std::uint8_t* line, Index rows, int code, std::uint64_t* flags) {
  using namespace two_bit_detail;
  for (Index k = 0; k * kFlagRows < rows; ++k) {
    std::uint64_t word = squeezed(flags_of(word_of(line, rows, 2 * k), code));
    if ((2 * k + 1) * kWordRows < rows)
      word |= squeezed(flags_of(word_of(line, rows, 2 * k + 1), code)) << 32;
    const Index left = rows - k * kFlagRows;
    flags[k] = left >= kFlagRows ? word : word & ((std::uint64_t{1} << left) - 1);
  }
}

// Sums over the rows of a line, with a vector: of copies minus one of the calls, and of the vector
// itself over all rows and over missing calls.
struct CodedSums {
  double steps = 0.0, all = 0.0, missing = 0.0;
};

inline CodedSums sums_by_code(const std::uint8_t* line, Index rows, const double* vector,
                              bool any_missing) {
  using namespace two_bit_detail;
  constexpr Index kFour = std::min<Index>(4, kDoubles), kParts = 4 / kFour, kBytesAtOnce = 4;
  using Some = double __attribute__((vector_size(8 * kFour)));
  Some steps[kBytesAtOnce][kParts] = {}, all[kBytesAtOnce][kParts] = {};
  Index byte = 0;
  const Index whole = rows / 4;
  for (; byte + kBytesAtOnce <= whole; byte += kBytesAtOnce)
    for (Index b = 0; b < kBytesAtOnce; ++b) {
      const double* step = kSteps.data() + 4 * line[byte + b];
      const double* v = vector + 4 * (byte + b);
      for (Index part = 0; part < kParts; ++part) {
        Some x, y;
        std::memcpy(&x, step + part * kFour, sizeof x);
        std::memcpy(&y, v + part * kFour, sizeof y);
        steps[b][part] += x * y;
        all[b][part] += y;
      }
    }
  CodedSums out;
  for (Index part = 0; part < kParts; ++part) {
    const Some x = (steps[0][part] + steps[1][part]) + (steps[2][part] + steps[3][part]);
    const Some y = (all[0][part] + all[1][part]) + (all[2][part] + all[3][part]);
    for (Index lane = 0; lane < kFour; ++lane) {
      out.steps += x[lane];
      out.all += y[lane];
    }
  }
  for (Index i = 4 * byte; i < rows; ++i) {
    out.steps += kSteps[static_cast<std::size_t>(4 * line[i >> 2] + (i & 3))] * vector[i];
    out.all += vector[i];
  }
  if (!any_missing) return out;
  for (Index k = 0; k * kWordRows < rows; ++k)
    for (std::uint64_t left = flags_of(word_of(line, rows, k), kMissing); left != 0;
         left &= left - 1)
      out.missing += vector[k * kWordRows + std::countr_zero(left) / 2];
  return out;
}

}  // namespace selica
