// One member with several classes over its path of penalties.
//
// At each penalty the member admits the columns that may become active and solves its small problem
// (multinomial_fit.hpp); then it asks whether a column outside was missed
// (multinomial_screening.hpp) and repeats until none was. A gap of the small problem is then one of
// the whole.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base/stop.hpp"
#include "paths/multinomial_record.hpp"
#include "paths/multinomial_screening.hpp"
#include "paths/opening.hpp"

namespace selica {

class MultinomialPath {
 public:
  MultinomialPath(const Problem& problem, Index n_classes, bool group)
      : problem_(problem),
        n_classes_(n_classes),
        opening_(problem),
        screening_(*problem.design),
        columns_(problem.columns) {
    auto fit = std::make_unique<MultinomialFit>(n_classes, group, columns_);
    fit_ = fit.get();
    member_.fit = std::move(fit);
    few_ = std::max<Index>(4, columns_ / kFew);
    margin_ = rounding_margin(problem.design->rows());
    pull_.zeros(n_classes * padded(problem.most_rows));
  }

  void run(Index number, const Kept& kept, SparseEntries* sparse) {
    Member& m = member_;
    MultinomialRecorder recorder(problem_, kept, sparse, n_classes_);
    opening_.open(&m, number, 1);
    if (fit_->degenerate()) {
      recorder.degenerate(m, *fit_);
      return;
    }
    screening_.open(fit_->charge());
    for (Buffer<float>& each : m.gradient) std::fill_n(each.data(), columns_, 0.0F);
    newest_ = 0;
    begin();
    for (m.place = -1; m.place < problem_.n_lams; ++m.place) {
      solve(recorder);
      if (m.place < 0) kept.largest[number] = largest();
      if (m.place >= 0 && !recorder.finish(m, *fit_)) return;
    }
  }

  // Columns of the design that were read, those of products with all columns included.
  Index columns_read() const {
    return columns_read_ + opening_.columns_read() + screening_.columns_read();
  }

 private:
  // One of so many columns may be checked by itself before all are.
  static constexpr Index kFew = 64;
  // How far below the next penalty candidates are looked for, in steps of the penalty.
  static constexpr double kLook = 0.1;
  // A penalty that keeps a coefficient at zero.
  static constexpr double kForbidding = 1e300;

  // Makes the constant variable 0 of the working set.
  void begin() {
    WorkingSet& set = member_.set;
    set.make_room(1, columns_ + 1);
    std::fill_n(set.column(0), member_.count, 1.0);
    std::fill(set.column(0) + member_.count, set.column(0) + padded(member_.count), 0.0);
    set.which[0] = columns_;
    set.shift[0] = 0.0;
    set.k = 1;
    fit_->admitted(0);
  }

  // Solves at the present penalty, until no column is missing.
  void solve(const MultinomialRecorder& recorder) {
    for (bool first = true;; first = false) {
      check_stop();
      if (member_.n_listed > 0) {
        if (first) compact();  // later ones may be those that were missing
        admit();
      }
      set_penalties();
      const Solved solved = fit_->solve(0.1 * problem_.tol * member_.unit, problem_.max_iter);
      if (member_.place >= 0) recorder.progress(member_, solved);
      if (certified(std::sqrt(solved.square))) return;
    }
  }

  double lam_at(Index place) const { return problem_.lams_of(member_.number)[place]; }

  // Returns the gradient up to which columns are taken to stay inactive, until it is checked.
  double ahead() const {
    const double lam = lam_at(member_.place);
    if (member_.place + 1 >= problem_.n_lams) return lam;
    const double next = lam_at(member_.place + 1);
    return std::max(next - kLook * (lam - next), 0.0);
  }

  void set_penalties() {
    Member& m = member_;
    const bool before = m.place < 0;
    const double lam = before ? 0.0 : lam_at(m.place);
    const double lam2 = problem_.lam2_of(m.number)[std::max<Index>(m.place, 0)];
    m.set.penalty[0] = m.set.ridge[0] = 0.0;
    for (Index i = 1; i < m.set.k; ++i) {
      const Index j = m.set.which[i];
      // before the path whatever has a penalty must stay at zero
      m.set.penalty[i] = m.penalty[j] == 0.0 ? 0.0 : before ? kForbidding : lam * m.penalty[j];
      m.set.ridge[i] = lam2 * m.ridge[j];
    }
  }

  // Lets the listed columns in.
  void admit() {
    Member& m = member_;
    m.set.make_room(m.set.k + m.n_listed, columns_ + 1);
    const Index from = m.set.k;
    columns_read_ += m.n_listed;
    for (Index c = 0; c < m.n_listed; ++c) {
      const Index j = m.listed[c], i = from + c;
      m.write_column(*problem_.design, j, true, i);
      m.set.which[i] = j;
      m.slot[j] = static_cast<std::int32_t>(i);
    }
    m.set.k += m.n_listed;
    m.n_listed = 0;
    fit_->admitted(from);
  }

  // Removes variables without a coefficient whose gradient is far below the penalty, where they
  // are many.
  void compact() {
    Member& m = member_;
    WorkingSet& set = m.set;
    const double bar = m.place < 0 ? 0.0 : 0.9 * std::min(lam_at(m.place), ahead());
    const auto idle = [&](Index i) {
      const Index j = set.which[i];
      if (j == columns_ || m.penalty[j] == 0.0) return false;
      return fit_->charge().charged(fit_->unknowns(i)) == 0.0 &&
             fit_->charge().size(fit_->gradient(i)) < bar * m.penalty[j];
    };
    Index left = 0;
    places_.reserve(set.k);
    for (Index i = 0; i < set.k; ++i) places_[i] = idle(i) ? -1 : left++;
    if (set.k <= left + left / 4 + 16) return;
    for (Index i = 0; i < set.k; ++i) {
      const Index to = places_[i], j = set.which[i];
      if (j < columns_) m.slot[j] = static_cast<std::int32_t>(to);
      if (to < 0 || to == i) continue;
      std::copy_n(set.column(i), set.length, set.column(to));
      set.which[to] = j;
      set.shift[to] = set.shift[i];
    }
    fit_->compacted(places_.data(), set.k);
    set.k = left;
  }

  // Returns whether no column was missed, by bounds, by a few exact gradients, or by those of all
  // columns; lists columns to admit. `norm` is that of the residual.
  bool certified(double norm) {
    Member& m = member_;
    const bool before = m.place < 0;
    const double lam = before ? std::numeric_limits<double>::infinity() : lam_at(m.place);
    double next = before ? 0.0 : ahead();
    fit_->write_pull(pull_.data());
    if (!before) {
      Line line = fit_->line(newest_);
      line.rest += margin_ * (std::abs(1.0 + line.t) * norm_[newest_] +
                              std::abs(line.t) * norm_[1 - newest_]);
      screening_.write_sizes(m, newest_, line.t);
      const Line bound{0.0, line.rest * m.pull_scale};
      const Index open = list_open(m, columns_, bound, std::min(lam, next) / m.reference, few_);
      if (open <= few_) return settle(open, lam, next);
    }
    newest_ = 1 - newest_;
    norm_[newest_] = norm;
    fit_->remember(newest_);
    screening_.multiply(m, pull_.data(), newest_);
    if (before) {
      screening_.copy(newest_);
      fit_->remember_twice(newest_);
      norm_[1 - newest_] = norm;
    }
    screening_.write_sizes(m, newest_, 0.0);
    if (before) {
      const double top = screened_largest(), first = lam_at(0);
      next = std::min(std::max(2.0 * first - top, 0.0), first);
    }
    const Listing found =
        list_screened(m, columns_, margin_ * norm * m.pull_scale, lam / m.reference,
                      next / m.reference, std::max<Index>(32, m.set.k), strength_);
    m.n_listed = found.listed;
    return found.missing == 0;
  }

  // Decides with the exact gradients of the listed columns.
  bool settle(Index count, double lam, double next) {
    Member& m = member_;
    Index kept = 0, missing = 0;
    for (Index c = 0; c < count; ++c) {
      const Index j = m.listed[c];
      const double size = screening_.exact(m, j, pull_.data()) / m.penalty[j];
      if (size > lam) {
        if (missing == 0) kept = 0;
        ++missing;
      } else if (missing > 0 || size < next) {
        continue;
      }
      m.listed[kept++] = static_cast<std::int32_t>(j);
    }
    m.n_listed = kept;
    return missing == 0;
  }

  double screened_largest() const {
    const float* size = member_.gradient[member_.newest].data();
    float top = 0.0F;
    for (Index j = 0; j < columns_; ++j) top = std::max(top, size[j] * member_.inverse[j]);
    return static_cast<double>(top) * member_.reference;
  }

  // Returns the smallest penalty at which nothing is selected, from exact gradients where those
  // in single precision leave it open.
  double largest() {
    const Member& m = member_;
    const float* size = m.gradient[m.newest].data();
    const double top = screened_largest() / m.reference;
    const double slack = 2.0 * margin_ * norm_[newest_] * m.pull_scale;
    double exact = 0.0;
    for (Index j = 0; j < columns_; ++j) {
      const double reached = static_cast<double>(size[j] * m.inverse[j]) +
                             slack * static_cast<double>(m.reach[j]) + 1e-5 * top;
      if (m.inverse[j] == 0.0F || reached < top) continue;
      exact = std::max(exact, screening_.exact(m, j, pull_.data()) / m.penalty[j]);
    }
    return exact;
  }

  const Problem& problem_;
  Index n_classes_;
  Opening opening_;
  MultinomialScreening screening_;
  Index columns_;
  Index columns_read_ = 0;
  Member member_;
  MultinomialFit* fit_ = nullptr;
  double margin_ = 0.0;
  Index few_ = 4;
  int newest_ = 0;  // of the fits where all gradients were computed
  double norm_[2] = {0.0, 0.0};
  Buffer<double> pull_;
  Buffer<Index> places_;
  std::vector<float> strength_;
};

}  // namespace selica
