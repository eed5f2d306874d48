// How often motifs are expected along the sites, given the genotypes: what a step of the EM
// algorithm needs.
//
// Weighted sums over people of P(in k), P(in k and allele 1) and P(entered k), for one haplotype of
// a person. Genotypes that are missing say nothing of alleles and are left out of the first two.
// People are in a fixed number of groups, each of which is summed by one thread, and the groups are
// added in their order: the sums do not depend on the threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "base/buffer.hpp"
#include "base/workers.hpp"
#include "chains/forward.hpp"
#include "chains/one_haplotype.hpp"

namespace selica::chains {

struct Sums {
  double* present;
  double* carrying;
  double* entered;  // (sites, motifs) each
  double* log_likelihood;
};

// The sums of some people.
template <class States>
class Expectation {
 public:
  Expectation(const Motifs& law, const People& people, const double* weight)
      : law_(law),
        people_(people),
        weight_(weight),
        forward_(law),
        emission_(2 * law.motifs * kDoubles),
        scratch_(std::max<Index>(States::scratch(law.motifs), 1) * kDoubles),
        backward_(States::cells(law.motifs) * kDoubles),
        expected_(3 * law.motifs * kDoubles) {}

  void add(Index first, const Sums& sums, FirstWrong& wrongs) {
    const Register people(people_, first);
    double likelihood[kDoubles] = {};
    const Wrong wrong = forward_.run(people, likelihood);
    if (wrong.found()) return wrongs.note(wrong);
    double weights[kDoubles] = {};
    std::copy_n(weight_ + first, people.count(), weights);
    for (Index i = 0; i < kDoubles; ++i) *sums.log_likelihood += weights[i] * likelihood[i];
    const Index K = law_.motifs;
    const Expected expected{expected_.data(), expected_.data() + K * kDoubles,
                            expected_.data() + 2 * K * kDoubles};
    std::fill_n(backward_.data(), States::cells(K) * kDoubles, 1.0);
    for (Index window = forward_.windows() - 1; window >= 0; --window) {
      if (window + 1 < forward_.windows()) forward_.recall(people, window);
      for (Index j = forward_.end(window) - 1; j >= forward_.begin(window); --j) {
        States::emission(law_, j, people, emission_.data());
        States::backward(law_, j, people, emission_.data(), forward_.inverse(j),
                         forward_.predicted(j), forward_.margin_before(j),
                         forward_.inverse_before(j), backward_.data(), scratch_.data(), expected);
        gather(people, j, weights, expected, sums);
      }
    }
  }

 private:
  void gather(const Register& people, Index j, const double* weights, const Expected& expected,
              const Sums& sums) const {
    double known[kDoubles];
    for (Index i = 0; i < kDoubles; ++i) known[i] = people.at(j, i) == kMissing ? 0.0 : weights[i];
    const Doubles seen = load(known), all = load(weights);
    for (Index k = 0; k < law_.motifs; ++k) {
      const Index at = k * kDoubles, to = j * law_.motifs + k;
      sums.present[to] += sum(seen * load(expected.present + at));
      sums.carrying[to] += sum(seen * load(expected.carrying + at));
      sums.entered[to] += sum(all * load(expected.entered + at));
    }
  }

  Motifs law_;
  People people_;
  const double* weight_;  // (people)
  Forward<States> forward_;
  Buffer<double> emission_, scratch_, backward_, expected_;
};

// Adds up all people. `sums` are written.
template <class States>
void expect(const Motifs& law, const People& people, const double* weight, const Sums& sums,
            FirstWrong& wrongs, Index threads, const std::function<bool()>& poll) {
  constexpr Index kGroups = 16;
  const Index registers = (people.people + kDoubles - 1) / kDoubles;
  const Index each = (registers + kGroups - 1) / kGroups, groups = (registers + each - 1) / each;
  const Index size = law.sites * law.motifs;
  std::vector<std::vector<double>> parts(static_cast<std::size_t>(groups));
  Workers workers(groups, threads);
  workers.run(
      [&] {
        auto work = std::make_shared<Expectation<States>>(law, people, weight);
        return [&, work](Index group) {
          std::vector<double>& part = parts[static_cast<std::size_t>(group)];
          part.assign(static_cast<std::size_t>(3 * size + 1), 0.0);
          const Sums to{part.data(), part.data() + size, part.data() + 2 * size,
                        part.data() + 3 * size};
          const Index last = std::min(registers, (group + 1) * each);
          for (Index number = group * each; number < last; ++number)
            work->add(number * kDoubles, to, wrongs);
        };
      },
      poll);
  std::fill_n(sums.present, size, 0.0);
  std::fill_n(sums.carrying, size, 0.0);
  std::fill_n(sums.entered, size, 0.0);
  *sums.log_likelihood = 0.0;
  for (const std::vector<double>& part : parts) {
    if (part.empty()) continue;  // the work was stopped
    for (Index i = 0; i < size; ++i) {
      sums.present[i] += part[static_cast<std::size_t>(i)];
      sums.carrying[i] += part[static_cast<std::size_t>(size + i)];
      sums.entered[i] += part[static_cast<std::size_t>(2 * size + i)];
    }
    *sums.log_likelihood += part.back();
  }
}

}  // namespace selica::chains
