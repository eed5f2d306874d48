// A chunk of members over their paths of penalties.
//
// At each penalty a member admits the columns that may become active and solves its small problem.
// Then it asks whether a column outside was missed (screening.hpp). A member goes on from penalty
// to penalty until it needs the gradients of all columns, and then waits for the others, so that
// one product serves all of them; unless the design is small enough to stay in the cache.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/stop.hpp"
#include "losses/loss.hpp"
#include "numeric/panel.hpp"
#include "paths/newton.hpp"
#include "paths/opening.hpp"
#include "paths/record.hpp"
#include "paths/screening.hpp"
#include "paths/squares.hpp"

namespace selica {

class Chunk {
 public:
  explicit Chunk(const Problem& problem)
      : problem_(problem), opening_(problem), columns_(problem.columns) {}

  // Solves members first .. first + count - 1.
  void run(Index first, Index count, const Kept& kept, SparseEntries* sparse) {
    const Design& design = *problem_.design;
    const Index bytes = design.screened_bytes();
    // own columns of one member are multiplied alone anyway
    alone_ = problem_.own && !problem_.own_is_shared ? 2 * bytes <= kCachedByAll : bytes <= kCached;
    margin_ = rounding_margin(design.rows());
    few_ = std::max<Index>(8, columns_ / kFew);
    pull_.zeros(padded(std::max(problem_.most_rows, design.rows())));
    full_.zeros(padded(design.rows()));
    const Index together = alone_ ? 1 : count;
    floats_.reserve(together * design.rows());
    if (static_cast<Index>(members_.size()) < together)
      members_.resize(static_cast<std::size_t>(together));
    for (Index m = 0; m < together; ++m)
      if (!at(m).fit) at(m).fit = make_fit();
    const Recorder recorder(problem_, kept, sparse);
    for (Index done = 0; done < count; done += together)
      run_together(first + done, together, recorder, kept);
  }

  // Columns of the design that were read so far, for one member or for several at once.
  Index columns_read() const { return columns_read_ + opening_.columns_read(); }

 private:
  void run_together(Index first, Index count, const Recorder& recorder, const Kept& kept) {
    opening_.open(members_.data(), first, count);
    for (Index m = 0; m < count; ++m) begin(at(m), recorder, kept);

    while (true) {
      asking_.clear();
      for (Index m = 0; m < count; ++m) {
        check_stop();
        go_on(at(m), recorder, kept);
      }
      if (asking_.empty()) return;
      for (std::size_t from = 0; from < asking_.size(); from += kPanelMembers)
        multiply(from, std::min(asking_.size() - from, static_cast<std::size_t>(kPanelMembers)));
      for (Member* m : asking_) {
        if (judge(*m, kept)) finish(*m, recorder);
      }
    }
  }

  enum class Verdict { certified, missing, asking };
  // Bytes of a design that is meant to stay in the cache of a core, or of all cores.
  static constexpr Index kCached = 512'000;
  static constexpr Index kCachedByAll = 16'000'000;
  // One of so many columns may be checked by itself before all are.
  static constexpr Index kFew = 16;
  // How far below the next penalty candidates are looked for, in steps of the penalty. The strong
  // rule has 1, which hardly misses a column; missed ones are found and cheap, needless ones are
  // not.
  static constexpr double kLook = 0.1;

  Member& at(Index m) { return members_[static_cast<std::size_t>(m)]; }

  std::unique_ptr<Fit> make_fit() const {
    if (!problem_.loss) return std::make_unique<Squares>(problem_.fit_intercept);
    return std::make_unique<Newton>(problem_.loss->member(), problem_.fit_intercept);
  }

  void begin(Member& m, const Recorder& recorder, const Kept& kept) {
    if (m.fit->degenerate()) {
      recorder.degenerate(m);
      if (kept.largest != nullptr) kept.largest[m.number] = 0.0;
      m.place = problem_.n_lams;
      return;
    }
    if (!m.fit->centring() && problem_.fit_intercept) {
      WorkingSet& set = m.set;
      set.make_room(1, columns_ + 1);
      std::fill_n(set.column(0), m.count, 1.0);
      std::fill(set.column(0) + m.count, set.column(0) + padded(m.count), 0.0);
      set.which[0] = columns_;
      set.w[0] = set.shift[0] = set.old_w[0][0] = set.old_w[1][0] = 0.0;
      set.k = 1;
      m.fit->admitted(0);
    }
  }

  double lam_at(const Member& m, Index place) const { return problem_.lams_of(m.number)[place]; }

  // Returns the gradient up to which columns are taken to stay inactive, until it is checked.
  double ahead(const Member& m) const {
    const double lam = lam_at(m, m.place);
    if (m.place + 1 >= problem_.n_lams) return lam;
    const double next = lam_at(m, m.place + 1);
    return std::max(next - kLook * (lam - next), 0.0);
  }

  // Follows a member until it asks for gradients of all columns, or is done.
  void go_on(Member& m, const Recorder& recorder, const Kept& kept) {
    while (m.place < problem_.n_lams) {
      check_stop();
      const bool before = m.place < 0;
      const double lam = before ? 1e300 : lam_at(m, m.place);
      const double next = before ? lam : ahead(m);
      if (m.n_listed > 0) admit(m, std::min(lam, next));
      set_penalties(m, before);
      const Solved solved = m.fit->solve(0.5 * problem_.tol * m.unit, problem_.max_iter);
      Verdict verdict = Verdict::asking;
      if (!before) {
        recorder.progress(m, solved);
        verdict = few_or_all(m, lam, next);
      } else {
        m.fit->write_pull(pull_.data());
      }
      if (verdict == Verdict::asking) {
        m.newest = 1 - m.newest;
        m.norm[m.newest] = std::sqrt(solved.square);
        m.fit->remember(m.newest);
        keep_pull(m);
        if (!alone_) {
          asking_.push_back(&m);
          return;
        }
        multiply_alone(m, floats_.data());
        verdict = judge(m, kept) ? Verdict::certified : Verdict::missing;
      }
      if (verdict == Verdict::certified) finish(m, recorder);
    }
  }

  // Moves on to the next penalty.
  void finish(Member& m, const Recorder& recorder) {
    if (m.place >= 0 && !recorder.finish(m))
      m.place = problem_.n_lams;
    else
      ++m.place;
  }

  // Counts the first listed columns of the design as read.
  void count_read(const Member& m, Index listed) {
    const Index p = problem_.design->columns();
    for (Index c = 0; c < listed; ++c) columns_read_ += m.listed[c] < p;
  }

  // Lets the listed columns in.
  void admit(Member& m, double bar) {
    WorkingSet& set = m.set;
    const Index active = std::max<Index>(set.active, 0);
    if (set.k + m.n_listed > set.room || set.k > active + active / 4 + 48) compact(m, bar);
    set.make_room(set.k + m.n_listed, columns_ + 1);
    const Index from = set.k;
    for (Index c = 0; c < m.n_listed; ++c) {
      const Index j = m.listed[c], i = set.k + c;
      m.write_column(*problem_.design, j, problem_.centred, i);
      set.which[i] = j;
      set.w[i] = set.old_w[0][i] = set.old_w[1][i] = 0.0;
      m.slot[j] = static_cast<std::int32_t>(i);
    }
    set.k += m.n_listed;
    count_read(m, m.n_listed);
    m.n_listed = 0;
    m.fit->admitted(from);
  }

  // Removes columns without a coefficient, now or where gradients were computed, whose gradient is
  // below the bar.
  void compact(Member& m, double bar) {
    WorkingSet& set = m.set;
    place_.reserve(set.k);
    Index size = 0;
    for (Index i = 0; i < set.k; ++i) {
      const Index j = set.which[i];
      const bool had = set.old_w[0][i] != 0.0 || set.old_w[1][i] != 0.0 || set.w[i] != 0.0;
      const double least = j < columns_ ? 0.9 * bar * m.penalty[j] : 0.0;
      const bool stays = had || !(std::abs(set.q[i]) < least);
      place_[i] = stays ? size++ : -1;
      if (!stays) m.slot[j] = -1;
    }
    if (size == set.k) return;
    for (Index i = 0; i < set.k; ++i) {
      const Index t = place_[i];
      if (t < 0) continue;
      if (t < i) {
        std::copy_n(set.column(i), set.length, set.column(t));
        for (Buffer<double>* each : {&set.square, &set.b, &set.w, &set.q, &set.shift, &set.old_w[0],
                                     &set.old_w[1], &set.old_q[0], &set.old_q[1]})
          (*each)[t] = (*each)[i];
        set.which[t] = set.which[i];
        if (set.which[t] < columns_) m.slot[set.which[t]] = static_cast<std::int32_t>(t);
      }
      const double* from = set.gram_row(i);
      double* to = set.gram_row(t);
      for (Index j = 0; j < set.k; ++j)
        if (place_[j] >= 0) to[place_[j]] = from[j];
    }
    for (Index i = 0; i < set.active; ++i) set.order[i] = place_[set.order[i]];
    set.k = size;
  }

  void set_penalties(Member& m, bool before) {
    WorkingSet& set = m.set;
    const double lam = before ? 0.0 : lam_at(m, m.place);
    const double lam2 = problem_.lam2_of(m.number)[std::max<Index>(m.place, 0)];
    for (Index i = 0; i < set.k; ++i) {
      const Index j = set.which[i];
      const bool constant = j == columns_;
      // before the path whatever has a penalty must stay at zero
      const double factor = constant ? 0.0 : m.penalty[j];
      set.penalty[i] = factor == 0.0 ? 0.0 : before ? kForbidding : lam * factor;
      set.ridge[i] = constant ? 0.0 : lam2 * m.ridge[j];
    }
  }

  // Decides with a few exact gradients, or asks for all; leaves the residual in pull_ if it asks.
  Verdict few_or_all(Member& m, double lam, double next) {
    Line line = m.fit->line(m.newest);
    line.rest += margin_ * (std::abs(1.0 + line.t) * m.norm[m.newest] +
                            std::abs(line.t) * m.norm[1 - m.newest]);
    line.rest *= m.pull_scale;
    const Index open = list_open(m, columns_, line, std::min(lam, next) / m.reference, few_);
    if (open == 0) return Verdict::certified;
    m.fit->write_pull(pull_.data());
    if (open > few_) return Verdict::asking;
    count_read(m, open);
    double pulled = 0.0;
    for (Index i = 0; i < m.count; ++i) {
      full_[m.rows[i]] = pull_[i];
      pulled += pull_[i];
    }
    const Listing found =
        settle(m, *problem_.design, full_.data(), pulled, problem_.centred, lam, next, open);
    for (Index i = 0; i < m.count; ++i) full_[m.rows[i]] = 0.0;
    m.n_listed = found.listed;
    return found.missing > 0 ? Verdict::missing : Verdict::certified;
  }

  // Puts the residual in pull_ among those that will be multiplied.
  void keep_pull(Member& m) {
    const Index n = problem_.design->rows();
    const Index slot = alone_ ? 0 : static_cast<Index>(asking_.size());
    float* to = floats_.data() + slot * n;
    std::fill_n(to, n, 0.0F);
    for (Index i = 0; i < m.count; ++i) to[m.rows[i]] = static_cast<float>(pull_[i] * m.pull_scale);
  }

  void multiply_alone(Member& m, const float* residual) {
    float* out = m.gradient[m.newest].data();
    problem_.design->multiply_alone(residual, out);
    columns_read_ += problem_.design->columns();
    if (m.own) m.own->multiply_alone(residual, out + problem_.design->columns());
  }

  // Multiplies all columns with the residuals of asking members from .. from + count - 1.
  void multiply(std::size_t from, std::size_t count) {
    const Index n = problem_.design->rows();
    const float* residuals = floats_.data() + static_cast<Index>(from) * n;
    multiply_together(*problem_.design, from, count, residuals, 0);
    if (!problem_.own) return;
    // neighbours may have the same own columns
    for (std::size_t r = 0, last = 0; r < count; r = last) {
      const Design* own = asking_[from + r]->own.get();
      while (last < count && asking_[from + last]->own.get() == own) ++last;
      multiply_together(*own, from + r, last - r, residuals + static_cast<Index>(r) * n,
                        problem_.design->columns());
    }
  }

  // Multiplies the columns of one design; products go behind the first `behind` of each member.
  void multiply_together(const Design& design, std::size_t from, std::size_t count,
                         const float* residuals, Index behind) {
    const Index n = design.rows(), some = static_cast<Index>(count);
    const bool shared = behind == 0;  // whether it is the design of all members
    if (some < 3) {
      for (Index r = 0; r < some; ++r) {
        Member& m = *asking_[from + static_cast<std::size_t>(r)];
        if (shared) columns_read_ += design.columns();
        design.multiply_alone(residuals + r * n, m.gradient[m.newest].data() + behind);
      }
      return;
    }
    const Index width = panel_width(some);
    float* beside = beside_.reserve(n * width);
    for (Index i = 0; i < n; ++i) {
      for (Index r = 0; r < some; ++r) beside[i * width + r] = residuals[r * n + i];
      for (Index r = some; r < width; ++r) beside[i * width + r] = 0.0F;
    }
    std::vector<float*> out;
    for (std::size_t r = 0; r < count; ++r) {
      Member& m = *asking_[from + r];
      out.push_back(m.gradient[m.newest].data() + behind);
    }
    design.multiply({beside, width, some}, out.data());
    if (shared) columns_read_ += design.columns();
  }

  // Checks the gradients of all columns; returns whether none was missed.
  bool judge(Member& m, const Kept& kept) {
    const double slack = margin_ * m.norm[m.newest] * m.pull_scale;
    double lam = std::numeric_limits<double>::infinity(), next = 0.0;
    if (m.place < 0) {
      const double top = largest(m, kept, slack), first = lam_at(m, 0);
      next = std::min(std::max(2.0 * first - top, 0.0), first);
      const int other = 1 - m.newest;
      std::copy_n(m.gradient[m.newest].data(), columns_, m.gradient[other].data());
      m.norm[other] = m.norm[m.newest];
      m.fit->remember_twice(m.newest);
    } else {
      lam = lam_at(m, m.place);
      next = ahead(m);
    }
    const Listing found = list_screened(m, columns_, slack, lam / m.reference, next / m.reference,
                                        std::max<Index>(64, m.set.k), strength_);
    m.n_listed = found.listed;
    return found.missing == 0;
  }

  // Returns the smallest penalty at which nothing is selected, from the screened gradients at the
  // fit without variables; exactly, where it is kept.
  double largest(Member& m, const Kept& kept, double slack) {
    const float* value = m.gradient[m.newest].data();
    double top = 0.0, sure = 0.0;  // the largest, and what rounding leaves of it
    for (Index j = 0; j < columns_; ++j) {
      const double size = static_cast<double>(std::abs(value[j]) * m.inverse[j]);
      top = std::max(top, size);
      if (m.inverse[j] > 2e-30F)  // which is no number that was raised to what floats can hold
        sure = std::max(sure, size - slack * static_cast<double>(m.reach[j]));
    }
    if (kept.largest == nullptr) return top * m.reference;
    m.fit->write_pull(pull_.data());
    double pulled = 0.0;
    for (Index i = 0; i < m.count; ++i) {
      full_[m.rows[i]] = pull_[i];
      pulled += pull_[i];
    }
    const Index p = problem_.design->columns();
    double exact = 0.0;
    for (Index j = 0; j < columns_; ++j) {
      const double size = static_cast<double>(std::abs(value[j]) * m.inverse[j]);
      const double give = slack * static_cast<double>(m.reach[j]) + 1e-5 * sure;
      const bool screened = m.inverse[j] != 0.0F,
                 counts = m.penalty[j] > 0.0 && m.penalty[j] < 1e300;
      if (!counts || (screened && size + give < sure)) continue;
      double product = m.product(*problem_.design, j, full_.data());
      columns_read_ += j < p;
      if (problem_.centred)
        product -= (j < p ? problem_.design->centre(j) : m.own->centre(j - p)) * pulled;
      exact = std::max(exact, std::abs(product) / m.penalty[j]);
    }
    for (Index i = 0; i < m.count; ++i) full_[m.rows[i]] = 0.0;
    kept.largest[m.number] = exact;
    return top * m.reference;
  }

  // A penalty that keeps a coefficient at zero.
  static constexpr double kForbidding = 1e300;

  const Problem& problem_;
  Opening opening_;
  Index columns_;
  double margin_ = 0.0;
  Index few_ = 8;
  Index columns_read_ = 0;
  bool alone_ = false;
  std::vector<Member> members_;
  std::vector<Member*> asking_;
  std::vector<float> strength_;
  Buffer<double> pull_, full_;
  Buffer<float> floats_, beside_;
  Buffer<Index> place_;
};

}  // namespace selica
