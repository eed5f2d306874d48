// What the coefficients W_j of a variable in all classes are charged, and how they are written.
//
// "each": lam u_j sum_k |W_jk|. The unknowns are the coefficients themselves, K for a variable.
// "group": lam u_j |W_j|_2. Its best W_j have mean zero: the unknowns are K - 1 coordinates in an
// orthonormal basis of these, in which the length is the same and no direction is without
// curvature.
//
// Gradients are in the same unknowns; those of a variable that stays out have at most the size
// lam u_j, in the largest entry ("each") or in length ("group").
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/types.hpp"

namespace selica {

class Charge {
 public:
  void open(Index classes, bool group) {
    classes_ = classes;
    group_ = group;
    unknowns_ = group ? classes - 1 : classes;
    basis_.assign(static_cast<std::size_t>(classes * unknowns_), 0.0);
    for (Index s = 0; s < unknowns_; ++s) {
      if (!group) {
        at(s, s) = 1.0;
        continue;
      }
      const double ones = static_cast<double>(s + 1), unit = 1.0 / std::sqrt(ones * (ones + 1.0));
      for (Index k = 0; k <= s; ++k) at(k, s) = unit;
      at(s + 1, s) = -ones * unit;
    }
  }

  bool group() const { return group_; }
  Index classes() const { return classes_; }
  Index unknowns() const { return unknowns_; }  // of a variable
  double basis(Index k, Index s) const {
    return basis_[static_cast<std::size_t>(k * unknowns_ + s)];
  }

  // Returns the coefficient of class k from the unknowns of a variable.
  double coefficient(const double* unknowns, Index k) const {
    if (!group_) return unknowns[k];
    double total = 0.0;
    for (Index s = std::max<Index>(k - 1, 0); s < unknowns_; ++s)
      total += basis(k, s) * unknowns[s];
    return total;
  }

  // Returns what a penalty of one charges for the unknowns of a variable.
  double charged(const double* unknowns) const {
    double total = 0.0;
    for (Index s = 0; s < unknowns_; ++s)
      total += group_ ? unknowns[s] * unknowns[s] : std::abs(unknowns[s]);
    return group_ ? std::sqrt(total) : total;
  }

  // Returns the size of a gradient.
  template <class T>
  T size(const T* gradient) const {
    T total{};
    for (Index s = 0; s < unknowns_; ++s)
      total = group_ ? total + gradient[s] * gradient[s] : std::max(total, std::abs(gradient[s]));
    return group_ ? std::sqrt(total) : total;
  }

  // Returns how far the gradient q of a variable is from where it should be at its unknowns w.
  double distance(const double* q, const double* w, double penalty) const {
    double worst = 0.0, square = 0.0;
    const double length = charged(w);
    if (length == 0.0) return size(q) - penalty;
    for (Index s = 0; s < unknowns_; ++s) {
      const double sign = w[s] == 0.0 ? 0.0 : std::copysign(1.0, w[s]);
      const double away = std::abs(q[s] - penalty * (group_ ? w[s] / length : sign));
      worst = std::max(worst, !group_ && w[s] == 0.0 ? away - penalty : away);
      square += away * away;
    }
    return group_ ? std::sqrt(square) : worst;
  }

  // Returns the conjugate of penalty and ridge of a variable at `scale` (q + ridge w), where q is
  // the gradient of loss and ridge together (see `ridge_conjugate`).
  double conjugate(const double* q, const double* w, double penalty, double ridge,
                   double scale) const {
    if (!group_) {
      double total = 0.0;
      for (Index s = 0; s < unknowns_; ++s)
        total += bounded(std::abs(q[s] + ridge * w[s]), std::abs(q[s]), w[s] * w[s], penalty, ridge,
                         scale);
      return total;
    }
    double both = 0.0, plain = 0.0, square = 0.0;
    for (Index s = 0; s < unknowns_; ++s) {
      const double g = q[s] + ridge * w[s];
      both += g * g;
      plain += q[s] * q[s];
      square += w[s] * w[s];
    }
    return bounded(std::sqrt(both), std::sqrt(plain), square, penalty, ridge, scale);
  }

  // Moves coefficients of the classes of one variable by a constant, so that zero is a median of
  // them (of two medians, the middle), or the mean.
  static void identify(double* w, Index classes, bool median, std::vector<double>& room) {
    double away = 0.0;
    if (median) {
      room.assign(w, w + classes);
      std::sort(room.begin(), room.end());
      const std::size_t above = room.size() / 2, below = (room.size() - 1) / 2;
      away = 0.5 * (room[above] + room[below]);
    } else {
      for (Index k = 0; k < classes; ++k) away += w[k];
      away /= static_cast<double>(classes);
    }
    for (Index k = 0; k < classes; ++k) w[k] -= away;
  }

 private:
  double& at(Index k, Index s) { return basis_[static_cast<std::size_t>(k * unknowns_ + s)]; }

  static double bounded(double both, double plain, double square, double penalty, double ridge,
                        double scale) {
    constexpr double kRounding = 1e-14;
    const double over = std::max(scale * both - penalty, 0.0);
    const double value = 0.5 * over * over / ridge;
    if (scale * plain > penalty * (1.0 + kRounding)) return value;
    return std::min(value, 0.5 * ridge * scale * scale * square);
  }

  Index classes_ = 0;
  Index unknowns_ = 0;
  bool group_ = false;
  std::vector<double> basis_;  // (classes, unknowns)
};

}  // namespace selica
