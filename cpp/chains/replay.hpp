// Choices that were made before, in the place of random ones: what a sampler would have drawn them
// with. So its distribution is known without a single draw, and tests can add it up.
#pragma once

#include "base/types.hpp"

namespace selica::chains {

class Replay {
 public:
  // `choices` in the order in which the sampler makes them.
  explicit Replay(const Index* choices) : next_(choices) {}

  // Returns the next choice, and multiplies its probability to the others.
  Index pick(const double* weights, Index /*size*/, double total) {
    const Index k = *next_++;
    probability_ *= weights[k] / total;
    return k;
  }

  double probability() const { return probability_; }

 private:
  const Index* next_;
  double probability_ = 1.0;
};

}  // namespace selica::chains
