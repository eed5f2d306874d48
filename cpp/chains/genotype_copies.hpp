// Copies of genotypes by a law of motifs: the hidden motifs given the genotypes, from the last site
// to the first; a Markov chain copy of each hidden haplotype; new alleles by the motifs of the
// copy.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <utility>

#include "base/workers.hpp"
#include "chains/forward.hpp"
#include "chains/motifs.hpp"
#include "chains/stream.hpp"

namespace selica::chains {

// What becomes of a row.
enum class Task {
  copy,      // a knockoff copy
  complete,  // the row itself, with genotypes drawn where they are missing
};

template <class States>
class GenotypeCopy {
 public:
  GenotypeCopy(const Motifs& law, const People& people)
      : law_(law),
        people_(people),
        forward_(law),
        copier_(law),
        emission_(2 * law.motifs * kDoubles),
        weight_(law.motifs),
        hidden_(kDoubles * States::kPaths * law.sites),
        copied_(States::kPaths * law.sites) {}

  // Draws the hidden motifs of a register of people, of whom `choice(lane)` makes the choices.
  template <class Choices>
  Wrong draw_paths(Index first, Choices&& choice) {
    const Register people(people_, first);
    const Wrong wrong = forward_.run(people, nullptr);
    if (wrong.found()) return wrong;
    for (Index window = forward_.windows() - 1; window >= 0; --window) {
      if (window + 1 < forward_.windows()) forward_.recall(people, window);
      for (Index j = forward_.end(window) - 1; j >= forward_.begin(window); --j) {
        States::emission(law_, j, people, emission_.data());
        for (Index lane = 0; lane < people.count(); ++lane)
          States::draw(law_, j, lane, emission_.data(), forward_.predicted(j), forward_.margin(j),
                       weight_.data(), choice(lane), paths(lane).data());
      }
    }
    return {};
  }

  // Writes rows (sites) of a register of people, the first of which is at `out`.
  Wrong draw(Index first, Task task, Key key, Allele* out) {
    const Register people(people_, first);
    std::array<Stream, kDoubles> streams =
        streams_of(key, first, std::make_index_sequence<kDoubles>());
    const Wrong wrong = draw_paths(first, [&](Index lane) -> Stream& { return streams[lane]; });
    if (wrong.found()) return wrong;
    for (Index lane = 0; lane < people.count(); ++lane) {
      Stream& stream = streams[static_cast<std::size_t>(lane)];
      auto path = paths(lane);
      Allele* row = out + lane * law_.sites;
      if (task == Task::copy) {
        for (Index i = 0; i < States::kPaths; ++i) {
          Path* copied = copied_.data() + i * law_.sites;
          copier_.draw(path[i], stream, copied);
          path[i] = copied;
        }
      }
      for (Index j = 0; j < law_.sites; ++j) {
        const Allele seen = people.at(j, lane);
        row[j] = task == Task::complete && seen != kMissing
                     ? seen
                     : States::emit(law_, j, path.data(), stream);
      }
    }
    return {};
  }

  // Returns the hidden haplotypes of a person, each (sites).
  std::array<Path*, States::kPaths> paths(Index lane) {
    std::array<Path*, States::kPaths> each;
    for (Index i = 0; i < States::kPaths; ++i)
      each[i] = hidden_.data() + (lane * States::kPaths + i) * law_.sites;
    return each;
  }

 private:
  template <std::size_t... lanes>
  static std::array<Stream, kDoubles> streams_of(Key key, Index first,
                                                 std::index_sequence<lanes...>) {
    return {Stream(key, first + static_cast<Index>(lanes))...};
  }

  Motifs law_;
  People people_;
  Forward<States> forward_;
  PathCopy copier_;
  Buffer<double> emission_, weight_;
  Buffer<Path> hidden_, copied_;
};

// Writes rows for all people, (people, sites).
template <class States>
void draw_genotypes(const Motifs& law, const People& people, Task task, Key key, Allele* out,
                    FirstWrong& wrongs, Index threads, const std::function<bool()>& poll) {
  const Index registers = (people.people + kDoubles - 1) / kDoubles;
  Workers workers(registers, threads);
  workers.run(
      [&] {
        auto work = std::make_shared<GenotypeCopy<States>>(law, people);
        return [&, work](Index number) {
          const Index first = number * kDoubles;
          wrongs.note(work->draw(first, task, key, out + first * law.sites));
        };
      },
      poll);
}

}  // namespace selica::chains
