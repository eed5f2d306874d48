// Members of any other loss: proximal Newton steps on the working set.
//
// The model of a step is quadratic, q'd - d'G d / 2, with the Gram matrix G of second derivatives
// at a reference, not at the present point: curvature changes little along a path, and a matrix
// costs as much as dozens of gradients. It is made anew where the steps would else converge too
// slowly. Each model is a small lasso, solved exactly; a step is halved until the objective falls.
//
// Certificate: objective less dual objective at kappa times the derivative of the loss, kappa <= 1
// so small that no gradient exceeds its penalty. Columns without a penalty must have gradient zero
// in a dual point; the little they miss, |q w| + q^2 / 2 G_jj, is added to the gap.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "numeric/gram.hpp"
#include "paths/fit.hpp"
#include "quadratic/solve.hpp"

namespace selica {

class Newton final : public Fit {
 public:
  Newton(std::unique_ptr<Loss> loss, bool intercept)
      : loss_(std::move(loss)), intercept_(intercept) {}

  double open(const MemberRows& rows, const double*, WorkingSet& set) override {
    set_ = &set;
    rows_ = rows;
    size_ = padded(rows.count);
    loss_->open(rows_);
    length_ = size_ + padded(loss_->terms());
    for (Buffer<double>* each : {&eta_, &trial_eta_, &pull_, &trial_pull_}) each->zeros(size_);
    for (Buffer<double>& each : old_) each.zeros(size_);
    weight_.zeros(length_);
    scratch_.reserve(4 * gram_detail::kBlock);
    referred_ = false;
    if (loss_->degenerate()) return 1.0;
    const double start = intercept_ ? loss_->balance(eta_.data()) : 0.0;
    std::fill_n(trial_eta_.data(), size_, start);
    const double null = loss_->evaluate(trial_eta_.data(), trial_pull_.data());
    unit_ = null - loss_->infimum();
    return unit_;
  }

  bool degenerate() const override { return loss_->degenerate(); }
  bool rooted() const override { return false; }
  bool centring() const override { return false; }

  void admitted(Index from) override {
    if (referred_) refer(from);
  }

  Solved solve(double enough, Index max_iter) override {
    WorkingSet& s = *set_;
    trial_.reserve(padded(s.k + 1));
    slopes_.reserve(padded(s.k + 1));
    predict();
    travelled_ = 0.0;
    bool fresh = false;
    if (!referred_ && has_free_column()) {  // whose part of the gap is by their curvature
      refer_here();
      fresh = true;
    }
    State here = evaluate();
    if (referred_) renew_diagonal();
    Solved out;
    for (out.steps = 0; out.steps < max_iter && here.gap > enough; ++out.steps) {
      if (!referred_) {
        refer_here();
        fresh = true;
        renew_diagonal();
      }
      const State before = here;
      const Step step = advance(here);
      if (step.small && (!step.moved || here.gap >= before.gap)) {
        if (step.moved) here = go_back();
        if (fresh) break;  // as far as rounding allows
        referred_ = false;
        continue;
      }
      if (!step.moved) {
        if (fresh) break;
        referred_ = false;
        continue;
      }
      if (!step.whole) {
        referred_ = false;
        fresh = false;
        continue;
      }
      // the first step at a penalty mostly moves the active set, and says little of the reference
      if (out.steps > 0 && here.gap > enough && slow(here.gap / before.gap, here.gap / enough))
        referred_ = false;
      fresh = false;
    }
    if (out.steps > 0 && here.gap <= enough && enough <= kPolished * unit_) {
      // the gap is at the level of rounding, the coefficients need not be: one step more
      const State before = here;
      const Step step = advance(here);
      if (step.moved && here.gap > std::max(before.gap, enough)) here = go_back();
    }
    const bool uncentred = !intercept_ && loss_->terms() == 0;
    if (out.steps > 0 && (uncentred || travelled_ > kFar * std::sqrt(unit_))) {
      // steps may have left more rounding in eta than the gap: it has to be that of these w
      predict();
      here = evaluate();
    }
    out.gap = here.gap;
    for (Index i = 0; i < s.k; ++i) {
      out.kkt = std::max(out.kkt, distance(s.q[i], s.w[i], s.penalty[i]));
      s.q[i] += s.ridge[i] * s.w[i];
    }
    out.square = by_inverse_weights(pull_.data(), pull_.data());
    return out;
  }

  Line line(int newest) const override {
    constexpr double kRounding = 1e-12;
    const double *r2 = old_[newest].data(), *r1 = old_[1 - newest].data();
    double dx = 0.0, xx = 0.0;
    for (Index i = 0; i < rows_.count; ++i) {
      const double past = r2[i] - r1[i], inverse = 1.0 / rows_.weight[i];
      dx += past * (pull_[i] - r2[i]) * inverse;
      xx += past * past * inverse;
    }
    const double t = xx > 0.0 ? dx / xx : 0.0;
    double rest = 0.0;
    for (Index i = 0; i < rows_.count; ++i) {
      const double away = pull_[i] - r2[i] - t * (r2[i] - r1[i]);
      rest += away * away / rows_.weight[i];
    }
    const double size = by_inverse_weights(r2, r2) + t * t * xx;
    return {t, std::sqrt(rest) + kRounding * std::sqrt(size)};
  }

  void remember(int which) override { std::copy_n(pull_.data(), size_, old_[which].data()); }
  void remember_twice(int which) override {
    std::copy_n(old_[which].data(), size_, old_[1 - which].data());
  }
  void write_pull(double* pull) override { std::copy_n(pull_.data(), size_, pull); }

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

  // A step that leaves so much of the gap asks for a new reference, whatever that costs.
  static constexpr double kNoProgress = 0.9;
  // Gaps below this share of the unit are at the level of rounding.
  static constexpr double kPolished = 1e-13;

  // Steps that add up to more than this, by the curvature, leave rounding that counts.
  static constexpr double kFar = 1e3;

  double by_inverse_weights(const double* a, const double* b) const {
    double total = 0.0;
    for (Index i = 0; i < rows_.count; ++i) total += a[i] * b[i] / rows_.weight[i];
    return total;
  }

  // Writes eta = X w: steps add to eta, and their rounding must not add up along the path.
  void predict() {
    WorkingSet& s = *set_;
    std::fill_n(eta_.data(), size_, 0.0);
    add_columns(s.w.data(), nullptr, eta_.data());
    balance();
  }

  // Adds the columns times (now - before) to eta; `before` may be null.
  void add_columns(const double* now, const double* before, double* eta) {
    WorkingSet& s = *set_;
    values_.reserve(s.k + 1);
    list_.reserve(s.k + 1);
    Index count = 0;
    for (Index i = 0; i < s.k; ++i) {
      const double change = before == nullptr ? now[i] : now[i] - before[i];
      if (change == 0.0) continue;
      values_[count] = change;
      list_[count++] = s.column(i);
    }
    add_rows(values_.data(), list_.data(), count, eta, size_);
  }

  void balance() {
    if (!intercept_) return;
    const double more = loss_->balance(eta_.data());
    set_->w[0] += more;
    for (Index i = 0; i < size_; ++i) eta_[i] += more;
  }

  // Writes residual and gradients at eta; returns the objective and the gap.
  State evaluate() {
    State out;
    out.value = loss_->evaluate(eta_.data(), pull_.data()) + paid(set_->w.data());
    out.gap = certify(out.value);
    return out;
  }

  double paid(const double* w) const {
    const WorkingSet& s = *set_;
    double total = 0.0;
    for (Index i = 0; i < s.k; ++i)
      total += s.penalty[i] * std::abs(w[i]) + 0.5 * s.ridge[i] * w[i] * w[i];
    return total;
  }

  // Returns the gap at the last evaluation, whose residual is in pull_.
  double certify(double value) {
    WorkingSet& s = *set_;
    multiply_rows(s.columns.data(), s.length, s.k, pull_.data(), size_, s.q.data());
    double scale = 1.0, free = 0.0;
    for (Index i = 0; i < s.k; ++i) {
      s.q[i] -= s.ridge[i] * s.w[i];
      const double size = std::abs(s.q[i]);
      if (s.penalty[i] > 0.0) {
        if (size > s.penalty[i]) scale = std::min(scale, s.penalty[i] / size);
      } else if (!(intercept_ && i == 0) && s.ridge[i] == 0.0) {
        double curve = referred_ ? s.square[i] : 0.0;
        if (referred_ && intercept_) {  // that moves along
          const double with = s.gram_row(i)[0], own = s.square[0];
          if (own > 0.0) curve = std::max(curve - with * with / own, 0.0);
        }
        free += size * std::abs(s.w[i]) + (curve > 0.0 ? 0.5 * size * size / curve : size);
      }
    }
    const double dual = loss_->dual(eta_.data(), scale) - ridge_conjugate(s, scale);
    return std::max(value - dual, 0.0) + free;
  }

  bool has_free_column() const {
    const WorkingSet& s = *set_;
    for (Index i = intercept_ ? 1 : 0; i < s.k; ++i)
      if (s.penalty[i] == 0.0 && s.ridge[i] == 0.0) return true;
    return false;
  }

  // Makes the present point the reference.
  void refer_here() {
    loss_->curvature(eta_.data(), weight_.data());
    refer(0);
    referred_ = true;
  }

  // Makes rows `from` .. k - 1 of the Gram matrix at the reference.
  void refer(Index from) {
    WorkingSet& s = *set_;
    if (loss_->terms() > 0)
      for (Index i = from; i < s.k; ++i) loss_->extend(s.column(i), s.column(i) + size_);
    gram_rows(s.columns.data(), s.length, weight_.data(), from, s.k, length_, s.gram.data(), s.ld,
              scratch_.data());
    for (Index i = from; i < s.k; ++i) {
      s.square[i] = std::max(s.gram_row(i)[i], 0.0);
      s.gram_row(i)[i] = s.square[i];
    }
    if (from == 0) s.active = -1;
  }

  // Puts the present ridges on the diagonal.
  void renew_diagonal() {
    WorkingSet& s = *set_;
    for (Index i = 0; i < s.k; ++i) {
      double& own = s.gram_row(i)[i];
      const double wanted = s.square[i] + s.ridge[i];
      if (own == wanted) continue;
      own = wanted;
      s.active = -1;
    }
  }

  // Takes one step; `here` becomes the state after it.
  Step advance(State& here) {
    WorkingSet& s = *set_;
    // linear term of the model: q + G w
    std::copy_n(s.q.data(), s.k, s.b.data());
    std::fill(s.b.data() + s.k, s.b.data() + padded(s.k), 0.0);
    values_.reserve(s.k + 1);
    list_.reserve(s.k + 1);
    Index count = 0;
    for (Index i = 0; i < s.k; ++i) {
      if (s.w[i] == 0.0) continue;
      values_[count] = s.w[i];
      list_[count++] = s.gram_row(i);
    }
    add_rows(values_.data(), list_.data(), count, s.b.data(), padded(s.k));
    std::copy_n(s.w.data(), s.k, trial_.data());
    Lasso model = s.lasso(trial_.data(), slopes_.data());
    constexpr double kModelTolerance = 1e-14;
    constexpr Index kModelEpochs = 10'000;
    selica::solve(model, small_, kModelTolerance, kModelEpochs);
    s.active = model.active;

    std::copy_n(eta_.data(), size_, trial_eta_.data());
    add_columns(trial_.data(), s.w.data(), trial_eta_.data());
    // the decrease that the model promises, for the rule of Armijo
    double slope = 0.0, furthest = 0.0;
    for (Index i = 0; i < rows_.count; ++i) {
      const double change = trial_eta_[i] - eta_[i];
      slope -= pull_[i] * change;
      furthest = std::max(furthest, std::abs(change));
    }
    for (Index j = 0; j < s.k; ++j)
      travelled_ += std::abs(trial_[j] - s.w[j]) * std::sqrt(s.square[j]);
    for (Index j = 0; j < s.k; ++j)
      slope += s.penalty[j] * (std::abs(trial_[j]) - std::abs(s.w[j])) +
               s.ridge[j] * s.w[j] * (trial_[j] - s.w[j]);
    Step step;
    step.small = std::abs(slope) <= 1e-10 * std::abs(here.value);
    if (slope >= 0.0 && !step.small) {
      s.active = -1;
      return step;
    }
    double length = std::min(1.0, loss_->longest_step() / std::max(furthest, 1e-300));
    previous_.reserve(padded(s.k + 1));
    previous_eta_.reserve(size_);
    std::copy_n(s.w.data(), s.k, previous_.data());
    std::copy_n(eta_.data(), size_, previous_eta_.data());
    double value = 0.0;
    constexpr int kHalvings = 40;
    for (int halved = 0; halved < kHalvings; ++halved, length *= 0.5) {
      if (length < 1.0) {
        for (Index i = 0; i < size_; ++i)
          eta_[i] = previous_eta_[i] + length * (trial_eta_[i] - previous_eta_[i]);
        for (Index j = 0; j < s.k; ++j) s.w[j] = previous_[j] + length * (trial_[j] - previous_[j]);
      } else {
        std::copy_n(trial_eta_.data(), size_, eta_.data());
        std::copy_n(trial_.data(), s.k, s.w.data());
      }
      value = loss_->evaluate(eta_.data(), pull_.data()) + paid(s.w.data());
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
    if (!step.whole) s.active = -1;
    if (intercept_) {
      balance();
      value = loss_->evaluate(eta_.data(), pull_.data()) + paid(s.w.data());
    }
    here.value = value;
    here.gap = certify(value);
    return step;
  }

  State go_back() {
    WorkingSet& s = *set_;
    std::copy_n(previous_.data(), s.k, s.w.data());
    std::copy_n(previous_eta_.data(), size_, eta_.data());
    s.active = -1;
    return evaluate();
  }

  // Returns whether a new reference would be cheaper than going on at this rate.
  bool slow(double rate, double left) const {
    const WorkingSet& s = *set_;
    if (rate >= kNoProgress) return true;
    const double k = static_cast<double>(s.k), n = static_cast<double>(length_);
    const double active = static_cast<double>(std::max<Index>(s.active, 0));
    // a step reads columns and matrix from a slower cache than the tiles of a new matrix do
    const double step = 4.0 * (n * (k + active + 40.0) + 2.0 * k * active);
    const double renewal = 0.5 * k * k * n + active * active * active / 6.0 + 2.0 * step;
    return std::log(left) / -std::log(rate) * step > renewal;
  }

  std::unique_ptr<Loss> loss_;
  bool intercept_;
  WorkingSet* set_ = nullptr;
  MemberRows rows_{};
  double unit_ = 1.0;
  double travelled_ = 0.0;  // sum of the sizes of the steps in each coefficient
  Index size_ = 0;          // of a column
  Index length_ = 0;        // with further rows of the loss
  bool referred_ = false;   // whether the Gram matrix is made
  Buffer<double> eta_, trial_eta_, previous_eta_, pull_, trial_pull_, weight_, scratch_;
  Buffer<double> trial_, previous_, slopes_, values_;
  Buffer<double> old_[2];
  Buffer<const double*> list_;
  LassoScratch small_;
};

}  // namespace selica
