// Classes: a softmax over one predictor for each class, none of which is the reference.
//
//   L(eta) = sum_i c_i [ log sum_k e^{eta_ik} - eta_{i, y_i} ] ,   P_ik = e^{eta_ik} / sum_l
//   e^{eta_il} .
//
// A constant added to all predictors of a row changes nothing. Minus the derivative is c (Y - P).
// Second derivatives of a row are c (diag P - P P'). The conjugate at kappa times the derivative is
// sum_i c_i sum_k q log q with q = kappa P + (1 - kappa) Y.
//
// Classes without any weight in a member are left out of it. Arrays over rows lie one class after
// the other, `size` apart, padded with zeros; the infimum of the loss is zero.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/buffer.hpp"
#include "losses/loss.hpp"
#include "numeric/functions.hpp"
#include "numeric/products.hpp"

namespace selica {

class Multinomial {
 public:
  // Takes the rows of a member; the response of a row is the number of its class.
  void open(const MemberRows& rows, Index n_classes) {
    size_ = padded(rows.count);
    c_ = rows.weight;
    std::vector<double> mass(static_cast<std::size_t>(n_classes), 0.0);
    const auto number = [&](Index i) {
      return static_cast<std::size_t>(rows.y[0][rows.places[i]]);
    };
    for (Index i = 0; i < rows.count; ++i) mass[number(i)] += rows.weight[i];
    which_.clear();
    mass_.clear();
    std::vector<Index> place(mass.size(), -1);
    total_ = 0.0;
    for (std::size_t k = 0; k < mass.size(); ++k) {
      if (!(mass[k] > 0.0)) continue;
      place[k] = classes();
      which_.push_back(static_cast<Index>(k));
      mass_.push_back(mass[k]);
      total_ += mass[k];
    }
    y_.zeros(classes() * size_);
    P_.zeros(classes() * size_);
    for (Index i = 0; i < rows.count; ++i) y_[place[number(i)] * size_ + i] = 1.0;
    sums_.reserve(classes() * (classes() + 3));
  }

  // Classes that have weight, and the number of one of them.
  Index classes() const { return static_cast<Index>(which_.size()); }
  Index which(Index k) const { return which_[static_cast<std::size_t>(k)]; }
  bool degenerate() const { return classes() < 2; }

  // Returns the loss of the model that has constants alone.
  double null() const {
    double value = 0.0;
    for (const double mass : mass_) value -= mass * std::log(mass / total_);
    return value;
  }

  // Returns the loss, and keeps the probabilities.
  double evaluate(const double* eta) {
    Doubles total{};
    const Index K = classes();
    for (Index i = 0; i < size_; i += kDoubles) {
      Doubles top = load(eta + i);
      for (Index k = 1; k < K; ++k) {
        const Doubles other = load(eta + k * size_ + i);
        top = other > top ? other : top;
      }
      Doubles all{}, own{};
      for (Index k = 0; k < K; ++k) {
        const Doubles away = load(eta + k * size_ + i) - top, e = exponential(away);
        store(P_.data() + k * size_ + i, e);
        all += e;
        own += load(y_.data() + k * size_ + i) * away;
      }
      total += load(c_ + i) * (logarithm(all) - own);
      const Doubles inverse = 1.0 / all;
      for (Index k = 0; k < K; ++k) {
        double* to = P_.data() + k * size_ + i;
        store(to, load(to) * inverse);
      }
    }
    return sum(total);
  }

  // Writes minus the derivative at the last evaluation.
  void write_pull(double* pull) const {
    for (Index k = 0; k < classes(); ++k)
      for (Index i = 0; i < size_; i += kDoubles) {
        const Index at = k * size_ + i;
        store(pull + at, load(c_ + i) * (load(y_.data() + at) - load(P_.data() + at)));
      }
  }

  // Adds constants to the classes at which the derivatives of each sum to zero: to eta, and to
  // `constants`. Returns the loss there, where it is evaluated last.
  double balance(double* eta, double* constants) {
    constexpr int kMostSteps = 100, kHalvings = 40;
    constexpr double kEnough = 1e-15;  // of the total weight
    constexpr double kLast = 1e-8;     // a step whose square is below rounding
    constexpr double kFurthest = 50.0;
    const Index K = classes();
    double value = evaluate(eta);
    double* step = sums_.data() + K * (K + 1);
    for (int steps = 0; steps < kMostSteps; ++steps) {
      const double slope = newton_step(kEnough * total_);
      double furthest = 0.0;
      for (Index k = 0; k < K; ++k) furthest = std::max(furthest, std::abs(step[k]));
      if (slope == 0.0 || !std::isfinite(slope) || !std::isfinite(furthest)) break;
      double length = std::min(1.0, kFurthest / furthest);
      shift(eta, step, length);
      double trial = evaluate(eta);
      for (int halved = 0; halved < kHalvings; ++halved) {
        if (trial <= value + 1e-4 * length * slope + 1e-13 * std::abs(value)) break;
        length *= 0.5;
        shift(eta, step, -length);
        trial = evaluate(eta);
      }
      for (Index k = 0; k < K; ++k) constants[k] += length * step[k];
      value = trial;
      if (length * furthest <= kLast) break;
    }
    return value;
  }

  // Returns the dual objective at `scale` times the derivative at the last evaluation.
  double dual(double scale) const {
    Doubles total{};
    for (Index k = 0; k < classes(); ++k)
      for (Index i = 0; i < size_; i += kDoubles) {
        const Index at = k * size_ + i;
        const Doubles share = scale * load(P_.data() + at) + (1.0 - scale) * load(y_.data() + at);
        total -= load(c_ + i) * entropy_term(share);
      }
    return sum(total);
  }

  const double* probabilities() const { return P_.data(); }

 private:
  void shift(double* eta, const double* step, double scale) const {
    for (Index k = 0; k < classes(); ++k) {
      const double more = scale * step[k];
      for (Index i = 0; i < size_; ++i) eta[k * size_ + i] += more;
    }
  }

  // Writes the Newton step of the constants; returns its slope, zero where it is not needed.
  double newton_step(double enough) {
    const Index K = classes();
    double *curve = sums_.data(), *slopes = curve + K * K, *step = slopes + K;
    double largest = 0.0;
    for (Index k = 0; k < K; ++k) {
      const double mass = dot_padded(c_, P_.data() + k * size_, size_);
      slopes[k] = mass - mass_[static_cast<std::size_t>(k)];
      largest = std::max(largest, std::abs(slopes[k]));
      // a constant in all classes changes nothing: curvature is added in that direction
      const double added = total_ / static_cast<double>(K * K);
      for (Index l = 0; l <= k; ++l) {
        Doubles both{};
        for (Index i = 0; i < size_; i += kDoubles)
          both += load(c_ + i) * load(P_.data() + k * size_ + i) * load(P_.data() + l * size_ + i);
        curve[k * K + l] = added - sum(both) + (k == l ? mass : 0.0);
      }
    }
    if (largest <= enough) return 0.0;
    for (Index k = 0; k < K; ++k) {  // Cholesky, and L x = -slopes along with it
      double rest = -slopes[k];
      for (Index l = 0; l <= k; ++l) {
        double entry = curve[k * K + l];
        for (Index s = 0; s < l; ++s) entry -= curve[k * K + s] * curve[l * K + s];
        curve[k * K + l] = l < k ? entry / curve[l * K + l] : std::sqrt(std::max(entry, 1e-300));
        if (l < k) rest -= curve[k * K + l] * step[l];
      }
      step[k] = rest / curve[k * K + k];
    }
    double slope = 0.0;
    for (Index k = K - 1; k >= 0; --k) {
      for (Index l = k + 1; l < K; ++l) step[k] -= curve[l * K + k] * step[l];
      step[k] /= curve[k * K + k];
      slope += slopes[k] * step[k];
    }
    return slope;
  }

  Index size_ = 0;
  const double* c_ = nullptr;
  double total_ = 0.0;
  std::vector<Index> which_;
  std::vector<double> mass_;
  Buffer<double> y_, P_, sums_;
};

}  // namespace selica
