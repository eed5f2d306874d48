// Threads that do the same work.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "base/stop.hpp"
#include "base/types.hpp"

namespace selica {

// Starts so many threads. Where one of them cannot be started, the work of the others is stopped
// and waited for, and the error is thrown.
inline std::vector<std::thread> start_threads(Index count, StopFlag& stop,
                                              const std::function<void()>& work) {
  std::vector<std::thread> threads;
  try {
    for (Index t = 0; t < count; ++t) threads.emplace_back(work);
  } catch (...) {
    stop.set();
    for (std::thread& thread : threads) thread.join();
    throw;
  }
  return threads;
}

}  // namespace selica
