// A member with several classes on its working set: proximal Newton steps in all classes together.
//
//   minimise  L(a + X W) + sum_j penalty_j charge(W_j) + sum_j ridge_j / 2 |W_j|_2^2
//
// with the softmax loss L (losses/multinomial.hpp) and the charge "each" or "group". As in
// newton.hpp the model of a step has second derivatives at a reference that serves several steps
// and penalties; it is an exact small lasso ("each") or group lasso. A step is halved until the
// objective falls, and then the constants a of the classes are fitted exactly.
//
// Certificate: objective less dual objective at kappa times the derivative of the loss, kappa <= 1
// so small that no gradient exceeds its penalty. What gradients without a penalty miss of zero is
// added to the gap. Stops where the gap is small enough, or where rounding ends the progress.
#pragma once

#include <algorithm>
#include <cmath>

#include "losses/multinomial.hpp"
#include "paths/fit.hpp"
#include "paths/multinomial_curvature.hpp"
#include "paths/multinomial_group.hpp"
#include "quadratic/solve.hpp"

namespace selica {

class MultinomialFit final : public Fit {
 public:
  // Variable 0 of the working set is the constant; there are `columns` others.
  MultinomialFit(Index n_classes, bool group, Index columns)
      : n_classes_(n_classes), group_(group), columns_(columns) {}

  double open(const MemberRows& rows, const double*, WorkingSet& set) override {
    set_ = &set;
    rows_ = rows;
    size_ = padded(rows.count);
    loss_.open(rows, n_classes_);
    referred_ = settled_ = false;
    unknowns_.open(0);
    if (loss_.degenerate()) return 1.0;
    charge_.open(loss_.classes(), group_);
    for (Buffer<double>* each : {&eta_, &before_eta_, &move_, &pull_, &old_[0], &old_[1]})
      each->zeros(loss_.classes() * size_);
    shift_.reserve(loss_.classes());
    unit_ = loss_.null();
    return unit_;
  }

  bool degenerate() const override { return loss_.degenerate(); }
  bool rooted() const override { return false; }
  bool centring() const override { return false; }
  const Multinomial& loss() const { return loss_; }
  const Charge& charge() const { return charge_; }

  // The unknowns of variable i of the working set, and their gradients without that of a ridge.
  const double* unknowns(Index i) const { return unknowns_.w.data() + i * charge_.unknowns(); }
  const double* gradient(Index i) const { return unknowns_.q.data() + i * charge_.unknowns(); }

  void admitted(Index from) override {
    const Index m = charge_.unknowns(), size = set_->k * m;
    unknowns_.make_room(size, (columns_ + 1) * m);
    std::fill(unknowns_.w.data() + from * m, unknowns_.w.data() + size, 0.0);
    unknowns_.k = size;
    if (referred_) refer(from);
  }

  // Variable i of the working set becomes variable places[i], or leaves where that is below zero.
  void compacted(const Index* places, Index count) {
    const Index m = charge_.unknowns();
    WorkingSet& u = unknowns_;
    Index left = 0;
    for (Index i = 0; i < count; ++i) {
      if (places[i] < 0) continue;
      ++left;
      for (Index s = 0; s < m; ++s) {
        const Index from = i * m + s, to = places[i] * m + s;
        for (Buffer<double>* each : {&u.w, &u.q, &u.square}) (*each)[to] = (*each)[from];
        if (!referred_) continue;
        const double* row = u.gram_row(from);
        for (Index l = 0; l < count; ++l)
          if (places[l] >= 0) std::copy_n(row + l * m, m, u.gram_row(to) + places[l] * m);
      }
    }
    u.k = left * m;
    u.active = -1;
  }

  Solved solve(double enough, Index max_iter) override {
    const Index room = padded(unknowns_.k + 1);
    for (Buffer<double>* each : {&trial_, &before_, &slopes_}) each->reserve(room);
    spread_penalties();
    predict();
    State here = evaluate();
    if (referred_) renew_diagonal();
    Solved out;
    bool fresh = false;
    for (out.steps = 0; out.steps < max_iter && here.gap > enough; ++out.steps) {
      if (!referred_) {
        curvature_.refer(charge_, rows_.weight, loss_.probabilities(), size_);
        refer(0);
        referred_ = fresh = true;
        renew_diagonal();
      }
      const State before = here;
      const Step step = advance(here);
      const bool useless = step.small && here.gap >= before.gap;
      if (!step.moved || useless) {
        if (step.moved) here = go_back();
        if (fresh) break;  // as far as rounding allows
        referred_ = false;
        continue;
      }
      if (!step.whole ||
          (here.gap > enough && slow(here.gap / before.gap, here.gap / enough, fresh)))
        referred_ = false;
      fresh = false;
    }
    if (out.steps > 0 && here.gap <= enough && enough <= kPolished * unit_) {
      // the gap is at the level of rounding, the coefficients need not be: one step more
      const State before = here;
      const Step step = advance(here);
      if (step.moved && here.gap > std::max(before.gap, enough)) here = go_back();
    }
    out.gap = here.gap;
    const Index m = charge_.unknowns();
    for (Index i = 0; i < set_->k; ++i) {
      double *q = unknowns_.q.data() + i * m, *w = unknowns_.w.data() + i * m;
      if (i > 0) out.kkt = std::max(out.kkt, charge_.distance(q, w, set_->penalty[i]));
      for (Index s = 0; s < m; ++s) q[s] += set_->ridge[i] * w[s];
    }
    out.square = by_inverse_weights(pull_.data(), pull_.data());
    return out;
  }

  Line line(int newest) const override {
    constexpr double kRounding = 1e-12;
    const double *r2 = old_[newest].data(), *r1 = old_[1 - newest].data();
    double dx = 0.0, xx = 0.0, rest = 0.0;
    over_rows([&](Index at, double inverse) {
      const double past = r2[at] - r1[at];
      dx += past * (pull_[at] - r2[at]) * inverse;
      xx += past * past * inverse;
    });
    const double t = xx > 0.0 ? dx / xx : 0.0;
    over_rows([&](Index at, double inverse) {
      const double away = pull_[at] - r2[at] - t * (r2[at] - r1[at]);
      rest += away * away * inverse;
    });
    const double size = by_inverse_weights(r2, r2) + t * t * xx;
    return {t, std::sqrt(rest) + kRounding * std::sqrt(size)};
  }

  void remember(int which) override { std::copy_n(pull_.data(), wide(), old_[which].data()); }
  void remember_twice(int which) override {
    std::copy_n(old_[which].data(), wide(), old_[1 - which].data());
  }
  // Writes minus the derivative of the loss in each of the unknowns, padded(rows) apart.
  void write_pull(double* pull) override { std::copy_n(pull_.data(), wide(), pull); }

 private:
  struct State {
    double value = 0.0;
    double gap = 0.0;
  };
  struct Step {
    bool moved = false;
    bool whole = false;  // not shortened
    bool small = false;  // the promised decrease drowns in rounding
  };
  // A penalty that keeps an unknown at zero.
  static constexpr double kForbidding = 1e300;
  // Gaps below this share of the unit are at the level of rounding.
  static constexpr double kPolished = 1e-13;

  Index wide() const { return charge_.unknowns() * size_; }

  // Calls f(place, 1 / weight) for all rows and unknowns.
  template <class F>
  void over_rows(F f) const {
    for (Index s = 0; s < charge_.unknowns(); ++s)
      for (Index i = 0; i < rows_.count; ++i) f(s * size_ + i, 1.0 / rows_.weight[i]);
  }

  double by_inverse_weights(const double* a, const double* b) const {
    double total = 0.0;
    over_rows([&](Index at, double inverse) { total += a[at] * b[at] * inverse; });
    return total;
  }

  bool is_free(Index i) const { return set_->penalty[i] == 0.0 && set_->ridge[i] == 0.0; }

  // Gives the unknowns the penalties and ridges of their variables. The coefficients of a
  // variable without them are known up to a constant: with "each" that of the last class is zero.
  void spread_penalties() {
    const Index m = charge_.unknowns();
    for (Index i = 0; i < set_->k; ++i) {
      std::fill_n(unknowns_.penalty.data() + i * m, m, set_->penalty[i]);
      std::fill_n(unknowns_.ridge.data() + i * m, m, set_->ridge[i]);
      if (group_ || !is_free(i)) continue;
      double* w = unknowns_.w.data() + i * m;
      const double last = w[m - 1];
      for (Index s = 0; s < m; ++s) w[s] -= last;
      unknowns_.penalty[i * m + m - 1] = kForbidding;
      if (last != 0.0) unknowns_.active = -1;
    }
  }

  // Writes eta = X W, with the constants that fit best.
  void predict() {
    if (settled_) return;
    std::fill_n(eta_.data(), loss_.classes() * size_, 0.0);
    add_columns(unknowns_.w.data(), nullptr, eta_.data());
    settled_ = true;
  }

  // Adds the columns times (now - before) to predictors; `before` may be null.
  void add_columns(const double* now, const double* before, double* eta) {
    const Index m = charge_.unknowns(), k = set_->k;
    change_.reserve(m);
    values_.reserve(k + 1);
    list_.reserve(unknowns_.k + 1);
    changes_.reserve(k * charge_.classes());
    Index count = 0;
    for (Index i = 0; i < k; ++i) {
      bool moved = false;
      for (Index s = 0; s < m; ++s) {
        change_[s] = now[i * m + s] - (before == nullptr ? 0.0 : before[i * m + s]);
        moved = moved || change_[s] != 0.0;
      }
      if (!moved) continue;
      for (Index c = 0; c < charge_.classes(); ++c)
        changes_[c * k + count] = charge_.coefficient(change_.data(), c);
      list_[count++] = set_->column(i);
    }
    for (Index c = 0; c < charge_.classes(); ++c)
      add_rows(changes_.data() + c * k, list_.data(), count, eta + c * size_, size_);
  }

  // Fits the constants and writes residual and gradients; returns objective and gap.
  State evaluate() {
    const Index K = charge_.classes(), m = charge_.unknowns();
    std::fill_n(shift_.data(), K, 0.0);
    State out;
    out.value = loss_.balance(eta_.data(), shift_.data()) + paid(unknowns_.w.data());
    for (Index s = 0; s < m; ++s) {
      double more = -(group_ ? 0.0 : shift_[K - 1]);
      for (Index c = 0; c < K; ++c) more += charge_.basis(c, s) * shift_[c];
      unknowns_.w[s] += more;
    }
    write_residual();
    out.gap = certify(out.value);
    return out;
  }

  void write_residual() {
    const Index K = charge_.classes(), m = charge_.unknowns();
    if (!group_) {
      loss_.write_pull(pull_.data());
      return;
    }
    classes_.reserve(K * size_);
    loss_.write_pull(classes_.data());
    std::fill_n(pull_.data(), wide(), 0.0);
    for (Index s = 0; s < m; ++s)
      for (Index c = 0; c <= s + 1; ++c)
        axpy_padded(charge_.basis(c, s), classes_.data() + c * size_, pull_.data() + s * size_,
                    size_);
  }

  double paid(const double* w) const {
    const Index m = charge_.unknowns();
    double total = 0.0;
    for (Index i = 0; i < set_->k; ++i)
      if (!is_free(i))
        total += set_->penalty[i] * charge_.charged(w + i * m) +
                 0.5 * set_->ridge[i] * dot(w + i * m, w + i * m, m);
    return total;
  }

  // Writes the gradients of the unknowns at the last evaluation; returns the gap.
  double certify(double value) {
    const Index m = charge_.unknowns();
    WorkingSet& u = unknowns_;
    products_.reserve(set_->k);
    for (Index s = 0; s < m; ++s) {
      multiply_rows(set_->columns.data(), set_->length, set_->k, pull_.data() + s * size_, size_,
                    products_.data());
      for (Index i = 0; i < set_->k; ++i) u.q[i * m + s] = products_[i];
    }
    double scale = 1.0, missed = 0.0;
    for (Index i = 0; i < set_->k; ++i) {
      double* q = u.q.data() + i * m;
      const double* w = u.w.data() + i * m;
      const double penalty = set_->penalty[i], ridge = set_->ridge[i];
      for (Index s = 0; s < m; ++s) q[s] -= ridge * w[s];
      if (penalty > 0.0) {
        const double size = charge_.size(q);
        if (size > penalty) scale = std::min(scale, penalty / size);
      } else if (ridge == 0.0 && i > 0) {
        for (Index s = 0; s < m; ++s) {
          const double size = std::abs(q[s]), curve = referred_ ? u.square[i * m + s] : 0.0;
          missed += size * std::abs(w[s]) + (curve > 0.0 ? 0.5 * size * size / curve : size);
        }
      }
    }
    double dual = loss_.dual(scale);
    for (Index i = 0; i < set_->k; ++i)
      if (set_->ridge[i] > 0.0)
        dual -= charge_.conjugate(u.q.data() + i * m, u.w.data() + i * m, set_->penalty[i],
                                  set_->ridge[i], scale);
    return std::max(value - dual, 0.0) + missed;
  }

  // Makes the Gram matrix at the reference, for variables `from` and up.
  void refer(Index from) {
    curvature_.write(*set_, from, unknowns_);
    for (Index j = from * charge_.unknowns(); j < unknowns_.k; ++j) {
      unknowns_.square[j] = std::max(unknowns_.gram_row(j)[j], 0.0);
      unknowns_.gram_row(j)[j] = unknowns_.square[j];
    }
    if (from == 0) unknowns_.active = -1;
  }

  // Puts the present ridges on the diagonal.
  void renew_diagonal() {
    WorkingSet& u = unknowns_;
    for (Index j = 0; j < u.k; ++j) {
      double& own = u.gram_row(j)[j];
      const double wanted = u.square[j] + u.ridge[j];
      if (own == wanted) continue;
      own = wanted;
      u.active = -1;
    }
  }

  // Writes the minimiser of the model to trial_.
  void solve_model() {
    constexpr double kTolerance = 1e-14, kGroupTolerance = 1e-2;
    constexpr Index kEpochs = 10'000, kRounds = 60;
    WorkingSet& u = unknowns_;
    // linear term: q + G w
    std::copy_n(u.q.data(), u.k, u.b.data());
    std::fill(u.b.data() + u.k, u.b.data() + padded(u.k), 0.0);
    values_.reserve(u.k + 1);
    list_.reserve(u.k + 1);
    Index count = 0;
    for (Index j = 0; j < u.k; ++j) {
      if (u.w[j] == 0.0) continue;
      values_[count] = u.w[j];
      list_[count++] = u.gram_row(j);
    }
    add_rows(values_.data(), list_.data(), count, u.b.data(), padded(u.k));
    std::copy_n(u.w.data(), u.k, trial_.data());
    Lasso model = u.lasso(trial_.data(), slopes_.data());
    if (group_) {
      groups_.solve(model, charge_.unknowns(), kGroupTolerance, kRounds);
      u.active = -1;
    } else {
      selica::solve(model, small_, kTolerance, kEpochs);
      u.active = model.active;
    }
  }

  // Takes one step; `here` becomes the state after it.
  Step advance(State& here) {
    WorkingSet& u = unknowns_;
    const Index m = charge_.unknowns(), all = charge_.classes() * size_;
    solve_model();
    std::fill_n(move_.data(), all, 0.0);
    add_columns(trial_.data(), u.w.data(), move_.data());
    // the decrease that the model promises, for the rule of Armijo
    double slope = paid(trial_.data()) - paid(u.w.data());
    for (Index i = 0; i < set_->k; ++i)
      for (Index s = 0; s < m; ++s) {
        const Index j = i * m + s;
        const double change = trial_[j] - u.w[j];
        // u.q has the ridge in it, and `paid` has all of its growth
        slope -=
            (u.q[j] + set_->ridge[i] * u.w[j]) * change + 0.5 * set_->ridge[i] * change * change;
      }
    Step step;
    step.small = std::abs(slope) <= 1e-10 * std::abs(here.value);
    if (!(slope < 0.0) && !step.small) {  // or it is no number
      u.active = -1;
      return step;
    }
    std::copy_n(u.w.data(), u.k, before_.data());
    std::copy_n(eta_.data(), all, before_eta_.data());
    double length = 1.0;
    constexpr int kHalvings = 40;
    for (int halved = 0; halved < kHalvings; ++halved, length *= 0.5) {
      for (Index i = 0; i < all; ++i) eta_[i] = before_eta_[i] + length * move_[i];
      if (length < 1.0)
        for (Index j = 0; j < u.k; ++j) u.w[j] = before_[j] + length * (trial_[j] - before_[j]);
      else
        std::copy_n(trial_.data(), u.k, u.w.data());
      const double value = loss_.evaluate(eta_.data()) + paid(u.w.data());
      if (step.small || value <= here.value + 1e-4 * length * slope) {
        step.moved = true;
        break;
      }
    }
    if (!step.moved) {
      here = go_back();
      return step;
    }
    step.whole = length >= 1.0;
    if (!step.whole) u.active = -1;
    here = evaluate();
    return step;
  }

  State go_back() {
    std::copy_n(before_.data(), unknowns_.k, unknowns_.w.data());
    std::copy_n(before_eta_.data(), charge_.classes() * size_, eta_.data());
    unknowns_.active = -1;
    return evaluate();
  }

  // Returns whether a new reference would be cheaper than going on at this rate.
  bool slow(double rate, double left, bool fresh) const {
    if (fresh) return rate > 0.5;
    if (rate >= 0.7) return true;
    const double k = static_cast<double>(set_->k), n = static_cast<double>(size_);
    const double m = static_cast<double>(charge_.unknowns());
    const double step = n * m * (2.0 * k + 40.0) + 4.0 * k * k * m * m;
    const double renewal = 0.25 * k * k * m * m * n + 2.0 * step;
    return std::log(left) / -std::log(rate) * step > renewal;
  }

  Index n_classes_;
  bool group_;
  Index columns_;
  Multinomial loss_;
  Charge charge_;
  MultinomialCurvature curvature_;
  WorkingSet* set_ = nullptr;  // variables: their columns, penalties and ridges
  WorkingSet unknowns_;        // without columns; those of variable i begin at i * unknowns
  MemberRows rows_{};
  Index size_ = 0;         // of a column
  double unit_ = 1.0;      // of the gap
  bool referred_ = false;  // whether the Gram matrix is made
  bool settled_ = false;   // whether eta is up to date
  Buffer<double> eta_, before_eta_, move_, pull_, classes_, shift_;
  Buffer<double> trial_, before_, slopes_, values_, change_, changes_, products_;
  Buffer<double> old_[2];
  Buffer<const double*> list_;
  LassoScratch small_;
  GroupLasso groups_;
};

}  // namespace selica
