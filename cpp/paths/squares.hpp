// Members of the squared loss: a small lasso that is solved exactly.
//
// Objective |y - X w|^2 / 2 + sum_j penalty_j |w_j| + ridge_j w_j^2 / 2, columns and response
// multiplied by the roots of the weights. The dual point is the residual, scaled so that no
// gradient exceeds its penalty; all its products come from the Gram matrix.
#pragma once

#include <algorithm>
#include <cmath>

#include "numeric/gram.hpp"
#include "paths/fit.hpp"
#include "quadratic/solve.hpp"

namespace selica {

class Squares final : public Fit {
 public:
  explicit Squares(bool intercept) : intercept_(intercept) {}

  double open(const MemberRows& rows, const double* root, WorkingSet& set) override {
    set_ = &set;
    size_ = padded(rows.count);
    y_.zeros(size_);
    pull_.reserve(size_);
    root_ = root;
    double total = 0.0, mean = 0.0;
    for (Index i = 0; i < rows.count; ++i) {
      y_[i] = rows.y[0][rows.places[i]];
      total += rows.weight[i];
      mean += rows.weight[i] * y_[i];
    }
    base_ = intercept_ && total > 0.0 ? mean / total : 0.0;
    for (Index i = 0; i < rows.count; ++i) y_[i] = root[i] * (y_[i] - base_);
    yy_ = dot_padded(y_.data(), y_.data(), size_);
    old_ridge_ = 0.0;
    scratch_.reserve(4 * gram_detail::kBlock);
    return 0.5 * yy_;
  }

  bool rooted() const override { return true; }
  bool centring() const override { return true; }
  double base() const override { return base_; }

  void admitted(Index from) override {
    WorkingSet& s = *set_;
    multiply_rows(s.column(from), s.length, s.k - from, y_.data(), size_, s.b.data() + from);
    gram_rows(s.columns.data(), s.length, nullptr, from, s.k, size_, s.gram.data(), s.ld,
              scratch_.data());
    for (Index i = from; i < s.k; ++i) {
      s.square[i] = s.gram_row(i)[i];
      s.q[i] = s.b[i] - dot(s.gram_row(i), s.w.data(), from);
      for (int a : {0, 1}) s.old_q[a][i] = s.b[i] - dot(s.gram_row(i), s.old_w[a].data(), from);
    }
  }

  Solved solve(double enough, Index max_iter) override {
    WorkingSet& s = *set_;
    double most = 0.0;
    bool changed = false;
    for (Index i = 0; i < s.k; ++i) {
      const double own = s.square[i] + s.ridge[i];
      most = std::max(most, s.ridge[i]);
      changed = changed || s.gram_row(i)[i] != own;
      s.gram_row(i)[i] = own;
    }
    if (changed && most != old_ridge_) s.active = -1;  // the factor is that of another matrix
    old_ridge_ = most;
    Lasso problem = s.lasso(s.w.data(), s.q.data());
    const double tol = 1e-2 * enough / std::max(0.5 * yy_, 1e-300);
    const LassoAnswer answer = selica::solve(problem, small_, tol, max_iter);
    s.active = problem.active;
    Solved out = judge();
    out.failed = !answer.solved && !(out.gap <= enough);  // what counts is the gap
    out.steps = answer.iterations;
    if (most > 0.0)
      for (Index i = 0; i < s.k; ++i) s.q[i] += s.ridge[i] * s.w[i];
    return out;
  }

  Line line(int newest) const override {
    // inner products of differences of residuals come from coefficients and gradients
    constexpr double kRounding = 1e-6;
    const WorkingSet& s = *set_;
    const double *w2 = s.old_w[newest].data(), *w1 = s.old_w[1 - newest].data();
    const double *q2 = s.old_q[newest].data(), *q1 = s.old_q[1 - newest].data();
    double dd = 0.0, dx = 0.0, xx = 0.0;
    for (Index i = 0; i < s.k; ++i) {
      const double step = s.w[i] - w2[i], past = w2[i] - w1[i], turn = q2[i] - s.q[i];
      dd += step * turn;
      dx += past * turn;
      xx += past * (q1[i] - q2[i]);
    }
    const double t = xx > kRounding * kRounding * yy_ ? dx / xx : 0.0;
    const double rest = std::max(t != 0.0 ? dd - t * dx : dd, 0.0);
    return {t, std::sqrt(rest) + kRounding * std::sqrt(yy_)};
  }

  void remember(int which) override {
    WorkingSet& s = *set_;
    std::copy_n(s.w.data(), s.k, s.old_w[which].data());
    std::copy_n(s.q.data(), s.k, s.old_q[which].data());
  }

  void remember_twice(int which) override {
    WorkingSet& s = *set_;
    std::copy_n(s.old_w[which].data(), s.k, s.old_w[1 - which].data());
    std::copy_n(s.old_q[which].data(), s.k, s.old_q[1 - which].data());
  }

  void write_pull(double* pull) override {
    WorkingSet& s = *set_;
    std::copy_n(y_.data(), size_, pull);
    values_.reserve(s.k + 1);
    rows_.reserve(s.k + 1);
    Index count = 0;
    for (Index i = 0; i < s.k; ++i) {
      if (s.w[i] == 0.0) continue;
      values_[count] = -s.w[i];
      rows_[count++] = s.column(i);
    }
    add_rows(values_.data(), rows_.data(), count, pull, size_);
    for (Index i = 0; i < size_; i += kDoubles) store(pull + i, load(pull + i) * load(root_ + i));
  }

 private:
  // Returns the gap and the largest violation; q is the gradient of loss and ridge.
  Solved judge() const {
    const WorkingSet& s = *set_;
    double explained = 0.0, along = 0.0, paid = 0.0, bent = 0.0, violation = 0.0;
    double scale = 1.0, free = 0.0;
    bool ridged = false, penalised = false;
    for (Index i = 0; i < s.k; ++i) {
      const double w = s.w[i], q = s.q[i], b = s.b[i], penalty = s.penalty[i], ridge = s.ridge[i];
      explained += w * (b + q + ridge * w);
      along += w * b;
      paid += penalty * std::abs(w);
      bent += ridge * w * w;
      ridged = ridged || ridge > 0.0;
      violation = std::max(violation, distance(q, w, penalty));
      if (penalty > 0.0) {
        penalised = true;
        if (std::abs(q) > penalty) scale = std::min(scale, penalty / std::abs(q));
      } else {
        free += std::abs(q * w);
      }
    }
    Solved out;
    out.kkt = violation;
    out.square = std::max(yy_ - explained, 0.0);
    const double ry = yy_ - along;
    if (!penalised && !ridged) {
      // without a penalty there is no dual point to be had so cheaply: |w . gradient| stands in
      out.gap = std::abs(ry - out.square);
      return out;
    }
    double gap = 0.5 * (1.0 + scale * scale) * out.square + 0.5 * bent + paid - scale * ry;
    if (ridged) gap += ridge_conjugate(s, scale);
    out.gap = std::max(gap, 0.0) + free;
    return out;
  }

  bool intercept_;
  WorkingSet* set_ = nullptr;
  Index size_ = 0;
  const double* root_ = nullptr;
  double yy_ = 0.0;
  double base_ = 0.0;
  double old_ridge_ = 0.0;
  Buffer<double> y_, pull_, scratch_, values_;
  Buffer<const double*> rows_;
  LassoScratch small_;
};

}  // namespace selica
