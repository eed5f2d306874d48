// Genotypes of people, as many people side by side as a register has numbers, and how likely they
// are given the motifs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "chains/motifs.hpp"
#include "numeric/lanes.hpp"

namespace selica::chains {

using Allele = std::int8_t;
inline constexpr Allele kMissing = -1;

struct People {
  Index people, sites;
  const Allele* values;  // (people, sites): how many alleles 1, or kMissing
};

// A genotype that the law does not allow.
struct Wrong {
  Index person = -1, site = -1;
  bool found() const { return site >= 0; }
};

// The first person, if any, with such a genotype.
class FirstWrong {
 public:
  void note(Wrong wrong) {
    const std::lock_guard lock(mutex_);
    if (wrong.found() && (!first_.found() || wrong.person < first_.person)) first_ = wrong;
  }
  Wrong first() const { return first_; }

 private:
  std::mutex mutex_;
  Wrong first_;
};

// A register of people. Those behind the last have no genotype at all.
class Register {
 public:
  Register(const People& all, Index first)
      : all_(all), first_(first), count_(std::min(kDoubles, all.people - first)) {}

  Index first() const { return first_; }
  Index count() const { return count_; }
  Allele at(Index j, Index lane) const {
    return lane < count_ ? all_.values[(first_ + lane) * all_.sites + j] : kMissing;
  }

 private:
  People all_;
  Index first_;
  Index count_;
};

// The factors a + b theta of a probability, for each person of a register.
struct Line {
  double constant[kDoubles], slope[kDoubles];

  void set(Index lane, double a, double b) {
    constant[lane] = a;
    slope[lane] = b;
  }
  // Writes the factor of each motif, (motifs, kDoubles).
  void fill(const double* theta, Index motifs, double* out) const {
    const Doubles a = load(constant), b = load(slope);
    for (Index k = 0; k < motifs; ++k) store(out + k * kDoubles, a + b * theta[k]);
  }
};

}  // namespace selica::chains
