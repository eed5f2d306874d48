// All members of an ensemble, in chunks, on threads.
//
// Which members go together follows from the problem alone, and what is added over members is added
// in the order of the chunks: the answer does not depend on the threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "paths/chunk.hpp"
#include "paths/tasks.hpp"

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
        threads_(threads) {
    entries_.resize(static_cast<std::size_t>(chunks_));
  }

  // Solves all members. `poll` is told of every chunk that is done, on the calling thread, and
  // returns false to stop. Throws what a member threw. `prepare` is called before.
  void run(const Poll& poll, const std::function<void()>& prepare = {}) {
    const auto prepared = [&] {
      if (!prepare) return;
      prepare();
      columns_read_ += problem_.design->columns();
    };
    const auto make = [this] {
      auto chunk = std::make_shared<Chunk>(problem_);
      return [this, chunk](Index number) { return solve(*chunk, number); };
    };
    run_tasks(chunks_, threads_, prepared, make, poll);
  }

  // How often the design was read, in units of all its columns: once to prepare it, by all chunks,
  // and single columns as they were asked for. Members that are multiplied together count once.
  double passes() const {
    const double columns = static_cast<double>(std::max<Index>(problem_.design->columns(), 1));
    return static_cast<double>(columns_read_) / columns;
  }

  const std::vector<SparseEntries>& entries() const { return entries_; }

 private:
  // Sums over the members of a chunk.
  struct Moments {
    std::vector<double> total, square;
  };

  // Solves the members of a chunk; returns how many they are.
  Index solve(Chunk& chunk, Index number) {
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
    add(number, chunk.columns_read() - before, std::move(moments));
    return count;
  }

  void add(Index number, Index columns_read, Moments moments) {
    const std::lock_guard lock(mutex_);
    columns_read_ += columns_read;
    if (kept_.total == nullptr) return;
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

  const Problem& problem_;
  Kept kept_;
  bool sparse_;
  Index size_;
  Index chunks_;
  Index threads_;
  std::mutex mutex_;
  Index columns_read_ = 0;
  Index added_ = 0;  // chunks whose sums were added
  std::map<Index, Moments> waiting_;
  std::vector<SparseEntries> entries_;
};

}  // namespace selica
