// The tasks of an ensemble, on threads, and how many members are done.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include "base/types.hpp"
#include "base/workers.hpp"

namespace selica {

// Is told how many members are done, each number once, and 0 in between; returns false to stop.
using Poll = std::function<bool(Index)>;

// What tasks say on their threads, told on the calling one.
class Reports {
 public:
  explicit Reports(const Poll& poll) : poll_(poll) {}

  void add(Index members) {
    const std::lock_guard lock(mutex_);
    done_ += members;
    reports_.push_back(done_);
  }

  // Tells what is new; returns whether to go on.
  bool tell() {
    for (Index done = 1; goes_on_ && done > 0; goes_on_ = poll_(done)) done = next();
    return goes_on_;
  }

 private:
  Index next() {
    const std::lock_guard lock(mutex_);
    return told_ < reports_.size() ? reports_[told_++] : 0;
  }

  const Poll& poll_;
  std::mutex mutex_;
  bool goes_on_ = true;
  Index done_ = 0;
  std::vector<Index> reports_;  // members that were done after each task
  std::size_t told_ = 0;        // how many of these were told
};

// Prepares, and then does all tasks as `Workers` does; a task returns how many members it was.
// `poll` is called on the calling thread, every 50 ms and at the end.
inline void run_tasks(Index tasks, Index threads, const std::function<void()>& prepare,
                      const std::function<std::function<Index(Index)>()>& make, const Poll& poll) {
  Reports reports(poll);
  const auto tell = [&] { return reports.tell(); };
  Workers(1, 1).run([&] { return [&](Index) { prepare(); }; }, tell);
  if (!reports.tell()) return;
  Workers(tasks, threads)
      .run([&] { return [&reports, task = make()](Index number) { reports.add(task(number)); }; },
           tell);
  reports.tell();
}

}  // namespace selica
