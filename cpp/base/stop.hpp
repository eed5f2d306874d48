// A flag that ends running work early.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <utility>

namespace selica {

struct Stopped : std::exception {
  const char* what() const noexcept override { return "the work was stopped"; }
};

class StopFlag {
 public:
  StopFlag() = default;
  // A flag that nobody sets: `goes_on` is asked at every check, on the thread that checks.
  explicit StopFlag(std::function<bool()> goes_on) : goes_on_(std::move(goes_on)) {}

  void set() { flag_.store(true, std::memory_order_relaxed); }
  bool is_set() const { return flag_.load(std::memory_order_relaxed); }
  // Throws where the work is to end.
  void check() const {
    if (is_set() || (goes_on_ && !goes_on_())) throw Stopped();
  }

 private:
  std::function<bool()> goes_on_;
  std::atomic<bool> flag_{false};
};

// The flag of the work that this thread does; null where there is none.
inline thread_local const StopFlag* stop_of_thread = nullptr;

// Throws where the work of this thread is to end. Loops that may take long ask every millisecond.
inline void check_stop() {
  if (stop_of_thread != nullptr) stop_of_thread->check();
}

// Makes a flag that of this thread, until the scope ends; work may call other work.
class StopScope {
 public:
  explicit StopScope(const StopFlag& flag) : before_(std::exchange(stop_of_thread, &flag)) {}
  ~StopScope() { stop_of_thread = before_; }
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  const StopFlag* before_;
};

}  // namespace selica
