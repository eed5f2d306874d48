// The copy of a hidden haplotype, group by group: knockoffs for exchanges of whole groups.
//
// Sites are cut into groups of neighbours, first .. last. The motifs of a group are one state of a
// Markov chain over groups, and the recursion of markov.hpp holds for that chain (the groups are
// those of Sesia et al. 2020). The probability of the motifs v of a group given those before it is
// Q(z_first-1, v_first) I(v), where I is the product of the steps inside the group. It cancels once
// in the ratio of two transitions to the normaliser, so that of a group only its ends count:
//
//   left(v)    = A(v_first) I(v)
//   A(k)       = Q(z_first-1, k) Q(z~_first-1, k) / N(k),  the shares of motifs at the first group
//   F_first    = A,  F_j(l) = sum_k F_j-1(k) Q_j(k, l)     inside the group
//   N_next(l)  = sum_k F_last(k) Q_last+1(k, l)
//   P(z~_last = k)           ~ F_last(k) Q_last+1(k, z_last+1), without the factor at the last site
//   P(z~_j = k | z~_j+1 = l) ~ F_j(k) Q_j+1(k, l)          from the last site to the first
//
// Q is a diagonal and a matrix of rank one, so every line takes K steps for each site. Groups of
// one site are the copies of markov.hpp. F is divided by its sum where a group begins, since only
// ratios count, and Q keeps the sum.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/buffer.hpp"
#include "chains/motifs.hpp"

namespace selica::chains {

// Where groups begin.
struct Groups {
  const std::uint8_t* begins = nullptr;  // (sites), not zero where one begins; null: everywhere

  // Returns the site behind the group that begins at a site.
  Index end(Index begin, Index sites) const {
    Index end = begin + 1;
    if (begins != nullptr)
      while (end < sites && begins[end] == 0) ++end;
    return end;
  }
  // Returns the sites of the largest group.
  Index longest(Index sites) const {
    Index most = 0;
    for (Index begin = 0, next; begin < sites; begin = next) {
      next = end(begin, sites);
      most = std::max(most, next - begin);
    }
    return most;
  }
};

class PathCopy {
 public:
  // For groups of at most so many sites.
  PathCopy(const Motifs& law, Index longest) : law_(law), memory_((longest + 2) * law.motifs) {}

  template <class Choice>
  void draw(const Path* z, const Groups& groups, Choice& choice, Path* copy) {
    const Index K = law_.motifs, sites = law_.sites;
    double *before = memory_.data(), *weight = before + K, *F = weight + K;  // F (group, K)
    std::copy_n(law_.enter, K, F);
    for (Index begin = 0; begin < sites;) {
      const Index end = groups.end(begin, sites);
      if (begin > 0) enter_group(begin, z[begin - 1], copy[begin - 1], before, F);
      for (Index j = begin + 1; j < end; ++j) advance(j, F + (j - begin - 1) * K);
      const double* last = F + (end - begin - 1) * K;
      if (end == sites)
        copy[end - 1] = static_cast<Path>(choice.pick(last, K, 1.0));
      else
        copy[end - 1] = before_motif(end, z[end], last, weight, choice);
      for (Index j = end - 2; j >= begin; --j)
        copy[j] = before_motif(j + 1, copy[j + 1], F + (j - begin) * K, weight, choice);
      std::copy_n(last, K, before);
      begin = end;
    }
  }

 private:
  // Writes A at the first site of a group, from F at the last site before it.
  void enter_group(Index j, Index at, Index at_copy, const double* before, double* A) const {
    const Index K = law_.motifs;
    const double stay = law_.stay[j], leave = 1.0 - stay;
    const double* enter = law_.enter + j * K;
    for (Index v = 0; v < K; ++v) {
      const double jump = leave * enter[v];
      const double normaliser = stay * before[v] + jump;  // F sums to one
      const double both = (jump + (v == at ? stay : 0.0)) * (jump + (v == at_copy ? stay : 0.0));
      A[v] = normaliser > 0.0 ? both / normaliser : 0.0;
    }
    double total = 0.0;
    for (Index v = 0; v < K; ++v) total += A[v];
    const double scale = 1.0 / total;
    for (Index v = 0; v < K; ++v) A[v] *= scale;
  }

  // Writes F at site j behind that of the site before.
  void advance(Index j, double* F) const {
    const Index K = law_.motifs;
    const double stay = law_.stay[j], leave = 1.0 - stay;
    const double* enter = law_.enter + j * K;
    for (Index v = 0; v < K; ++v) F[K + v] = stay * F[v] + leave * enter[v];
  }

  // Draws the motif at the site before j, where F is known, given the motif at j.
  template <class Choice>
  Path before_motif(Index j, Index motif, const double* F, double* weight, Choice& choice) const {
    const Index K = law_.motifs;
    const double stay = law_.stay[j];
    const double jump = (1.0 - stay) * law_.enter[j * K + motif];
    for (Index v = 0; v < K; ++v) weight[v] = F[v] * jump;
    weight[motif] += F[motif] * stay;
    return static_cast<Path>(choice.pick(weight, K, jump + F[motif] * stay));
  }

  Motifs law_;
  Buffer<double> memory_;
};

}  // namespace selica::chains
