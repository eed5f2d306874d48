// The copy of a Markov chain, from left to right.
//
// X_0 has the probabilities q, and P(X_j = l | X_j-1 = k) = Q_j(k, l). For a row x its copy x~ is
// drawn site by site (after Sesia, Sabatti and Candes 2019):
//
//   left_0(v) = q(v),  left_j(v) = Q_j(x_j-1, v) Q_j(x~_j-1, v) / N_j-1(v)
//   N_j(l) = sum_v left_j(v) Q_j+1(v, l)
//   P(x~_j = v) ~ left_j(v) Q_j+1(v, x_j+1), without the second factor at the last site
//
// left_j is divided by its sum, since only ratios count: products would vanish after 300 sites. A
// site of a new segment has rows of Q that are all the same, and nothing else is special about it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/buffer.hpp"

namespace selica::chains {

using State = std::int16_t;

struct Chain {
  Index sites, states;
  const double* first;  // q (states)
  const double* step;   // Q (sites - 1, states, states)
};

class ChainCopy {
 public:
  explicit ChainCopy(const Chain& chain) : chain_(chain), memory_(3 * chain.states) {}

  // Writes the copy of a row; `choice` picks states. Returns the site where the row is impossible,
  // -1 where there is none.
  template <class Choice>
  Index draw(const State* x, Choice& choice, State* copy) {
    const Index K = chain_.states;
    double *left = memory_.data(), *normaliser = left + K, *weight = normaliser + K;
    std::copy_n(chain_.first, K, left);
    if (!(left[x[0]] > 0.0)) return 0;
    for (Index j = 0; j < chain_.sites; ++j) {
      if (j > 0) {
        const double* Q = chain_.step + (j - 1) * K * K;
        normalise(left, Q, normaliser);
        const double *from = Q + x[j - 1] * K, *from_copy = Q + copy[j - 1] * K;
        for (Index v = 0; v < K; ++v)
          left[v] = normaliser[v] > 0.0 ? from[v] * from_copy[v] / normaliser[v] : 0.0;
        const double total = sum(left);
        if (!(total > 0.0)) return j;
        for (Index v = 0; v < K; ++v) left[v] /= total;
      }
      std::copy_n(left, K, weight);
      if (j + 1 < chain_.sites) {
        const double* to = chain_.step + j * K * K + x[j + 1];
        if (!(to[x[j] * K] > 0.0)) return j + 1;
        for (Index v = 0; v < K; ++v) weight[v] *= to[v * K];
      }
      const double total = sum(weight);
      if (!(total > 0.0)) return j;
      copy[j] = static_cast<State>(choice.pick(weight, K, total));
    }
    return -1;
  }

 private:
  double sum(const double* values) const {
    double total = 0.0;
    for (Index v = 0; v < chain_.states; ++v) total += values[v];
    return total;
  }

  void normalise(const double* left, const double* Q, double* out) const {
    const Index K = chain_.states;
    std::fill_n(out, K, 0.0);
    for (Index v = 0; v < K; ++v)
      for (Index l = 0; l < K; ++l) out[l] += left[v] * Q[v * K + l];
  }

  Chain chain_;
  Buffer<double> memory_;
};

}  // namespace selica::chains
