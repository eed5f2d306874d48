// Which instruction sets the processor and its operating system can run.
#pragma once

namespace selica {

// Returns the name of the largest set: "avx512" (x86-64-v4), "avx2" (x86-64-v3) or "baseline".
inline const char* best_set() {
#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2"))
    return "baseline";
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512cd") || !__builtin_cpu_supports("avx512dq") ||
      !__builtin_cpu_supports("avx512vl"))
    return "avx2";
  return "avx512";
#else
  return "baseline";
#endif
}

}  // namespace selica
