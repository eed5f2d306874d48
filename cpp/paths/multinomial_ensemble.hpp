// All members of an ensemble with several classes, one by one, on threads. Members are independent
// and only whole numbers are added over them: the answer does not depend on the threads.
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
#include "paths/multinomial_path.hpp"

namespace selica {

class MultinomialEnsemble {
 public:
  MultinomialEnsemble(const Problem& problem, Index n_classes, bool group, const Kept& kept,
                      bool sparse, Index threads)
      : problem_(problem),
        n_classes_(n_classes),
        group_(group),
        kept_(kept),
        sparse_(sparse),
        threads_(std::clamp<Index>(threads, 1, std::max<Index>(problem.members, 1))) {
    entries_.resize(static_cast<std::size_t>(problem.members));
  }

  // Solves all members. `poll` is called now and then on the calling thread, with the number of
  // members that are done; it returns false to stop. Throws what a member threw.
  void run(const std::function<bool(Index)>& poll) {
    std::vector<std::thread> workers = start_threads(threads_, stop_, [this] { work(); });
    bool goes_on = true;
    {
      std::unique_lock lock(mutex_);
      while (finished_ < threads_) {
        news_.wait_for(lock, std::chrono::milliseconds(50));
        const Index done = done_;
        lock.unlock();
        if (goes_on && !poll(done)) {
          goes_on = false;
          stop_.set();
        }
        lock.lock();
      }
    }
    for (std::thread& worker : workers) worker.join();
    if (error_) std::rethrow_exception(error_);
    if (goes_on) poll(problem_.members);
  }

  // How often the design was read, in units of all its columns: once to prepare it, and by each
  // member.
  double passes() const {
    const double columns = static_cast<double>(std::max<Index>(problem_.design->columns(), 1));
    return 1.0 + static_cast<double>(columns_read_) / columns;
  }
  const std::vector<SparseEntries>& entries() const { return entries_; }

 private:
  void work() {
    try {
      MultinomialPath path(problem_, n_classes_, group_, stop_);
      while (true) {
        const Index number = next_.fetch_add(1);
        if (number >= problem_.members || stop_.is_set()) break;
        const Index before = path.columns_read();
        path.run(number, kept_, sparse_ ? &entries_[static_cast<std::size_t>(number)] : nullptr);
        const std::lock_guard lock(mutex_);
        columns_read_ += path.columns_read() - before;
        ++done_;
        news_.notify_all();
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

  const Problem& problem_;
  Index n_classes_;
  bool group_;
  Kept kept_;
  bool sparse_;
  Index threads_;
  StopFlag stop_;
  std::atomic<Index> next_{0};
  std::mutex mutex_;
  std::condition_variable news_;
  Index finished_ = 0;
  Index done_ = 0;
  Index columns_read_ = 0;
  std::exception_ptr error_;
  std::vector<SparseEntries> entries_;
};

}  // namespace selica
