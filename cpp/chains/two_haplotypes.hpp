// A person who has two haplotypes, of which only the sum of the alleles is seen. Steps of forward
// and backward recursions at one site, for a register of people.
//
// The hidden state is the ordered pair (a, b) of the motifs of two independent haplotypes, with the
// transition Q(a, c) Q(b, d). The recursions are those of one_haplotype.hpp, and Q on either side
// is a diagonal and a matrix of rank one. All tables are symmetric, so the K (K + 1) / 2 cells a <=
// b are stored. With the margin R(a) = sum_b F(a, b),
//
//   P(a, b)   = s^2 F(a, b) + s (1 - s) (R(a) alpha_b + alpha_a R(b)) + (1 - s)^2 alpha_a alpha_b
//   B'(a, b)  = s^2 W(a, b) + s (1 - s) (U(a) + U(b)) + (1 - s)^2 sum_c alpha_c U(c),
//                                                              U(a) = sum_d W(a, d) alpha_d
//   entered a = (1 - s) alpha_a (s sum_d W(a, d) R(d) + (1 - s) U(a))   by one of the two
//
// A pair has the genotype with probability e(a, b) = u_a v_b + v_a u_b, where u and v are halves of
// 1 - theta for 0, theta and 1 - theta for 1, and so on: no differences, no rounding below zero.
//
// A hidden haplotype is copied by itself. The two are independent, each is exchangeable with its
// copy at every site, so the pair is, and genotypes are independent given the pairs.
#pragma once

#include <algorithm>
#include <utility>

#include "chains/one_haplotype.hpp"

namespace selica::chains {

struct TwoHaplotypes {
  static constexpr Index kPaths = 2;
  static constexpr Allele kLargest = 2;

  static Index cells(Index motifs) { return motifs * (motifs + 1) / 2; }
  static Index margins(Index motifs) { return motifs; }
  static Index scratch(Index motifs) { return 3 * motifs; }
  // Returns the place of the pair (a, b) among the cells.
  static Index cell(Index a, Index b, Index motifs) {
    if (a > b) std::swap(a, b);
    return a * (2 * motifs - a + 1) / 2 + (b - a);
  }

  // Writes u and v, (2, motifs, kDoubles).
  static void emission(const Motifs& law, Index j, const Register& people, double* e) {
    constexpr double kLines[4][4] = {
        {0.5, 0.0, 1.0, 0.0}, {0.5, -0.5, 1.0, -1.0}, {0.0, 1.0, 1.0, -1.0}, {0.0, 0.5, 0.0, 1.0}};
    Line u, v;
    for (Index i = 0; i < kDoubles; ++i) {
      const auto& factor = kLines[people.at(j, i) + 1];
      u.set(i, factor[0], factor[1]);
      v.set(i, factor[2], factor[3]);
    }
    const double* theta = law.allele + j * law.motifs;
    u.fill(theta, law.motifs, e);
    v.fill(theta, law.motifs, e + law.motifs * kDoubles);
  }

  static Doubles forward(const Motifs& law, Index j, const double* e, Doubles inverse, double* F,
                         double* margin, double* predicted, double* scratch) {
    const Index K = law.motifs;
    const double* enter = law.enter + j * K;
    const double *u = e, *v = e + K * kDoubles;
    const double stay = law.stay[j], leave = 1.0 - stay;
    const Doubles keep = stay * stay * inverse, cross = stay * leave * inverse;
    for (Index a = 0; a < K; ++a) {
      const Index at = a * kDoubles;
      store(scratch + at, cross * load(margin + at) + 0.5 * leave * leave * enter[a]);
      store(margin + at, Doubles{});
    }
    for (Index a = 0; a < K; ++a) {
      const Doubles ua = load(u + a * kDoubles), va = load(v + a * kDoubles);
      const Doubles jump = load(scratch + a * kDoubles), own = same(enter[a]);
      Doubles sum{};
      for (Index b = a; b < K; ++b, F += kDoubles, predicted += kDoubles) {
        const Index at = b * kDoubles;
        const Doubles p = keep * load(F) + jump * enter[b] + own * load(scratch + at);
        store(predicted, p);
        const Doubles f = p * (ua * load(v + at) + va * load(u + at));
        store(F, f);
        if (b > a) store(margin + at, load(margin + at) + f);
        sum += f;
      }
      store(margin + a * kDoubles, load(margin + a * kDoubles) + sum);
    }
    Doubles total{};
    for (Index a = 0; a < K; ++a) total += load(margin + a * kDoubles);
    return total;
  }

  static void backward(const Motifs& law, Index j, const Register& people, const double* e,
                       Doubles inverse, const double* predicted, const double* margin_before,
                       Doubles inverse_before, double* B, double* scratch, const Expected& out) {
    const Index K = law.motifs;
    const double* enter = law.enter + j * K;
    const double *u = e, *v = e + K * kDoubles;
    const double stay = law.stay[j], leave = 1.0 - stay;
    double *jumps = scratch, *stays = scratch + K * kDoubles;  // U, and sum_d W(a, d) R(d)
    for (double* sums : {jumps, stays, out.present, out.carrying})
      std::fill_n(sums, K * kDoubles, 0.0);
    const auto add = [](double* to, Doubles value) { store(to, load(to) + value); };
    double* cell = B;
    for (Index a = 0; a < K; ++a) {
      const Index here = a * kDoubles;
      const Doubles ua = load(u + here), va = load(v + here), before = load(margin_before + here);
      const double own = enter[a];
      Doubles jump{}, still{}, present{}, carrying{};
      for (Index b = a; b < K; ++b, cell += kDoubles, predicted += kDoubles) {
        const Index at = b * kDoubles;
        const Doubles first = ua * load(v + at), second = va * load(u + at);
        const Doubles scaled = load(cell) * inverse;
        const Doubles w = (first + second) * scaled;
        const Doubles weight = load(predicted) * scaled;
        const Doubles posterior = weight * (first + second);
        store(cell, w);
        jump += w * enter[b];
        still += w * load(margin_before + at);
        present += posterior;
        carrying += weight * first;
        if (b > a) {
          add(jumps + at, w * own);
          add(stays + at, w * before);
          add(out.present + at, posterior);
          add(out.carrying + at, weight * second);
        }
      }
      add(jumps + here, jump);
      add(stays + here, still);
      add(out.present + here, present);
      add(out.carrying + here, carrying);
    }
    finish(law, j, people, inverse_before, jumps, stays, out);
    Doubles all{};
    for (Index a = 0; a < K; ++a) all += enter[a] * load(jumps + a * kDoubles);
    for (Index a = 0; a < K; ++a) {
      const Index at = a * kDoubles;
      store(stays + at, stay * leave * load(jumps + at) + 0.5 * leave * leave * all);
    }
    const double keep = stay * stay;
    for (Index a = 0; a < K; ++a) {
      const Doubles own = load(stays + a * kDoubles);
      for (Index b = a; b < K; ++b, B += kDoubles)
        store(B, keep * load(B) + own + load(stays + b * kDoubles));
    }
  }

  // Draws the motifs of one person at site j, given those at the next: one, then the other.
  template <class Choice>
  static void draw(const Motifs& law, Index j, Index lane, const double* e, const double* predicted,
                   const double* margin, double* weight, Choice& choice, Path* const* path) {
    const Index K = law.motifs;
    const double *u = e + lane, *v = u + K * kDoubles;
    const auto filtered = [&](Index a, Index b) {
      const Index i = a * kDoubles, k = b * kDoubles;
      return predicted[cell(a, b, K) * kDoubles + lane] * (u[i] * v[k] + v[i] * u[k]);
    };
    const bool last = j + 1 == law.sites;
    const Index next = last ? 0 : path[0][j + 1], other = last ? 0 : path[1][j + 1];
    const double stay = last ? 0.0 : law.stay[j + 1];
    const double jump = last ? 1.0 : (1.0 - stay) * law.enter[(j + 1) * K + next];
    const double jump_other = last ? 1.0 : (1.0 - stay) * law.enter[(j + 1) * K + other];
    double total = 0.0;
    for (Index a = 0; a < K; ++a) {
      weight[a] = jump_other * margin[a * kDoubles + lane];
      if (stay > 0.0) weight[a] += stay * filtered(a, other);
      weight[a] *= jump + (a == next ? stay : 0.0);
      total += weight[a];
    }
    const Index a = choice.pick(weight, K, total);
    total = 0.0;
    for (Index b = 0; b < K; ++b) {
      weight[b] = filtered(a, b) * (jump_other + (b == other ? stay : 0.0));
      total += weight[b];
    }
    path[0][j] = static_cast<Path>(a);
    path[1][j] = static_cast<Path>(choice.pick(weight, K, total));
  }

  template <class Choice>
  static Allele emit(const Motifs& law, Index j, Path* const* path, Choice& choice) {
    const double t = law.allele[j * law.motifs + path[0][j]];
    const double s = law.allele[j * law.motifs + path[1][j]];
    const double weight[3] = {(1.0 - t) * (1.0 - s), t * (1.0 - s) + s * (1.0 - t), t * s};
    return static_cast<Allele>(choice.pick(weight, 3, 1.0));
  }

 private:
  // Turns sums over pairs into what is expected. Only a heterozygote leaves open who has the
  // allele.
  static void finish(const Motifs& law, Index j, const Register& people, Doubles inverse_before,
                     const double* jumps, const double* stays, const Expected& out) {
    const double stay = law.stay[j], leave = 1.0 - stay;
    double mixed[kDoubles], both[kDoubles];
    for (Index i = 0; i < kDoubles; ++i) {
      mixed[i] = people.at(j, i) == 1 ? 1.0 : 0.0;
      both[i] = people.at(j, i) == 2 ? 1.0 : 0.0;
    }
    const Doubles some = load(mixed), full = load(both), kept = stay * inverse_before;
    for (Index a = 0; a < law.motifs; ++a) {
      const Index at = a * kDoubles;
      const double enter = leave * law.enter[j * law.motifs + a];
      store(out.entered + at, enter * (kept * load(stays + at) + leave * load(jumps + at)));
      store(out.carrying + at, some * load(out.carrying + at) + full * load(out.present + at));
    }
  }
};

}  // namespace selica::chains
