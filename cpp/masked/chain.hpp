// One chain of Gibbs sampling; `model.hpp` has the formulas.
//
// A sweep draws the latent response (of labels), visits every block once in a new order, lets
// blocks that are alike change places, and draws the shared parameters. All random numbers belong
// to the chain, the sweep and the block for which they are drawn.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "base/stop.hpp"
#include "base/types.hpp"
#include "masked/draws.hpp"
#include "masked/fields.hpp"
#include "masked/levels.hpp"
#include "masked/model.hpp"
#include "masked/odds.hpp"
#include "masked/partners.hpp"
#include "numeric/functions.hpp"

namespace selica::masked {

template <class Fields>
class Chain {
 public:
  Chain(const Pairs& pairs, const Response& response, const Model& model, const Partners& partners,
        Fields fields)
      : pairs_(pairs),
        response_(response),
        model_(model),
        partners_(partners),
        fields_(std::move(fields)),
        levels_(model),
        length_(padded(2 * pairs.columns)),
        slope_(padded(2 * pairs.columns)),
        offset_(padded(2 * pairs.columns)),
        latent_(pairs.size),
        predictor_(pairs.size),
        coef_(static_cast<std::size_t>(pairs.columns)),
        products_(static_cast<std::size_t>(4 * widest(pairs))),
        version_(static_cast<std::size_t>(pairs.blocks)),
        order_(static_cast<std::size_t>(pairs.blocks)),
        odds_(static_cast<std::size_t>(pairs.blocks)) {
    length_.zeros(length_.size());
    for (Index i = 0; i < 2 * pairs.columns; ++i) {
      const double* f = pairs.values + i * pairs.size;
      length_[i] = dot_padded(f, f, pairs.size);
    }
  }

  // Writes the logarithms of the mean probabilities of either version, (2, blocks).
  void run(const Plan& plan, Index number, double* out) {
    begin(number % 2 == 1 ? plan.start : nullptr);
    for (Index sweep = 0; sweep < plan.sweeps; ++sweep) {
      check_stop();
      const Moment at{plan.key, static_cast<Word>(number), static_cast<Word>(sweep)};
      if (response_.labels) {
        draw_latent(at);
      } else if (sweep % kRefresh == kRefresh - 1) {
        fields_.clear();
        restore();
      }
      weigh();
      shuffle(at);
      for (const Index j : order_) visit(j, at, sweep >= plan.burn_in);
      for (const Index j : order_) exchange(j, at);
      levels_.draw(model_, counts(), at);
    }
    const double count = std::log(static_cast<double>(plan.sweeps - plan.burn_in));
    for (Index j = 0; j < pairs_.blocks; ++j) {
      const Odds& odds = odds_[static_cast<std::size_t>(j)];
      out[j] = odds.first.value() - count;
      out[pairs_.blocks + j] = odds.second.value() - count;
    }
  }

 private:
  static constexpr Index kRefresh = 64;  // sweeps after which sums are computed anew
  static constexpr Index kNone = -1;     // version of a block that is not in the model

  static Index widest(const Pairs& pairs) {
    Index most = 0;
    for (Index j = 0; j < pairs.blocks; ++j)
      most = std::max(most, pairs.starts[j + 1] - pairs.starts[j]);
    return most;
  }
  Index& version(Index j) { return version_[static_cast<std::size_t>(j)]; }
  double& coef(Index i) { return coef_[static_cast<std::size_t>(i)]; }
  Index first(Index j) const { return pairs_.starts[j]; }
  Index end(Index j) const { return pairs_.starts[j + 1]; }

  // Begins with coefficients (2 * columns); of the versions of a block the larger one counts.
  void begin(const double* start) {
    levels_ = Levels(model_);
    odds_.assign(odds_.size(), Odds());
    std::fill(coef_.begin(), coef_.end(), 0.0);
    std::fill(version_.begin(), version_.end(), kNone);
    for (Index j = 0; j < pairs_.blocks && start != nullptr; ++j) {
      std::array<double, 2> square{};
      for (Index k = 0; k < 2; ++k)
        for (Index i = first(j); i < end(j); ++i) {
          const double b = start[k * pairs_.columns + i];
          square[static_cast<std::size_t>(k)] += b * b;
        }
      if (square[0] + square[1] == 0.0) continue;
      version(j) = square[1] > square[0] ? 1 : 0;
      std::copy(start + version(j) * pairs_.columns + first(j),
                start + version(j) * pairs_.columns + end(j), coef_.begin() + first(j));
    }
    std::copy_n(response_.y, pairs_.size, latent_.data());
    fields_.respond(latent_.data());
    restore();
  }

  // Puts the coefficients of the blocks into the fields, where all are zero.
  void restore() {
    each_active([this](Index column, double b) { fields_.add(column, b); });
  }

  // Calls a function with each column of the model and its coefficient.
  template <class Function>
  void each_active(Function&& function) {
    for (Index j = 0; j < pairs_.blocks; ++j) {
      if (version(j) == kNone) continue;
      for (Index i = first(j); i < end(j); ++i) function(version(j) * pairs_.columns + i, coef(i));
    }
  }

  // Draws what the labels are signs of, given everything else.
  void draw_latent(const Moment& at) {
    std::fill_n(predictor_.data(), pairs_.size, 0.0);
    for (Index q = 0; q < response_.flat_columns; ++q) {
      const double* f = response_.flat + q * pairs_.size;
      const double mean = dot_padded(f, latent_.data(), pairs_.size);
      const double noise = Draws(at, Purpose::latent, pairs_.rows + q).normal();
      axpy_padded(mean + noise, f, predictor_.data(), pairs_.size);
    }
    each_active([this](Index column, double b) {
      axpy_padded(b, pairs_.values + column * pairs_.size, predictor_.data(), pairs_.size);
    });
    for (Index i = 0; i < pairs_.rows; ++i) {
      const double sign = response_.y[i], mean = sign * predictor_[i];
      latent_[i] = sign * (mean + Draws(at, Purpose::latent, i).normal_above(-mean));
    }
    fields_.respond(latent_.data());
    restore();
  }

  // Computes what log BF needs of the shared parameters: slope z^2 - offset.
  void weigh() {
    const double t2 = levels_.t2, s2 = levels_.s2;
    for (Index i = 0; i < length_.size(); i += kDoubles) {
      const Doubles length = load(length_.data() + i);
      store(slope_.data() + i, t2 / (2.0 * s2 * (s2 + t2 * length)));
      store(offset_.data() + i, 0.5 * logarithm(1.0 + (t2 / s2) * length));
    }
  }

  void shuffle(const Moment& at) {
    Draws draws(at, Purpose::order, 0);
    for (Index j = 0; j < pairs_.blocks; ++j) order_[static_cast<std::size_t>(j)] = j;
    for (Index j = pairs_.blocks - 1; j > 0; --j)
      std::swap(order_[static_cast<std::size_t>(j)],
                order_[static_cast<std::size_t>(draws.below(j + 1))]);
  }

  // Writes the products of version k of block j with the residual without block `out`; returns
  // log BF.
  double evidence(Index j, Index k, Index out, double* z) {
    double total = 0.0;
    for (Index i = first(j); i < end(j); ++i) {
      const Index column = k * pairs_.columns + i;
      double product = fields_.product(column);
      if (version(out) != kNone)
        for (Index o = first(out); o < end(out); ++o)
          product += fields_.cross(column, version(out) * pairs_.columns + o) * coef(o);
      total += slope_[column] * product * product - offset_[column];
      *z++ = product;
    }
    return total;
  }

  // Takes a block out of the model.
  void remove(Index j) {
    if (version(j) == kNone) return;
    for (Index i = first(j); i < end(j); ++i) {
      fields_.add(version(j) * pairs_.columns + i, -coef(i));
      coef(i) = 0.0;
    }
    version(j) = kNone;
  }

  // Puts version k of a block into the model, with coefficients given the products z.
  void include(Index j, Index k, const double* z, Draws& draws) {
    if (version(j) != kNone && version(j) != k) remove(j);
    for (Index i = first(j); i < end(j); ++i) {
      const Index column = k * pairs_.columns + i;
      const double variance = 2.0 * levels_.s2 * levels_.s2 * slope_[column];
      const double b = variance / levels_.s2 * *z++ + std::sqrt(variance) * draws.normal();
      fields_.add(column, b - coef(i));
      coef(i) = b;
    }
    version(j) = k;
  }

  // Draws a block given all others.
  void visit(Index j, const Moment& at, bool counts) {
    double* z = products_.data();
    const Index width = end(j) - first(j);
    std::array<double, 2> x;
    for (Index k = 0; k < 2; ++k)
      x[static_cast<std::size_t>(k)] = evidence(j, k, j, z + k * width) + levels_.log_odds;
    const double e = softplus(x[0]) - softplus(x[1]);
    if (counts) odds_[static_cast<std::size_t>(j)].add(e);
    Draws draws(at, Purpose::visit, j);
    const Index k = draws.uniform() < sigmoid(e) ? 0 : 1;
    if (draws.uniform() < sigmoid(x[static_cast<std::size_t>(k)]))
      include(j, k, z + k * width, draws);
    else
      remove(j);
  }

  // Draws which of two blocks is in the model, and in which version, where it is exactly one.
  void exchange(Index j, const Moment& at) {
    const std::vector<Index>& near = partners_[static_cast<std::size_t>(j)];
    if (near.empty()) return;
    Draws draws(at, Purpose::exchange, j);
    const Index l = near[static_cast<std::size_t>(draws.below(static_cast<Index>(near.size())))];
    if ((version(j) == kNone) == (version(l) == kNone)) return;
    const Index active = version(j) == kNone ? l : j;
    std::array<double, 4> x;
    std::array<double*, 4> z;
    double* free = products_.data();
    for (std::size_t c = 0; c < 4; ++c) {
      const Index block = c < 2 ? j : l;
      z[c] = free;
      x[c] = evidence(block, static_cast<Index>(c % 2), active, free);
      free += end(block) - first(block);
    }
    const double top = *std::max_element(x.begin(), x.end());
    double total = 0.0;
    for (double& each : x) total += each = std::exp(each - top);
    double rest = draws.uniform() * total;
    std::size_t c = 0;
    while (c < 3 && (rest -= x[c]) >= 0.0) ++c;
    const Index chosen = c < 2 ? j : l;
    if (chosen != active) remove(active);
    include(chosen, static_cast<Index>(c % 2), z[c], draws);
  }

  Counts counts() {
    Counts seen;
    seen.blocks = pairs_.blocks;
    seen.freedom = response_.freedom;
    seen.residual = fields_.square_of_y();
    for (Index j = 0; j < pairs_.blocks; ++j) seen.active += version(j) != kNone;
    each_active([&](Index column, double b) {
      ++seen.columns;
      seen.square += b * b;
      seen.residual -= b * fields_.explained(column);
    });
    seen.residual = std::max(seen.residual, 0.0);
    return seen;
  }

  const Pairs& pairs_;
  const Response& response_;
  const Model& model_;
  const Partners& partners_;
  Fields fields_;
  Levels levels_;
  Buffer<double> length_, slope_, offset_, latent_, predictor_;
  std::vector<double> coef_, products_;
  std::vector<Index> version_, order_;
  std::vector<Odds> odds_;
};

}  // namespace selica::masked
