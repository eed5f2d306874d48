// Exponential and logarithm of whole registers, to a few units in the last place.
#pragma once

#include <cstdint>
#include <cstring>

#include "numeric/lanes.hpp"

namespace selica {

using Words = std::int64_t __attribute__((vector_size(kBytes)));

namespace functions_detail {
inline Words bits(Doubles x) {
  Words w;
  std::memcpy(&w, &x, sizeof w);
  return w;
}
inline Doubles number(Words w) {
  Doubles x;
  std::memcpy(&x, &w, sizeof x);
  return x;
}
inline constexpr double kMagic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to integers
inline constexpr double kLn2High = 6.93147180369123816490e-01;  // 33 bits
inline constexpr double kLn2Low = 1.90821492927058770002e-10;
}  // namespace functions_detail

// Returns e^x; arguments are held between -708 and 709.
inline Doubles exponential(Doubles x) {
  using namespace functions_detail;
  const Doubles low = same(-708.0), high = same(709.0);
  x = x < low ? low : x;
  x = x > high ? high : x;
  const Doubles t = x * 1.4426950408889634 + kMagic;
  const Doubles k = t - kMagic;
  const Doubles r = (x - k * kLn2High) - k * kLn2Low;
  // Taylor's polynomial for |r| <= 0.347: the first term left out is below 5e-18
  Doubles p = same(1.0 / 6227020800.0);
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  return number(bits(p) + (bits(t) << 52));
}

// Returns log x for positive normal x.
inline Doubles logarithm(Doubles x) {
  using namespace functions_detail;
  const Words root_half = bits(same(0.70710678118654752440));
  // x = 2^e m with m between the roots of 1/2 and 2
  const Words offset = bits(x) - root_half;
  const Words e = offset >> 52;
  const Doubles m = number(bits(x) - (e << 52));
  const Doubles exponent = number(e + bits(same(kMagic))) - kMagic;
  const Doubles s = (m - 1.0) / (m + 1.0), z = s * s;
  // 2 atanh(s) for |s| <= 0.1716: the first term left out is below 2e-17 of it
  Doubles p = same(2.0 / 21.0);
  p = p * z + 2.0 / 19.0;
  p = p * z + 2.0 / 17.0;
  p = p * z + 2.0 / 15.0;
  p = p * z + 2.0 / 13.0;
  p = p * z + 2.0 / 11.0;
  p = p * z + 2.0 / 9.0;
  p = p * z + 2.0 / 7.0;
  p = p * z + 2.0 / 5.0;
  p = p * z + 2.0 / 3.0;
  return exponent * kLn2High + (s * 2.0 + (s * z * p + exponent * kLn2Low));
}

// Returns x log x, zero at zero.
inline Doubles entropy_term(Doubles x) {
  const Doubles least = same(1e-300);
  const Doubles safe = x > least ? x : least;
  return x > least ? x * logarithm(safe) : Doubles{};
}

}  // namespace selica
