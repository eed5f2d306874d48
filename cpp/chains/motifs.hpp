// Haplotypes as mosaics of K motifs (Scheet and Stephens 2006).
//
// At site j a haplotype is in motif Z_j. It stays there with probability s_j = exp(-r_j), or else
// enters a motif k drawn with probability alpha_jk, which may be the same:
//
//   Q_j(k, l) = s_j 1{k = l} + (1 - s_j) alpha_jl
//
// It has allele 1 with probability theta_j,Z_j. At the first site, and where a segment begins,
// s_j = 0. Since Q is a diagonal and a matrix of rank one, sums over it take K steps, not K^2.
#pragma once

#include <cstdint>

#include "base/types.hpp"

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

}  // namespace selica::chains
