// A flag that ends running work early.
#pragma once

#include <atomic>
#include <exception>

namespace selica {

struct Stopped : std::exception {
  const char* what() const noexcept override { return "the work was stopped"; }
};

class StopFlag {
 public:
  void set() { flag_.store(true, std::memory_order_relaxed); }
  bool is_set() const { return flag_.load(std::memory_order_relaxed); }
  // Throws where the flag is set.
  void check() const {
    if (is_set()) throw Stopped();
  }

 private:
  std::atomic<bool> flag_{false};
};

}  // namespace selica
