// Sums of the weights of many members over sets of rows, of 64 flags in a word.
//
// Weights of resamples are small whole numbers. Their binary digits are flags themselves, so that a
// sum is a count of bits, without rounding. Other weights are added row by row.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/buffer.hpp"
#include "base/types.hpp"
#include "numeric/lanes.hpp"

namespace selica {

class CountedWeights {
 public:
  // Weights lie side by side, (rows, width).
  CountedWeights(const double* weights, Index rows, Index width)
      : weights_(weights), rows_(rows), width_(width), words_((rows + 63) / 64), totals_(width) {
    totals_.zeros(width);
    double most = 0.0;
    whole_ = true;
    for (Index i = 0; i < rows; ++i)
      for (Index m = 0; m < width; ++m) {
        const double weight = weights[i * width + m];
        totals_[m] += weight;
        most = std::max(most, weight);
        whole_ = whole_ && weight >= 0.0 && weight <= kLargest &&
                 weight == static_cast<double>(static_cast<std::int32_t>(weight));
      }
    if (!whole_) {
      places_.reserve(rows);
      return;
    }
    digits_ = std::bit_width(static_cast<std::uint32_t>(most));
    flags_.zeros(width * digits_ * words_);
    for (Index i = 0; i < rows; ++i)
      for (Index m = 0; m < width; ++m) {
        const auto weight = static_cast<std::uint32_t>(weights[i * width + m]);
        for (Index digit = 0; digit < digits_; ++digit)
          flags_[(m * digits_ + digit) * words_ + i / 64] |=
              static_cast<std::uint64_t>(weight >> digit & 1U) << (i % 64);
      }
  }

  Index words() const { return words_; }
  double total(Index m) const { return totals_[m]; }

  // Writes the sums over the flagged rows, one for each member.
  void sum_over(const std::uint64_t* rows, double* out) {
    if (whole_)
      count_over(rows, out);
    else
      add_over(rows, out);
  }

 private:
  // Weights up to here are counted, digit by digit.
  static constexpr double kLargest = 255.0;

  void count_over(const std::uint64_t* rows, double* out) const {
    for (Index m = 0; m < width_; ++m) {
      std::int64_t count = 0;
      for (Index digit = 0; digit < digits_; ++digit) {
        const std::uint64_t* flags = flags_.data() + (m * digits_ + digit) * words_;
        std::int64_t ones = 0;
        for (Index k = 0; k < words_; ++k) ones += std::popcount(flags[k] & rows[k]);
        count += ones << digit;
      }
      out[m] = static_cast<double>(count);
    }
  }

  void add_over(const std::uint64_t* rows, double* out) {
    Index count = 0;
    for (Index k = 0; k < words_; ++k)
      for (std::uint64_t left = rows[k]; left != 0; left &= left - 1)
        places_[count++] = 64 * k + std::countr_zero(left);
    Index m = 0;
    for (; m + kDoubles <= width_; m += kDoubles) {
      Doubles total{};
      for (Index c = 0; c < count; ++c) total += load(weights_ + places_[c] * width_ + m);
      store(out + m, total);
    }
    for (; m < width_; ++m) {
      double total = 0.0;
      for (Index c = 0; c < count; ++c) total += weights_[places_[c] * width_ + m];
      out[m] = total;
    }
  }

  const double* weights_;
  Index rows_, width_, words_;
  Index digits_ = 0;
  bool whole_ = false;
  Buffer<double> totals_;
  Buffer<std::uint64_t> flags_;  // (width, digits, words)
  Buffer<Index> places_;
};

}  // namespace selica
