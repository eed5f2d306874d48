// The small group lasso: variables are groups of `m` neighbours, of which the length is charged.
//
//   minimise  w'G w / 2 - b'w + sum_g penalty_g |w_g|_2 .
//
// Sweeps over the groups, each moved to the minimiser of a bound of its own, find which groups are
// active; there the objective is smooth, and Newton's step with a line search follows each sweep.
// The objective falls at every move. It ends where no group violates the conditions of optimality
// by more than a share of what they were violated by at the start, or by rounding.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/stop.hpp"
#include "numeric/gram.hpp"
#include "quadratic/lasso.hpp"

namespace selica {

class GroupLasso {
 public:
  // Solves p, whose penalties are those of the first variable of a group; its factor is used as
  // room. Returns whether it converged.
  bool solve(Lasso& p, Index m, double tol, Index max_rounds) {
    p_ = &p;
    m_ = m;
    groups_ = p.k / m;
    const Index room = padded(p.k + 1);
    for (Buffer<double>* each : {&bound_, &slope_, &step_, &image_}) each->reserve(room);
    rows_.reserve(room);
    double largest = 0.0;
    for (Index g = 0; g < groups_; ++g) {
      bound_[g] = curvature_bound(g);
      if (bound_[g] > 0.0) largest = std::max(largest, length(p.b + g * m) / std::sqrt(bound_[g]));
    }
    write_gradient(p, step_.data(), rows_.data());
    const double rounding = kRounding * largest, enough = std::max(rounding, tol * violation());
    bool whole = false;  // without whole steps little moves where curvature is small
    for (Index round = 0; round < max_rounds; ++round) {
      check_stop();
      sweep();
      if (violation() <= (whole || round >= kPatience ? enough : rounding)) return true;
      double taken = 0.0;
      // groups that stopped at zero stay there until the others have arrived
      for (dropped_ = true; dropped_; violation()) {
        dropped_ = false;
        taken = newton(kNone);
        if (taken == 0.0) taken = newton(kSome);  // or the next sweep has to do
      }
      whole = taken == 1.0;
    }
    return false;
  }

 private:
  // Curvature added in Newton's steps, as a share: none, or enough for dependent columns.
  static constexpr double kNone = 0.0;
  static constexpr double kSome = 1e-8;
  static constexpr double kRounding = 1e-13;
  // Rounds in which a whole step is waited for.
  static constexpr Index kPatience = 12;
  // Rows of the factor that are made together.
  static constexpr Index kTogether = 32;

  double length(const double* x) const { return std::sqrt(dot(x, x, m_)); }

  // Returns a bound of the curvature within a group, by the theorem of Gershgorin.
  double curvature_bound(Index g) const {
    double most = 0.0;
    for (Index s = g * m_; s < (g + 1) * m_; ++s) {
      double total = 0.0;
      for (Index t = g * m_; t < (g + 1) * m_; ++t) total += std::abs(p_->row(s)[t]);
      most = std::max(most, total);
    }
    return most;
  }

  void sweep() {
    for (Index g = 0; g < groups_; ++g) {
      const double bound = bound_[g], penalty = p_->penalty[g * m_];
      if (!(bound > 0.0)) continue;
      double *w = p_->w + g * m_, *q = p_->q + g * m_, *change = step_.data();
      for (Index s = 0; s < m_; ++s) change[s] = q[s] + bound * w[s];
      const double size = length(change);
      const double factor = size > penalty ? (1.0 - penalty / size) / bound : 0.0;
      bool moved = false;
      for (Index s = 0; s < m_; ++s) {
        const double fresh = factor * change[s];
        change[s] = w[s] - fresh;
        moved = moved || change[s] != 0.0;
        w[s] = fresh;
        rows_[s] = p_->row(g * m_ + s);
      }
      if (moved) add_rows(change, rows_.data(), m_, p_->q, padded(p_->k));
    }
  }

  // Returns the largest violation of the conditions of optimality, over the root of the
  // curvature: columns may have any unit. Lists the active variables.
  double violation() {
    double worst = 0.0;
    p_->active = 0;
    for (Index g = 0; g < groups_; ++g) {
      const double *w = p_->w + g * m_, *q = p_->q + g * m_;
      const double penalty = p_->penalty[g * m_], size = length(w);
      const double unit = bound_[g] > 0.0 ? 1.0 / std::sqrt(bound_[g]) : 0.0;
      if (size == 0.0 && penalty > 0.0) {
        worst = std::max(worst, unit * (length(q) - penalty));
        continue;
      }
      double square = 0.0;
      for (Index s = 0; s < m_; ++s) {
        const double pull = q[s] - (penalty > 0.0 ? penalty * w[s] / size : 0.0);
        slope_[p_->active] = pull;
        p_->order[p_->active++] = g * m_ + s;
        square += pull * pull;
      }
      worst = std::max(worst, unit * std::sqrt(square));
    }
    return worst;
  }

  // Takes a Newton step in the active groups; returns the share of it that was taken.
  double newton(double added) {
    const Index active = p_->active;
    if (!factorise_active(added)) return 0.0;
    double* step = step_.data();
    std::copy_n(slope_.data(), active, step);
    forward(p_->L, step, active);
    backward(p_->L, step, active);
    const double** rows = rows_.data();
    double promised = 0.0, straight = 0.0;
    for (Index i = 0; i < active; ++i) {
      rows[i] = p_->row(p_->order[i]);
      promised -= slope_[i] * step[i];
      straight -= p_->q[p_->order[i]] * step[i];
    }
    const Index wide = padded(p_->k);
    std::fill_n(image_.data(), wide, 0.0);
    add_rows(step, rows, active, image_.data(), wide);
    double square = 0.0;
    for (Index i = 0; i < active; ++i) square += step[i] * image_[p_->order[i]];
    constexpr int kHalvings = 30;
    const auto change = [&](double t) { return t * straight + 0.5 * t * t * square + charged(t); };
    double t = 1.0;
    for (int halved = 0; halved < kHalvings; ++halved, t *= 0.5)
      if (change(t) <= 1e-4 * t * promised) break;
    Index gone = -1;
    if (t < 1.0) {  // perhaps since a group would pass zero: it may stop there
      const Passing first = first_passing();
      if (first.place >= 0 && change(first.t) + zeroed(first) < change(t)) {
        t = first.t;
        gone = p_->order[first.place];
        dropped_ = true;
      }
    }
    for (Index i = 0; i < active; ++i) p_->w[p_->order[i]] += t * step[i];
    if (gone >= 0) std::fill_n(p_->w + gone, m_, 0.0);
    write_gradient(*p_, step, rows);
    return t;
  }

  // Where the step takes a group close to zero: its first active variable, and the share of the
  // step.
  struct Passing {
    Index place = -1;
    double t = 1.0;
  };

  Passing first_passing() const {
    constexpr double kClose = 0.1;  // of its length before
    Passing out;
    for (Index first = 0; first < p_->active; first += m_) {
      const double *w = p_->w + p_->order[first], *step = step_.data() + first;
      const double along = -dot(w, step, m_), square = dot(step, step, m_);
      if (!(p_->penalty[p_->order[first]] > 0.0 && along > 0.0 && along < out.t * square)) continue;
      const double nearest = dot(w, w, m_) - along * along / square;
      if (nearest <= kClose * kClose * dot(w, w, m_)) out = {first, along / square};
    }
    return out;
  }

  // Returns what the objective grows by where that group becomes zero then.
  double zeroed(const Passing& at) const {
    const Index j = p_->order[at.place];
    double total = 0.0, left = 0.0;
    for (Index s = 0; s < m_; ++s) {
      const double x = p_->w[j + s] + at.t * step_[at.place + s];
      total += x * (p_->q[j + s] - at.t * image_[j + s]);
      left += x * x;
      for (Index r = 0; r < m_; ++r)
        total += 0.5 * x * p_->row(j + s)[j + r] * (p_->w[j + r] + at.t * step_[at.place + r]);
    }
    return total - p_->penalty[j] * std::sqrt(left);
  }

  // Makes the factor of the second derivatives in the active groups, in blocks of rows; returns
  // false where they depend on each other.
  bool factorise_active(double added) {
    const Factor& L = p_->L;
    for (Index top = 0; top < p_->active; top += kTogether) {
      check_stop();
      const Index bottom = std::min(top + kTogether, p_->active);
      for (Index i = top; i < bottom; ++i) write_row(i, added);
      for (Index left = 0; left < bottom; left += kPad) {
        const Index first = std::max(top, left);  // all below a diagonal block, or with it
        subtract(first, bottom, left);
        if (left >= top && !factorise_corner(left, std::min(left + kPad, bottom))) return false;
        const double* corner = L.corner(left);
        for (Index i = std::max(first, left + kPad); i < bottom; ++i) {
          double* entries = L.row(i) + left;
          double solved[kPad] = {};
          for (Index c = 0; c < kPad; ++c)
            for (Index r = 0; r < kPad; ++r) solved[r] += corner[c * kPad + r] * entries[c];
          std::copy_n(solved, kPad, entries);
        }
      }
    }
    return true;
  }

  // Writes row i of the second derivatives up to the diagonal, which goes to `inverse`.
  void write_row(Index i, double added) const {
    const Index j = p_->order[i], first = i / m_ * m_;
    const double *row = p_->row(j), *w = p_->w + j / m_ * m_;
    double *line = p_->L.row(i), &own = p_->L.inverse[i];
    for (Index l = 0; l < i; ++l) line[l] = row[p_->order[l]];
    for (Index l = i; l < padded(i); ++l) line[l] = 0.0;
    own = row[j];
    const double penalty = p_->penalty[j];
    if (penalty > 0.0) {
      const double size = length(w), bend = penalty / size, towards = w[j % m_] / size;
      for (Index l = first; l < i; ++l) line[l] -= bend * towards * (w[l - first] / size);
      own += bend * (1.0 - towards * towards);
    }
    own *= 1.0 + added;
  }

  // Subtracts the products of rows `top` .. `bottom` - 1 with the kPad rows at `left`, over what
  // is left of these, from the entries there.
  void subtract(Index top, Index bottom, Index left) {
    const Factor& L = p_->L;
    if (left == 0) return;
    const Index columns = std::min(kPad, p_->active - left);
    double products[4 * kPad];
    for (Index i = top; i < bottom; i += 4) {
      const Index rows = std::min<Index>(4, bottom - i);
      if (rows == 4)
        gram_detail::tiles<4>(L.row(i), L.row(left), L.ld, L.ld, columns, left, products, kPad,
                              true);
      else
        for (Index r = 0; r < rows; ++r)
          gram_detail::tiles<1>(L.row(i + r), L.row(left), L.ld, L.ld, columns, left,
                                products + r * kPad, kPad, true);
      for (Index r = 0; r < rows; ++r) {
        const Index own = i + r - left;  // place of the diagonal
        for (Index c = 0; c < std::min(columns, own); ++c)
          L.row(i + r)[left + c] -= products[r * kPad + c];
      }
    }
  }

  // Makes the triangle of rows `first` .. `last` - 1 on the diagonal.
  bool factorise_corner(Index first, Index last) {
    const Factor& L = p_->L;
    for (Index i = first; i < last; ++i) {
      double* row = L.row(i);
      const double square = L.inverse[i];
      for (Index c = first; c < i; ++c) {
        double entry = row[c];
        for (Index s = first; s < c; ++s) entry -= row[s] * L.row(c)[s];
        row[c] = entry * L.inverse[c];
      }
      const double rest = square - dot_padded(row, row, padded(i));
      if (!(rest > kDependent * square)) return false;
      L.inverse[i] = 1.0 / std::sqrt(rest);
      invert_row(L, i);
    }
    return true;
  }

  // Returns what the penalties grow by at t times the step.
  double charged(double t) const {
    double total = 0.0;
    for (Index first = 0; first < p_->active; first += m_) {
      const Index j = p_->order[first];
      double before = 0.0, after = 0.0;
      for (Index s = 0; s < m_; ++s) {
        const double w = p_->w[j + s], moved = w + t * step_[first + s];
        before += w * w;
        after += moved * moved;
      }
      total += p_->penalty[j] * (std::sqrt(after) - std::sqrt(before));
    }
    return total;
  }

  Lasso* p_ = nullptr;
  Index m_ = 1;
  Index groups_ = 0;
  bool dropped_ = false;  // whether the last step ended with a group at zero
  Buffer<double> bound_, slope_, step_, image_;
  Buffer<const double*> rows_;
};

}  // namespace selica
