// Copies of genotypes by a law of motifs: the hidden motifs given the genotypes, from the last site
// to the first; a Markov chain copy of each hidden haplotype; new alleles by the motifs of the
// copy. Copies for several partitions into groups share the hidden motifs, whose draw takes nearly
// all of the time: each of them is a knockoff copy for its own groups.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "base/buffer.hpp"
#include "base/workers.hpp"
#include "chains/forward.hpp"
#include "chains/path_copy.hpp"
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
  // Copies will be for groups of at most so many sites.
  GenotypeCopy(const Motifs& law, const People& people, Index longest = 1)
      : law_(law),
        people_(people),
        forward_(law),
        copier_(law, longest),
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
      Allele* row = out + lane * law_.sites;
      if (task == Task::copy) {
        copy_row(lane, Groups{}, stream, row);
        continue;
      }
      const auto path = paths(lane);
      for (Index j = 0; j < law_.sites; ++j) {
        const Allele seen = people.at(j, lane);
        row[j] = seen != kMissing ? seen : States::emit(law_, j, path.data(), stream);
      }
    }
    return {};
  }

  // Writes copies of a register of people for each of several partitions; copies of one partition
  // are `apart` from those of the next. Each partition has its own random numbers.
  Wrong draw_partitions(Index first, const Groups* partitions, Index count, Key key, Index apart,
                        Allele* out) {
    const Register people(people_, first);
    std::array<Stream, kDoubles> streams =
        streams_of(key, first, std::make_index_sequence<kDoubles>());
    const Wrong wrong = draw_paths(first, [&](Index lane) -> Stream& { return streams[lane]; });
    if (wrong.found()) return wrong;
    for (Index r = 0; r < count; ++r)
      for (Index lane = 0; lane < people.count(); ++lane) {
        Stream stream(key, first + lane, r + 1);
        copy_row(lane, partitions[r], stream, out + r * apart + lane * law_.sites);
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
  // Writes a copy of a person whose hidden motifs are drawn.
  void copy_row(Index lane, const Groups& groups, Stream& stream, Allele* row) {
    auto path = paths(lane);
    for (Index i = 0; i < States::kPaths; ++i) {
      Path* copied = copied_.data() + i * law_.sites;
      copier_.draw(path[i], groups, stream, copied);
      path[i] = copied;
    }
    for (Index j = 0; j < law_.sites; ++j) row[j] = States::emit(law_, j, path.data(), stream);
  }

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

// Writes copies of all people for each of several partitions, (partitions, people, sites).
template <class States>
void draw_group_copies(const Motifs& law, const People& people, const Groups* partitions,
                       Index count, Key key, Allele* out, FirstWrong& wrongs, Index threads,
                       const std::function<bool()>& poll) {
  const Index registers = (people.people + kDoubles - 1) / kDoubles;
  Index longest = 1;
  for (Index r = 0; r < count; ++r) longest = std::max(longest, partitions[r].longest(law.sites));
  Workers workers(registers, threads);
  workers.run(
      [&] {
        auto work = std::make_shared<GenotypeCopy<States>>(law, people, longest);
        return [&, work](Index number) {
          const Index first = number * kDoubles;
          wrongs.note(work->draw_partitions(first, partitions, count, key,
                                            people.people * law.sites, out + first * law.sites));
        };
      },
      poll);
}

}  // namespace selica::chains
