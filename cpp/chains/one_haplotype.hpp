// A person who has one haplotype: phased data, or inbred lines. Steps of forward and backward
// recursions at one site, for a register of people.
//
// With F_j(k) = P(Z_j = k, x_j | x_0 .. x_j-1), c_j its sum over k, and e_j the probability of the
// genotype given the motif,
//
//   predicted  P_j(k) = s F_j-1(k) / c_j-1 + (1 - s) alpha_k,   F_j = P_j e_j
//   evidence   W_j(k) = e_j(k) B_j(k) / c_j,   B_j-1(k) = s W_j(k) + (1 - s) sum_l alpha_l W_j(l)
//   posterior  P(Z_j = k | x) = P_j(k) W_j(k),   that it was entered: (1 - s) alpha_k W_j(k)
#pragma once

#include "chains/people.hpp"

namespace selica::chains {

// What is expected of each motif at a site, (motifs, kDoubles) each.
struct Expected {
  double* present;   // to be in it
  double* carrying;  // to be in it and to have allele 1
  double* entered;   // to have entered it
};

struct OneHaplotype {
  static constexpr Index kPaths = 1;
  static constexpr Allele kLargest = 1;

  static Index cells(Index motifs) { return motifs; }
  static Index margins(Index) { return 0; }
  static Index scratch(Index) { return 0; }

  // Writes the probability of each genotype, (motifs, kDoubles).
  static void emission(const Motifs& law, Index j, const Register& people, double* e) {
    constexpr double kLine[3][2] = {{1.0, 0.0}, {1.0, -1.0}, {0.0, 1.0}};
    Line line;
    for (Index i = 0; i < kDoubles; ++i) {
      const auto& factor = kLine[people.at(j, i) + 1];
      line.set(i, factor[0], factor[1]);
    }
    line.fill(law.allele + j * law.motifs, law.motifs, e);
  }

  // Takes F, with the inverse of its sum, one site on; writes what is predicted. Returns the sum.
  static Doubles forward(const Motifs& law, Index j, const double* e, Doubles inverse, double* F,
                         double* /*margin*/, double* predicted, double* /*scratch*/) {
    const double* enter = law.enter + j * law.motifs;
    const Doubles keep = law.stay[j] * inverse;
    const double leave = 1.0 - law.stay[j];
    Doubles total{};
    for (Index k = 0; k < law.motifs; ++k) {
      const Doubles p = keep * load(F + k * kDoubles) + leave * enter[k];
      store(predicted + k * kDoubles, p);
      const Doubles f = p * load(e + k * kDoubles);
      store(F + k * kDoubles, f);
      total += f;
    }
    return total;
  }

  // Takes B one site back, and says what is expected at this site.
  static void backward(const Motifs& law, Index j, const Register& people, const double* e,
                       Doubles inverse, const double* predicted, const double* /*margin_before*/,
                       Doubles /*inverse_before*/, double* B, double* /*scratch*/,
                       const Expected& out) {
    const double* enter = law.enter + j * law.motifs;
    const double stay = law.stay[j], leave = 1.0 - stay;
    double ones[kDoubles];
    for (Index i = 0; i < kDoubles; ++i) ones[i] = people.at(j, i) == 1 ? 1.0 : 0.0;
    const Doubles carries = load(ones);
    Doubles all{};
    for (Index k = 0; k < law.motifs; ++k) {
      const Index at = k * kDoubles;
      const Doubles w = load(e + at) * load(B + at) * inverse;
      const Doubles present = load(predicted + at) * w;
      store(out.present + at, present);
      store(out.carrying + at, present * carries);
      store(out.entered + at, leave * enter[k] * w);
      store(B + at, w);
      all += enter[k] * w;
    }
    for (Index k = 0; k < law.motifs; ++k) {
      const Index at = k * kDoubles;
      store(B + at, stay * load(B + at) + leave * all);
    }
  }

  // Draws the motif of one person at site j, given that at the next, which lies in `path`.
  template <class Choice>
  static void draw(const Motifs& law, Index j, Index lane, const double* e, const double* predicted,
                   const double* /*margin*/, double* weight, Choice& choice, Path* const* path) {
    const Index K = law.motifs;
    const bool last = j + 1 == law.sites;
    double total = 0.0;
    for (Index k = 0; k < K; ++k) {
      weight[k] = predicted[k * kDoubles + lane] * e[k * kDoubles + lane];
      if (!last) weight[k] *= law.step(j + 1, k, path[0][j + 1]);
      total += weight[k];
    }
    path[0][j] = static_cast<Path>(choice.pick(weight, K, total));
  }

  // Draws the number of alleles 1 at site j given the motif.
  template <class Choice>
  static Allele emit(const Motifs& law, Index j, Path* const* path, Choice& choice) {
    const double t = law.allele[j * law.motifs + path[0][j]];
    const double weight[2] = {1.0 - t, t};
    return static_cast<Allele>(choice.pick(weight, 2, 1.0));
  }
};

}  // namespace selica::chains
