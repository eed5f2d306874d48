// Writes the answer of one member at one penalty to what is kept.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#include "paths/kept.hpp"
#include "paths/member.hpp"

namespace selica {

// What is written for any number of classes.
class AnyRecorder {
 public:
  // Sums over members go to `counts`, `total` and `square` of `kept`; entries, if wanted, to
  // sparse.
  AnyRecorder(const Problem& problem, const Kept& kept, SparseEntries* sparse)
      : problem_(problem), kept_(kept), sparse_(sparse) {}

  void progress(const Member& m, const Solved& solved) const {
    const Index at = place(m);
    kept_.iterations[at] += solved.steps;
    kept_.gap[at] = solved.gap / std::max(m.unit, 1e-300);
    kept_.kkt[at] = solved.kkt;
    set(at, solved.failed ? Status::failed : Status::converged);
  }

 protected:
  Index place(const Member& m) const { return m.number * problem_.n_lams + m.place; }
  void set(Index at, Status status) const { kept_.status[at] = static_cast<std::int8_t>(status); }

  // Returns whether a member with so many active columns stops before this answer.
  bool stops(Index at, Index active) const {
    if (problem_.max_active >= 0 && active > problem_.max_active) {
      kept_.gap[at] = kept_.kkt[at] = std::numeric_limits<double>::quiet_NaN();
      kept_.iterations[at] = 0;
      set(at, Status::stopped);
      return true;
    }
    if (!(kept_.gap[at] <= problem_.tol)) set(at, Status::failed);
    kept_.n_active[at] = active;
    return false;
  }

  // Keeps that a column is selected, and its sparse entry.
  void select(const Member& m, Index j, double entry) const {
    const Index columns = problem_.columns;
    if (kept_.counts != nullptr)  // other threads count too; sums of integers have no order
      std::atomic_ref(kept_.counts[m.place * columns + j]).fetch_add(1, std::memory_order_relaxed);
    if (kept_.entry != nullptr && kept_.entry[m.number * columns + j] == 0.0)
      kept_.entry[m.number * columns + j] = problem_.lams_of(m.number)[m.place];
    if (sparse_ != nullptr) {
      sparse_->rows.push_back(place(m));
      sparse_->columns.push_back(j);
      sparse_->values.push_back(entry);
    }
  }

  // Writes, at one penalty, that there is nothing to fit.
  void nothing(Index at) const {
    kept_.gap[at] = kept_.kkt[at] = 0.0;
    kept_.n_active[at] = 0;
    set(at, Status::degenerate);
  }

  const Problem& problem_;
  const Kept& kept_;
  SparseEntries* sparse_;
};

class Recorder : public AnyRecorder {
 public:
  using AnyRecorder::AnyRecorder;

  // Keeps a certified answer; returns false where the member stops before it.
  bool finish(const Member& m) const {
    Index active = 0;
    for (Index i = 0; i < m.set.k; ++i)
      active += m.set.w[i] != 0.0 && m.set.which[i] < problem_.columns;
    if (stops(place(m), active)) return false;
    write(m, place(m));
    return true;
  }

  // Writes zeros for a member without anything to fit.
  void degenerate(const Member& m) const {
    for (Index l = 0; l < problem_.n_lams; ++l) {
      const Index at = m.number * problem_.n_lams + l;
      nothing(at);
      kept_.intercept[at] = 0.0;
    }
  }

 private:
  void write(const Member& m, Index at) const {
    const Index columns = problem_.columns;
    double constant = m.fit->base();
    for (Index i = 0; i < m.set.k; ++i) {
      const double value = m.set.w[i];
      const Index j = m.set.which[i];
      if (j == columns) {  // the intercept
        constant += value;
        continue;
      }
      if (value == 0.0) continue;
      constant -= m.set.shift[i] * value;
      if (kept_.coef != nullptr) kept_.coef[at * columns + j] = value;
      if (kept_.total != nullptr) {
        kept_.total[m.place * columns + j] += value;
        kept_.square[m.place * columns + j] += value * value;
      }
      select(m, j, value);
    }
    kept_.intercept[at] = problem_.fit_intercept ? constant : 0.0;
  }
};

}  // namespace selica
