// Vectors as wide as the registers of the instruction set that this module is compiled for.
#pragma once

#include <cstring>

#include "base/types.hpp"

namespace selica {

#if defined(__AVX512F__)
inline constexpr Index kBytes = 64;
#elif defined(__AVX2__)
inline constexpr Index kBytes = 32;
#else
inline constexpr Index kBytes = 16;
#endif
inline constexpr Index kDoubles = kBytes / 8;
inline constexpr Index kFloats = kBytes / 4;

using Doubles = double __attribute__((vector_size(kBytes)));
using Floats = float __attribute__((vector_size(kBytes)));

inline Doubles load(const double* from) {
  Doubles v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
inline Floats load(const float* from) {
  Floats v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
inline void store(double* to, Doubles v) { std::memcpy(to, &v, sizeof v); }
inline void store(float* to, Floats v) { std::memcpy(to, &v, sizeof v); }

inline Doubles same(double x) { return Doubles{} + x; }

// Sums neighbouring entries of two vectors; log2(width) such steps sum a whole register.
template <int step>
inline Doubles folded(Doubles a, Doubles b) {
#if defined(__AVX512F__)
  if constexpr (step == 1)
    return __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14) +
           __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
  else if constexpr (step == 2)
    return __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13) +
           __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
  else
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11) +
           __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
#elif defined(__AVX2__)
  if constexpr (step == 1)
    return __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
  else
    return __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
#else
  return __builtin_shufflevector(a, b, 0, 2) + __builtin_shufflevector(a, b, 1, 3);
#endif
}

// Returns the sums of kDoubles vectors, one in each entry.
inline Doubles sums(const Doubles* v) {
#if defined(__AVX512F__)
  const Doubles a = folded<2>(folded<1>(v[0], v[1]), folded<1>(v[2], v[3]));
  const Doubles b = folded<2>(folded<1>(v[4], v[5]), folded<1>(v[6], v[7]));
  return folded<4>(a, b);
#elif defined(__AVX2__)
  return folded<2>(folded<1>(v[0], v[1]), folded<1>(v[2], v[3]));
#else
  return folded<1>(v[0], v[1]);
#endif
}

inline double sum(Doubles v) {
#if defined(__AVX512F__)
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
#elif defined(__AVX2__)
  return (v[0] + v[2]) + (v[1] + v[3]);
#else
  return v[0] + v[1];
#endif
}

inline float sum(Floats v) {
#if defined(__AVX512F__)
  const auto eight = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                     __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
  const auto four = __builtin_shufflevector(eight, eight, 0, 1, 2, 3) +
                    __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
#elif defined(__AVX2__)
  const auto four =
      __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
#else
  const auto four = v;
#endif
  return (four[0] + four[2]) + (four[1] + four[3]);
}

}  // namespace selica
