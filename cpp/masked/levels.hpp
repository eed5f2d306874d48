// Draws of the parameters that all blocks share, given the blocks.
#pragma once

#include <cmath>

#include "base/types.hpp"
#include "masked/draws.hpp"
#include "masked/model.hpp"

namespace selica::masked {

// What the blocks say about the shared parameters.
struct Counts {
  Index blocks = 0, active = 0, columns = 0;  // all; in the model; their columns
  double square = 0.0;                        // of the coefficients
  double residual = 0.0;                      // square of the residual
  double freedom = 0.0;                       // of the residual
};

struct Levels {
  double log_odds;  // log((1 - p0) / p0)
  double t2, s2;

  explicit Levels(const Model& model)
      : log_odds(std::log((1.0 - model.p0) / model.p0)), t2(model.t2), s2(model.s2) {}

  void draw(const Model& model, const Counts& seen, const Moment& at) {
    if (model.least_p0 < 1.0) draw_share(model.least_p0, seen, Draws(at, Purpose::level, 0));
    const Prior &a = model.t2_prior, &b = model.s2_prior;
    if (a.shape > 0.0)
      t2 = inverse_gamma(
          {a.shape + 0.5 * static_cast<double>(seen.columns), a.scale + 0.5 * seen.square},
          Draws(at, Purpose::level, 1));
    if (b.shape > 0.0)
      s2 = inverse_gamma({b.shape + 0.5 * seen.freedom, b.scale + 0.5 * seen.residual},
                         Draws(at, Purpose::level, 2));
  }

 private:
  static double inverse_gamma(Prior law, Draws draws) { return law.scale / draws.gamma(law.shape); }

  // p0 as it is given the blocks, if one of a few draws is above its least value; else it stays.
  // Either keeps the distribution, while the least value itself would not.
  void draw_share(double least, const Counts& seen, Draws draws) {
    constexpr int kTries = 20;
    for (int tries = 0; tries < kTries; ++tries) {
      const double out = draws.gamma(1.0 + static_cast<double>(seen.blocks - seen.active));
      const double in = draws.gamma(1.0 + static_cast<double>(seen.active));
      if (out < least * (out + in)) continue;
      log_odds = std::log(in / out);
      return;
    }
  }
};

}  // namespace selica::masked
