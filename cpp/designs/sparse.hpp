// A table in compressed columns: the entries that are not zero, column by column.
//
// The screened form is not centred, since that would fill it: with an intercept the residuals of a
// member sum to zero, and the centre drops out but for rounding.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/buffer.hpp"
#include "base/stop.hpp"
#include "designs/design.hpp"

namespace selica {

class SparseDesign final : public Design {
 public:
  // `starts` (columns + 1), `places` rows of the entries (ascending in each column), `values`.
  SparseDesign(Index rows, Index columns, const std::int64_t* starts, const std::int32_t* places,
               const double* values)
      : Design(rows, columns), starts_(starts), places_(places), values_(values) {}

  void take(Index j, const std::int32_t* rows, Index count, double* out) const override {
    Index i = 0;
    for (Index e = starts_[j]; e < starts_[j + 1]; ++e) {
      while (i < count && rows[i] < places_[e]) out[i++] = 0.0;
      if (i < count && rows[i] == places_[e]) out[i++] = values_[e];
    }
    while (i < count) out[i++] = 0.0;
  }

  double dot(Index j, const double* vector) const override {
    double total = 0.0;
    for (Index e = starts_[j]; e < starts_[j + 1]; ++e) total += values_[e] * vector[places_[e]];
    return total;
  }

  void prepare(bool centred) override {
    for (Index j = 0; j < columns(); ++j) {
      double mean = 0.0, largest = 0.0;
      for (Index e = starts_[j]; e < starts_[j + 1]; ++e) {
        if (centred) mean += values_[e];
        largest = std::max(largest, std::abs(values_[e]));
      }
      set(j, mean / static_cast<double>(std::max<Index>(rows(), 1)), power_of_two(largest));
    }
  }

  double excess(Index j, double weight) const override {
    return std::abs(centre(j)) * std::sqrt(weight);
  }

  void multiply(const Residuals& r, float* const* out) const override {
    multiply_by<false>(r, out);
  }
  void squares(const Residuals& weights, float* const* out) const override {
    multiply_by<true>(weights, out);
  }

  void multiply_alone(const float* residual, float* out) const override {
    for (Index j = 0; j < columns(); ++j) {
      float total = 0.0F;
      for (Index e = starts_[j]; e < starts_[j + 1]; ++e)
        total += static_cast<float>(values_[e] * scale(j)) * residual[places_[e]];
      out[j] = total;
    }
  }

  Index screened_bytes() const override { return 12 * starts_[columns()]; }

  void moments(Index from, Index count, const double* weights, Index width, double* first,
               double* second) const override {
    Buffer<double> total(width);
    total.zeros(width);
    for (Index i = 0; i < rows(); ++i)
      for (Index m = 0; m < width; ++m) total[m] += weights[i * width + m];
    Buffer<double> seen(width);  // weight of the rows with an entry
    for (Index c = 0; c < count; ++c, first += width, second += width) {
      std::fill_n(first, width, 0.0);
      std::fill_n(second, width, 0.0);
      seen.zeros(width);
      const Index j = from + c;
      const double away = centre(j);
      for (Index e = starts_[j]; e < starts_[j + 1]; ++e) {
        const double x = values_[e] - away, *w = weights + places_[e] * width;
        for (Index m = 0; m < width; ++m) {
          first[m] += w[m] * x;
          second[m] += w[m] * x * x;
          seen[m] += w[m];
        }
      }
      for (Index m = 0; m < width; ++m) {
        const double rest = std::max(total[m] - seen[m], 0.0);
        first[m] -= away * rest;
        second[m] += away * away * rest;
      }
    }
  }

 private:
  // Multiplies all columns, or their squares, with the residuals.
  template <bool squared>
  void multiply_by(const Residuals& r, float* const* out) const {
    Buffer<float> sums(r.width);
    for (Index j = 0; j < columns(); ++j) {
      check_stop();
      sums.zeros(r.width);
      const double factor = scale(j);
      for (Index e = starts_[j]; e < starts_[j + 1]; ++e) {
        const float entry = static_cast<float>(values_[e] * factor);
        const float x = squared ? entry * entry : entry;
        const float* from = r.values + places_[e] * r.width;
        for (Index v = 0; v < r.width; ++v) sums[v] += x * from[v];
      }
      for (Index m = 0; m < r.members; ++m) out[m][j] = sums[m];
    }
  }

  const std::int64_t* starts_;
  const std::int32_t* places_;
  const double* values_;
};

}  // namespace selica
