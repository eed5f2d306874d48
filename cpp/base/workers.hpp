// Tasks 0, 1, ... on threads, each done by one of them. Which tasks there are follows from the
// problem alone, so that the answer does not depend on the threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/stop.hpp"
#include "base/threads.hpp"
#include "base/types.hpp"

namespace selica {

class Workers {
 public:
  using Work = std::function<void(Index)>;

  Workers(Index tasks, Index threads)
      : tasks_(tasks), threads_(std::clamp<Index>(threads, 1, std::max<Index>(tasks, 1))) {}

  // Does all tasks. Each thread calls `make` once, for memory of its own, and what it gets for each
  // of its tasks. `poll` is called every 50 ms on the calling thread; it returns false to stop.
  // Throws what a task threw, or a thread that could not be started. One thread is the calling one,
  // which polls between tasks and wherever a task checks: to start another and to wait for it can
  // take longer than a small problem.
  void run(const std::function<Work()>& make, const std::function<bool()>& poll) {
    if (threads_ == 1) return run_here(make(), poll);
    std::vector<std::thread> workers =
        start_threads(threads_, stop_, [this, &make] { work(make); });
    bool goes_on = true;
    {
      std::unique_lock lock(mutex_);
      while (finished_ < threads_) {
        news_.wait_for(lock, kPause);
        lock.unlock();
        if (goes_on && !poll()) {
          goes_on = false;
          stop_.set();
        }
        lock.lock();
      }
    }
    for (std::thread& worker : workers) worker.join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  static constexpr std::chrono::milliseconds kPause{50};

  void run_here(const Work& task, const std::function<bool()>& poll) const {
    auto last = std::chrono::steady_clock::now();
    const StopFlag stop([&] {
      const auto now = std::chrono::steady_clock::now();
      if (now - last < kPause) return true;
      last = now;
      return poll();
    });
    const StopScope scope(stop);
    try {
      for (Index number = 0; number < tasks_; ++number) {
        task(number);
        stop.check();
      }
    } catch (const Stopped&) {
      // somebody asked for it
    }
  }

  void work(const std::function<Work()>& make) {
    try {
      const StopScope scope(stop_);
      const Work task = make();
      while (!stop_.is_set()) {
        const Index number = next_.fetch_add(1);
        if (number >= tasks_) break;
        task(number);
      }
    } catch (const Stopped&) {
      // somebody asked for it
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      stop_.set();
    }
    const std::lock_guard lock(mutex_);
    ++finished_;
    news_.notify_all();
  }

  Index tasks_;
  Index threads_;
  StopFlag stop_;
  std::atomic<Index> next_{0};
  std::mutex mutex_;
  std::condition_variable news_;
  Index finished_ = 0;
  std::exception_ptr error_;
};

}  // namespace selica
