// Haplotypes as mosaics of K motifs (Scheet and Stephens 2006), and the copy of such a mosaic.
//
// At site j a haplotype is in motif Z_j. It stays there with probability s_j = exp(-r_j), or else
// enters a motif k drawn with probability alpha_jk, which may be the same:
//
//   Q_j(k, l) = s_j 1{k = l} + (1 - s_j) alpha_jl
//
// It has allele 1 with probability theta_j,Z_j. At the first site, and where a segment begins,
// s_j = 0. Since Q is a diagonal and a matrix of rank one, sums over it take K steps, not K^2.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/buffer.hpp"

namespace selica::chains {

struct Motifs {
  Index sites, motifs;
  const double* stay;    // s (sites); 0 at the first
  const double* enter;   // alpha (sites, motifs)
  const double* allele;  // theta (sites, motifs)

  // Returns Q_j(k, l).
  double step(Index j, Index k, Index l) const {
    return (k == l ? stay[j] : 0.0) + (1.0 - stay[j]) * enter[j * motifs + l];
  }
};

// A motif along the sites.
using Path = std::uint8_t;
inline constexpr Index kMostMotifs = 255;

// Draws the Markov chain copy of a path, by the recursion of markov.hpp, in K steps for each site.
class PathCopy {
 public:
  explicit PathCopy(const Motifs& law) : law_(law), memory_(2 * law.motifs) {}

  template <class Choice>
  void draw(const Path* z, Choice& choice, Path* copy) {
    const Index K = law_.motifs;
    double *left = memory_.data(), *weight = left + K;
    std::copy_n(law_.enter, K, left);
    for (Index j = 0; j < law_.sites; ++j) {
      if (j > 0) {
        const double stay = law_.stay[j], leave = 1.0 - stay;
        const double* enter = law_.enter + j * K;
        const Index at = z[j - 1], at_copy = copy[j - 1];
        for (Index v = 0; v < K; ++v) {
          const double jump = leave * enter[v];
          const double normaliser = stay * left[v] + jump;  // left sums to one
          const double both =
              (jump + (v == at ? stay : 0.0)) * (jump + (v == at_copy ? stay : 0.0));
          left[v] = normaliser > 0.0 ? both / normaliser : 0.0;
        }
        double total = 0.0;
        for (Index v = 0; v < K; ++v) total += left[v];
        const double scale = 1.0 / total;
        for (Index v = 0; v < K; ++v) left[v] *= scale;
      }
      if (j + 1 == law_.sites) {
        copy[j] = static_cast<Path>(choice.pick(left, K, 1.0));
        break;
      }
      const Index next = z[j + 1];
      const double stay = law_.stay[j + 1];
      const double jump = (1.0 - stay) * law_.enter[(j + 1) * K + next];
      for (Index v = 0; v < K; ++v) weight[v] = left[v] * jump;
      weight[next] += left[next] * stay;
      copy[j] = static_cast<Path>(choice.pick(weight, K, jump + left[next] * stay));
    }
  }

 private:
  Motifs law_;
  Buffer<double> memory_;
};

}  // namespace selica::chains
