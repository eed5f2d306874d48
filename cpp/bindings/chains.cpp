// Copies of Markov chains and of genotypes, for Python. Sizes and values are checked here; the work
// is done without the lock of the interpreter, on threads, and Ctrl-C ends it.

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "base/workers.hpp"
#include "bindings/arrays.hpp"
#include "bindings/interruptible.hpp"
#include "bindings/keys.hpp"
#include "bindings/parts.hpp"
#include "chains/expectation.hpp"
#include "chains/genotype_copies.hpp"
#include "chains/markov.hpp"
#include "chains/one_haplotype.hpp"
#include "chains/replay.hpp"
#include "chains/two_haplotypes.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace selica {
namespace {

using chains::Allele;
using chains::Path;
using chains::State;
using States = Array<const State, 2>;
using Genotypes = Array<const Allele, 2>;
using Choices = Array<const Index, 2>;
using Begins = Array<const std::uint8_t, 2>;
using Place = std::pair<Index, Index>;

template <class T>
void within(const T* values, Index size, Index least, Index most, const char* sentence) {
  require(std::all_of(values, values + size, [=](T each) { return least <= each && each <= most; }),
          sentence);
}

void uniforms(const KeyWords& key, Index row, const VectorOut& out) {
  chains::Stream stream(key_of(key), row);
  std::generate_n(out.data(), out.shape(0), [&] { return stream.uniform(); });
}

chains::Chain chain_of(const Vector& first, const Array<const double, 3>& step) {
  const Index states = first.shape(0), steps = step.shape(0);
  require(has_shape(step, steps, states, states), "Sizes of the transitions differ.");
  return {steps + 1, states, first.data(), step.data()};
}

Place copy_chains(const Vector& first, const Array<const double, 3>& step, const States& x,
                  const KeyWords& key, const Array<State, 2>& out, Index threads) {
  constexpr Index kRows = 16;  // that one thread does in one go
  const chains::Chain chain = chain_of(first, step);
  const Index rows = x.shape(0), p = chain.sites;
  require(shaped(rows, p, x, out), "Sizes of the chain and of the rows differ.");
  within(x.data(), rows * p, 0, chain.states - 1, "A state is not one of the chain.");
  const Key words = key_of(key);
  chains::FirstWrong wrongs;
  interruptible([&](const std::function<bool()>& poll) {
    Workers workers((rows + kRows - 1) / kRows, threads);
    workers.run(
        [&] {
          auto copier = std::make_shared<chains::ChainCopy>(chain);
          return [&, copier](Index number) {
            check_stop();
            for (Index i = number * kRows; i < std::min(rows, (number + 1) * kRows); ++i) {
              chains::Stream stream(words, i);
              wrongs.note({i, copier->draw(x.data() + i * p, stream, out.data() + i * p)});
            }
          };
        },
        poll);
  });
  return {wrongs.first().person, wrongs.first().site};
}

// Writes the probability of each given copy of each row.
void chain_probabilities(const Vector& first, const Array<const double, 3>& step, const States& x,
                         const Choices& copies, const VectorOut& out) {
  const chains::Chain chain = chain_of(first, step);
  const Index rows = x.shape(0), p = chain.sites;
  require(shaped(rows, p, x, copies) && sized(rows, out), "Sizes of rows and copies differ.");
  within(x.data(), rows * p, 0, chain.states - 1, "A state is not one of the chain.");
  within(copies.data(), rows * p, 0, chain.states - 1, "A state is not one of the chain.");
  chains::ChainCopy copier(chain);
  std::vector<State> written(static_cast<std::size_t>(p));
  for (Index i = 0; i < rows; ++i) {
    chains::Replay replay(copies.data() + i * p);
    const bool possible = copier.draw(x.data() + i * p, replay, written.data()) < 0;
    out.data()[i] = possible ? replay.probability() : 0.0;
  }
}

chains::Motifs law_of(const Vector& stay, const Matrix& enter, const Matrix& allele) {
  const Index sites = enter.shape(0), motifs = enter.shape(1);
  require(sites > 0 && motifs > 0 && motifs <= chains::kMostMotifs && sized(sites, stay) &&
              shaped(sites, motifs, allele),
          "Sizes of the motifs differ.");
  require(stay.data()[0] == 0.0, "Nothing stays from before the first site.");
  return {sites, motifs, stay.data(), enter.data(), allele.data()};
}

chains::People people_of(const Genotypes& x, const chains::Motifs& law, Index haplotypes) {
  const Index people = x.shape(0);
  require(people > 0, "There are no genotypes.");
  require(shaped(people, law.sites, x), "Sizes of motifs and genotypes differ.");
  within(x.data(), people * law.sites, chains::kMissing, haplotypes, "A genotype is impossible.");
  return {people, law.sites, x.data()};
}

// Calls `work` with the kind of people that have so many haplotypes.
template <class Work>
auto with_states(Index haplotypes, Work&& work) {
  require(haplotypes == 1 || haplotypes == 2, "A person has one haplotype or two.");
  return haplotypes == 1 ? work(chains::OneHaplotype{}) : work(chains::TwoHaplotypes{});
}

std::tuple<double, Index, Index> motif_counts(Index haplotypes, const Vector& stay,
                                              const Matrix& enter, const Matrix& allele,
                                              const Genotypes& x, const Vector& weight,
                                              const CubeOut& out, Index threads) {
  const chains::Motifs law = law_of(stay, enter, allele);
  const chains::People people = people_of(x, law, haplotypes);
  require(sized(people.people, weight) && has_shape(out, 3, law.sites, law.motifs),
          "Sizes of motifs and sums differ.");
  const Index size = law.sites * law.motifs;
  double likelihood = 0.0;
  const chains::Sums sums{out.data(), out.data() + size, out.data() + 2 * size, &likelihood};
  chains::FirstWrong wrongs;
  with_states(haplotypes, [&]<class Kind>(Kind) {
    interruptible([&](const std::function<bool()>& poll) {
      chains::expect<Kind>(law, people, weight.data(), sums, wrongs, threads, poll);
    });
  });
  return {likelihood, wrongs.first().person, wrongs.first().site};
}

Place draw_genotypes(Index haplotypes, const Vector& stay, const Matrix& enter,
                     const Matrix& allele, const Genotypes& x, bool complete, const KeyWords& key,
                     const Array<Allele, 2>& out, Index threads) {
  const chains::Motifs law = law_of(stay, enter, allele);
  const chains::People people = people_of(x, law, haplotypes);
  require(shaped(people.people, law.sites, out), "Sizes of genotypes and copies differ.");
  const chains::Task task = complete ? chains::Task::complete : chains::Task::copy;
  const Key words = key_of(key);
  chains::FirstWrong wrongs;
  with_states(haplotypes, [&]<class Kind>(Kind) {
    interruptible([&](const std::function<bool()>& poll) {
      chains::draw_genotypes<Kind>(law, people, task, words, out.data(), wrongs, threads, poll);
    });
  });
  return {wrongs.first().person, wrongs.first().site};
}

// Writes copies for several partitions, (partitions, people, sites), of which `begins` (partitions,
// sites) says where groups begin.
Place draw_group_copies(Index haplotypes, const Vector& stay, const Matrix& enter,
                        const Matrix& allele, const Genotypes& x, const Begins& begins,
                        const KeyWords& key, const Array<Allele, 3>& out, Index threads) {
  const chains::Motifs law = law_of(stay, enter, allele);
  const chains::People people = people_of(x, law, haplotypes);
  const Index partitions = begins.shape(0);
  require(
      shaped(partitions, law.sites, begins) && has_shape(out, partitions, people.people, law.sites),
      "Sizes of genotypes, groups and copies differ.");
  std::vector<chains::Groups> groups;
  for (Index r = 0; r < partitions; ++r) groups.push_back({begins.data() + r * law.sites});
  const Key words = key_of(key);
  chains::FirstWrong wrongs;
  with_states(haplotypes, [&]<class Kind>(Kind) {
    interruptible([&](const std::function<bool()>& poll) {
      chains::draw_group_copies<Kind>(law, people, groups.data(), partitions, words, out.data(),
                                      wrongs, threads, poll);
    });
  });
  return {wrongs.first().person, wrongs.first().site};
}

// Writes the probability of each given path of hidden motifs, (people, sites * haplotypes): site by
// site from the last to the first, as they are drawn.
void path_probabilities(Index haplotypes, const Vector& stay, const Matrix& enter,
                        const Matrix& allele, const Genotypes& x, const Choices& paths,
                        const VectorOut& out) {
  const chains::Motifs law = law_of(stay, enter, allele);
  const chains::People people = people_of(x, law, haplotypes);
  const Index length = law.sites * haplotypes;
  require(shaped(people.people, length, paths) && sized(people.people, out),
          "Sizes of genotypes and paths differ.");
  within(paths.data(), people.people * length, 0, law.motifs - 1, "A motif is not there.");
  with_states(haplotypes, [&]<class Kind>(Kind) {
    chains::GenotypeCopy<Kind> copier(law, people);
    for (Index first = 0; first < people.people; first += kDoubles) {
      std::vector<chains::Replay> replays;
      for (Index i = first; i < std::min(people.people, first + kDoubles); ++i)
        replays.emplace_back(paths.data() + i * length);
      const bool possible = !copier
                                 .draw_paths(first,
                                             [&](Index lane) -> chains::Replay& {
                                               return replays[static_cast<std::size_t>(lane)];
                                             })
                                 .found();
      for (std::size_t lane = 0; lane < replays.size(); ++lane)
        out.data()[first + static_cast<Index>(lane)] = possible ? replays[lane].probability() : 0.0;
    }
  });
}

// Writes the probability of each given copy of each path of one hidden haplotype. Groups begin
// where `begins` (sites) is not zero; motifs of a copy are in the order in which they are drawn:
// group by group, and in a group from the last to the first.
void path_copy_probabilities(const Vector& stay, const Matrix& enter, const Array<const Path, 2>& x,
                             const Choices& copies, const Array<const std::uint8_t, 1>& begins,
                             const VectorOut& out) {
  const chains::Motifs law = law_of(stay, enter, enter);
  const Index rows = x.shape(0), p = law.sites;
  require(shaped(rows, p, x, copies) && sized(rows, out) && sized(p, begins),
          "Sizes of paths and copies differ.");
  within(x.data(), rows * p, 0, law.motifs - 1, "A motif is not there.");
  within(copies.data(), rows * p, 0, law.motifs - 1, "A motif is not there.");
  const chains::Groups groups{begins.data()};
  chains::PathCopy copier(law, groups.longest(p));
  std::vector<Path> written(static_cast<std::size_t>(p));
  for (Index i = 0; i < rows; ++i) {
    chains::Replay replay(copies.data() + i * p);
    copier.draw(x.data() + i * p, groups, replay, written.data());
    out.data()[i] = replay.probability();
  }
}

}  // namespace
}  // namespace selica

void bind_chains(nb::module_& m) {
  using namespace selica;
  const auto a = nb::arg().noconvert();  // an array as it is
  m.def("uniforms", &uniforms, a, "row"_a, "out"_a.noconvert());
  m.def("copy_chains", &copy_chains, a, a, a, a, a, "threads"_a);
  m.def("chain_probabilities", &chain_probabilities, a, a, a, a, a);
  m.def("motif_counts", &motif_counts, "haplotypes"_a, "stay"_a.noconvert(), "enter"_a.noconvert(),
        "allele"_a.noconvert(), "x"_a.noconvert(), "weight"_a.noconvert(), "out"_a.noconvert(),
        "threads"_a);
  m.def("draw_genotypes", &draw_genotypes, "haplotypes"_a, "stay"_a.noconvert(),
        "enter"_a.noconvert(), "allele"_a.noconvert(), "x"_a.noconvert(), "complete"_a,
        "key"_a.noconvert(), "out"_a.noconvert(), "threads"_a);
  m.def("draw_group_copies", &draw_group_copies, "haplotypes"_a, "stay"_a.noconvert(),
        "enter"_a.noconvert(), "allele"_a.noconvert(), "x"_a.noconvert(), "begins"_a.noconvert(),
        "key"_a.noconvert(), "out"_a.noconvert(), "threads"_a);
  m.def("path_probabilities", &path_probabilities, "haplotypes"_a, "stay"_a.noconvert(),
        "enter"_a.noconvert(), "allele"_a.noconvert(), "x"_a.noconvert(), "paths"_a.noconvert(),
        "out"_a.noconvert());
  m.def("path_copy_probabilities", &path_copy_probabilities, a, a, a, a, a, a);
}
