// All chains, on threads; each is done by one of them, so that threads change nothing.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/workers.hpp"
#include "masked/chain.hpp"
#include "masked/fields.hpp"
#include "masked/model.hpp"
#include "masked/partners.hpp"

namespace selica::masked {

// Says whether the Gram matrix of all columns saves time, and fits into memory. What is counted are
// multiplications, those of a tile at a third, where a tenth of the blocks is in the model.
inline bool gram_saves(const Pairs& pairs, const Response& response, const Plan& plan) {
  constexpr double kMostColumns = 6000.0;
  constexpr double kTile = 0.3;
  const double n = static_cast<double>(pairs.size), p = 2.0 * static_cast<double>(pairs.columns);
  const double active = 5.0 + 0.05 * p;
  const double sweeps = static_cast<double>(plan.sweeps) * static_cast<double>(plan.chains);
  const double tiles = kTile * n * p * (p / 2.0 + (response.labels ? sweeps : 0.0));
  return p <= kMostColumns && tiles + sweeps * 2.0 * active * p < sweeps * n * (p + 2.0 * active);
}

// Runs the chains and writes log mean probabilities, (chains, 2, blocks). With `gram` the Gram
// matrix is used, without it not; where nothing is said, whichever is faster.
inline void run_chains(const Pairs& pairs, const Response& response, const Model& model,
                       const Plan& plan, std::optional<bool> gram, double* out, Index threads,
                       const std::function<bool()>& poll) {
  const auto all = [&](const auto& fields, const Partners& partners) {
    Workers workers(plan.chains, threads);
    workers.run(
        [&] {
          using Fields = decltype(fields());
          auto chain = std::make_shared<Chain<Fields>>(pairs, response, model, partners, fields());
          return [&, chain](Index number) {
            chain->run(plan, number, out + number * 2 * pairs.blocks);
          };
        },
        poll);
  };
  if (gram.value_or(gram_saves(pairs, response, plan))) {
    const Gram products(pairs, threads, poll);
    if (!products.finished()) return;
    all([&] { return GramFields(pairs, products); }, partners_of(pairs, products));
  } else {
    all([&] { return ResidualFields(pairs); }, neighbours_of(pairs));
  }
}

}  // namespace selica::masked
