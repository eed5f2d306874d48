// Moments of a soft-thresholded Gaussian variable: the members of an ensemble in one field.
#pragma once

#include <cmath>
#include <numbers>

namespace selica::amp {

struct SoftMoments {
  double mean;
  double variance;
  double active;  // probability of not being zero
};

// Returns the moments of S(h) = sign(h) max(|h| - lam, 0) for h ~ N(g, sd^2).
//
// In standard units the thresholds are at a = (lam - |g|) / sd and b = (lam + |g|) / sd. Each side
// contributes E(z - a)_+ = phi(a) - a P(z > a) and E(z - a)_+^2 = (1 + a^2) P(z > a) - a phi(a).
inline SoftMoments soft_moments(double g, double sd, double lam) {
  // a threshold this many standard deviations out is passed with a probability below 1e-320
  constexpr double kNever = 38.5;
  // the other threshold does not count where it is exp(-40) times as likely to be passed
  constexpr double kOtherSide = 80.0;
  constexpr double kSqrtHalf = 0.5 * std::numbers::sqrt2;
  constexpr double kInvSqrt2Pi = 0.39894228040143268;  // the standard normal density at zero

  const double size = std::fabs(g);
  const double a = (lam - size) / sd;
  const double b = (lam + size) / sd;
  if (a > kNever) return {0.0, 0.0, 0.0};
  const double above = 0.5 * std::erfc(kSqrtHalf * a);
  const double phi_a = kInvSqrt2Pi * std::exp(-0.5 * a * a);
  double below = 0.0, mean_b = 0.0, square_b = 0.0;
  if (b * b - a * a < kOtherSide) {
    below = 0.5 * std::erfc(kSqrtHalf * b);
    const double phi_b = kInvSqrt2Pi * std::exp(-0.5 * b * b);
    mean_b = phi_b - b * below;
    square_b = (1.0 + b * b) * below - b * phi_b;
  }
  double mean_a, variance_a;
  if (a < 0.0) {
    // a variable that is nearly always active: what is missing to an unclipped field is small
    // and known to full accuracy, d = E(a - z)_+ and s = E(a - z)_+^2
    const double inside = 0.5 * std::erfc(-kSqrtHalf * a);
    const double d = phi_a + a * inside;
    const double s = (1.0 + a * a) * inside + a * phi_a;
    mean_a = d - a;
    variance_a = 1.0 - s - d * (d - 2.0 * a);
  } else {
    mean_a = phi_a - a * above;
    variance_a = (1.0 + a * a) * above - a * phi_a - mean_a * mean_a;
  }
  const double spread = variance_a + square_b + mean_b * (2.0 * mean_a - mean_b);
  // a comparison that a spread which is no number fails keeps it one that is none
  return {std::copysign(sd * (mean_a - mean_b), g), spread < 0.0 ? 0.0 : sd * sd * spread,
          above + below};
}

}  // namespace selica::amp
