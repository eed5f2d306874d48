// All members of an ensemble with several classes, one by one, on threads. Members are independent
// and only whole numbers are added over them: the answer does not depend on the threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "paths/multinomial_path.hpp"
#include "paths/tasks.hpp"

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
        threads_(threads) {
    entries_.resize(static_cast<std::size_t>(problem.members));
  }

  // Prepares the design and solves all members. `poll` is told of every member that is done, on
  // the calling thread, and returns false to stop. Throws what a member threw.
  void run(const Poll& poll, const std::function<void()>& prepare) {
    const auto make = [this] {
      auto path = std::make_shared<MultinomialPath>(problem_, n_classes_, group_);
      return [this, path](Index number) {
        const Index before = path->columns_read();
        path->run(number, kept_, sparse_ ? &entries_[static_cast<std::size_t>(number)] : nullptr);
        columns_read_ += path->columns_read() - before;
        return Index{1};
      };
    };
    run_tasks(problem_.members, threads_, prepare, make, poll);
  }

  // How often the design was read, in units of all its columns: once to prepare it, and by each
  // member.
  double passes() const {
    const double columns = static_cast<double>(std::max<Index>(problem_.design->columns(), 1));
    return 1.0 + static_cast<double>(columns_read_) / columns;
  }

  const std::vector<SparseEntries>& entries() const { return entries_; }

 private:
  const Problem& problem_;
  Index n_classes_;
  bool group_;
  Kept kept_;
  bool sparse_;
  Index threads_;
  std::atomic<Index> columns_read_{0};
  std::vector<SparseEntries> entries_;
};

}  // namespace selica
