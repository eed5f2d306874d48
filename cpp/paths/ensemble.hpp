// All members of an ensemble, in chunks, on threads.
//
// Which members go together follows from the problem alone, and what is added over members is added
// in the order of the chunks: the answer does not depend on the threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "base/stop.hpp"
#include "base/threads.hpp"
#include "paths/chunk.hpp"

namespace selica {

// What decides how many members go through the path together.
struct Sizes {
  Index rows, columns;  // of the design
  Index own;            // columns of each member alone
  bool own_is_shared;   // or of several members
  Index members;
  Index most_rows;    // of positive weight in any member
  Index max_active;   // of a member, below zero where there is no limit
  double most_bytes;  // of a chunk, if that is enough for a few members
};

// A product with the design serves all members of a chunk, but what they keep of themselves
// (columns, Gram matrix, factor) should stay in the cache: few members for a small design, more for
// a large one, which has to be read again for each product.
inline Index members_per_chunk(const Sizes& s) {
  constexpr double kCache = 32e6;  // a design below this is not read from memory again
  constexpr Index kTogether = 8;   // as many as a product takes at once
  constexpr Index kFewest = 4;     // where memory is short
  constexpr Index kMost = 32;
  const double n = static_cast<double>(s.rows), rows = static_cast<double>(s.most_rows);
  const double columns = static_cast<double>(s.columns + s.own);
  const Index members = std::max<Index>(s.members, 1);
  // size of a working set
  double guess = std::min(0.7 * rows, 0.1 * columns) + 16.0;
  if (s.max_active >= 0) guess = std::min(guess, 1.25 * static_cast<double>(s.max_active) + 48.0);
  const double own = 1.5 * n * static_cast<double>(s.own) * (s.own_is_shared ? 0.1 : 1.0);
  const double each = 8.0 * (guess * (rows + 2.0 * guess) + 5.0 * columns + own);
  const double screened = 4.0 * n * static_cast<double>(s.columns);
  const double most = std::min(s.most_bytes / each, static_cast<double>(kMost));
  const Index fitting = std::max(kFewest, static_cast<Index>(most));
  Index size = screened < kCache ? std::min(kTogether, fitting) : fitting;
  size = std::min(size, (members + 1) / 2);  // two threads have something to do
  const Index chunks = (members + size - 1) / size;
  return (members + chunks - 1) / chunks;  // chunks of equal size
}

class Ensemble {
 public:
  // `size` members go together.
  Ensemble(const Problem& problem, const Kept& kept, bool sparse, Index size, Index threads)
      : problem_(problem),
        kept_(kept),
        sparse_(sparse),
        size_(size),
        chunks_((problem.members + size_ - 1) / size_),
        threads_(std::clamp<Index>(threads, 1, std::max<Index>(chunks_, 1))) {
    entries_.resize(static_cast<std::size_t>(chunks_));
  }

  // Solves all members. `poll` is called on the calling thread whenever a chunk is done, with the
  // number of members that are, and every 50 ms, with 0; it returns false to stop. Throws what a
  // member threw. `prepare` is called before, on another thread, so that it can be stopped too.
  void run(const std::function<bool(Index)>& poll, std::function<void()> prepare = {}) {
    prepare_ = std::move(prepare);
    std::vector<std::thread> workers = start_threads(threads_, stop_, [this] { work(); });
    bool goes_on = true;
    {
      std::unique_lock lock(mutex_);
      while (finished_ < threads_ || told_ < reports_.size()) {
        if (told_ == reports_.size()) news_.wait_for(lock, std::chrono::milliseconds(50));
        const Index done = told_ < reports_.size() ? reports_[told_++] : 0;
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
  }

  // How often the design was read, in units of all its columns: once to prepare it, by all chunks,
  // and single columns as they were asked for. Members that are multiplied together count once.
  double passes() const {
    const double columns = static_cast<double>(std::max<Index>(problem_.design->columns(), 1));
    return static_cast<double>(columns_read_) / columns;
  }

  bool stopped() const { return stop_.is_set(); }
  const std::vector<SparseEntries>& entries() const { return entries_; }

 private:
  // Sums over the members of a chunk.
  struct Moments {
    std::vector<double> total, square;
  };

  void work() {
    try {
      const StopScope scope(stop_);
      std::call_once(prepared_, [this] {
        if (!prepare_) return;
        prepare_();
        const std::lock_guard lock(mutex_);
        columns_read_ += problem_.design->columns();
      });
      Chunk chunk(problem_, stop_);
      while (true) {
        const Index number = next_.fetch_add(1);
        if (number >= chunks_ || stop_.is_set()) break;
        const Index first = number * size_;
        const Index count = std::min(size_, problem_.members - first);
        Kept kept = kept_;
        Moments moments;
        if (kept_.total != nullptr) {
          const std::size_t cells = static_cast<std::size_t>(problem_.n_lams * problem_.columns);
          moments.total.assign(cells, 0.0);
          moments.square.assign(cells, 0.0);
          kept.total = moments.total.data();
          kept.square = moments.square.data();
        }
        SparseEntries* sparse = sparse_ ? &entries_[static_cast<std::size_t>(number)] : nullptr;
        const Index before = chunk.columns_read();
        chunk.run(first, count, kept, sparse);
        finish(number, count, chunk.columns_read() - before, std::move(moments));
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

  void finish(Index number, Index count, Index columns_read, Moments moments) {
    const std::lock_guard lock(mutex_);
    columns_read_ += columns_read;
    done_ += count;
    reports_.push_back(done_);
    if (kept_.total != nullptr) {
      waiting_.emplace(number, std::move(moments));
      for (auto it = waiting_.find(added_); it != waiting_.end(); it = waiting_.find(added_)) {
        for (std::size_t i = 0; i < it->second.total.size(); ++i) {
          kept_.total[i] += it->second.total[i];
          kept_.square[i] += it->second.square[i];
        }
        waiting_.erase(it);
        ++added_;
      }
    }
    news_.notify_all();
  }

  const Problem& problem_;
  Kept kept_;
  bool sparse_;
  Index size_;
  Index chunks_;
  Index threads_;
  StopFlag stop_;
  std::function<void()> prepare_;
  std::once_flag prepared_;
  std::atomic<Index> next_{0};
  std::mutex mutex_;
  std::condition_variable news_;
  Index finished_ = 0;
  Index done_ = 0;
  Index columns_read_ = 0;
  std::vector<Index> reports_;  // members that were done after each chunk
  std::size_t told_ = 0;        // how many of these were told
  Index added_ = 0;
  std::map<Index, Moments> waiting_;
  std::exception_ptr error_;
  std::vector<SparseEntries> entries_;
};

}  // namespace selica
