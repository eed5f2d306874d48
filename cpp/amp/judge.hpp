// What a step of an iteration says: how far it went, whether it turned back, whether to go on.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/types.hpp"

namespace selica::amp {

// Verdicts on a step.
inline constexpr std::int8_t kGoesOn = 0;
inline constexpr std::int8_t kDone = 1;  // the iteration has converged
inline constexpr std::int8_t kGone = 2;  // the iteration has diverged

// A change that is larger than all of so many before shortens the step.
inline constexpr Index kMemory = 4;

// What is remembered of each of L penalties.
struct Books {
  double* rate;              // share of a step that is taken
  double* cap;               // the largest share allowed
  double* last;              // (memory, L): the last changes
  std::int64_t* lost;        // for how many steps it has been far from its best
  double* residual;          // the smallest change
  std::int64_t* iterations;  // steps taken
  Index L;
};

// What a step tells of `live` penalties: sums (parts, 4, live) as `compare` makes them; rest
// (live,), which is finite where everything that is not compared is; and floors (parts,), norms
// below which a change is rounding.
struct Evidence {
  const double* sums;
  const double* rest;
  const double* floors;
  Index parts;
  Index live;

  // Returns a sum of part j for penalty k: 0 of squared steps, 1 of squares, 2 of squared steps
  // before, 3 of products of the two steps.
  double sum(Index j, Index which, Index k) const { return sums[(4 * j + which) * live + k]; }

  // Returns the step of part j relative to the norm of the part or its floor.
  double change(Index j, Index k) const {
    return std::sqrt(sum(j, 0, k)) / std::max(std::sqrt(sum(j, 1, k)), floors[j]);
  }

  // Returns the largest change of all parts; not a number where one of them, or the rest, is none.
  double largest(Index k) const {
    if (!std::isfinite(rest[k])) return std::numeric_limits<double>::quiet_NaN();
    double most = 0.0;
    for (Index j = 0; j < parts; ++j) {
      const double each = change(j, k);
      if (std::isnan(each)) return each;
      most = std::max(most, each);
    }
    return most;
  }

  // Returns the cosine of the step with the one before, of the parts that change most.
  double turn(double most, Index k) const {
    if (!std::isfinite(most) || !(most > 0.0)) return 0.0;
    double cosine = 0.0, weights = 0.0;
    for (Index j = 0; j < parts; ++j) {
      const double share = change(j, k) / most;
      const double weight = share * share;
      const double lengths = std::sqrt(sum(j, 0, k)) * std::sqrt(sum(j, 2, k));
      weights += weight;
      if (lengths > 0.0) cosine += weight * sum(j, 3, k) / lengths;
    }
    return std::min(std::max(cosine / weights, -1.0), 1.0);
  }
};

// When to stop, and the shares of a step that are taken at least and at most.
struct Limits {
  double tol;
  double shortest;
  double longest;
};

// Enters a step of the penalties `live` (positions in the books) into the books; writes verdicts,
// and which penalties have never been better.
inline void judge(const Books& books, const std::int64_t* live, const Evidence& step,
                  const Limits& limits, std::int8_t* verdict, bool* better) {
  // steps that turn back on the last ones are too long, steps that repeat them too short
  constexpr double kTurn = 0.4;
  // factor of the longest step allowed, after a change larger than those in memory
  constexpr double kShorter = 0.7;
  // factor by which it grows again: the iteration should not run into the same wall
  constexpr double kRecovery = 1.01;
  // changes that stay so many times above the smallest one seen, for so many steps, are divergence
  constexpr double kFar = 1e3;
  constexpr std::int64_t kPatience = 60;

  for (Index k = 0; k < step.live; ++k) {
    const Index i = live[k];
    const double change = step.largest(k);
    const bool finite = std::isfinite(change);
    books.iterations[i] += 1;
    better[k] = finite && change < books.residual[i];
    if (better[k]) books.residual[i] = change;

    bool larger = true;
    for (Index m = 0; m < kMemory; ++m) larger &= !(change <= books.last[m * books.L + i]);
    const double cap = books.cap[i] * (larger ? kShorter : kRecovery);
    books.cap[i] = std::min(std::max(cap, limits.shortest), limits.longest);
    const double rate = books.rate[i] * (1.0 + kTurn * step.turn(change, k));
    books.rate[i] = std::min(std::max(rate, limits.shortest), books.cap[i]);

    books.lost[i] = change > kFar * books.residual[i] ? books.lost[i] + 1 : 0;
    for (Index m = 0; m + 1 < kMemory; ++m)
      books.last[m * books.L + i] = books.last[(m + 1) * books.L + i];
    books.last[(kMemory - 1) * books.L + i] = change;

    if (!finite || books.lost[i] > kPatience)
      verdict[k] = kGone;
    else
      verdict[k] = change <= limits.tol ? kDone : kGoesOn;
  }
}

}  // namespace selica::amp
