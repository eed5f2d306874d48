// A design whose columns are multiplied block by block, in single precision.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/buffer.hpp"
#include "base/stop.hpp"
#include "designs/design.hpp"
#include "numeric/moments.hpp"
#include "numeric/panel.hpp"
#include "numeric/products.hpp"

namespace selica {

class PanelDesign : public Design {
 public:
  using Design::Design;

  // Writes all entries of column j.
  virtual void whole(Index j, double* out) const = 0;

  void prepare(bool centred) override {
    Buffer<double> column(rows());
    for (Index j = 0; j < columns(); ++j) {
      check_stop();
      whole(j, column.data());
      measure(j, column.data(), centred);
    }
  }

  void multiply(const Residuals& r, float* const* out) const override {
    multiply_by<false>(r, out);
  }
  void squares(const Residuals& weights, float* const* out) const override {
    if (weights.width == 1)
      multiply_alone_by<true>(weights.values, out[0]);
    else
      multiply_by<true>(weights, out);
  }

  void multiply_alone(const float* residual, float* out) const override {
    multiply_alone_by<false>(residual, out);
  }

  void moments(Index from, Index count, const double* weights, Index width, double* first,
               double* second) const override {
    constexpr Index kColumns = 8;
    Buffer<double> entries(kColumns * padded(rows()));
    if (width == 1) {
      for (Index c = 0; c < count; ++c) {
        whole(from + c, entries.data());
        add_moments_of_one(entries.data(), rows(), centre(from + c), weights, first[c], second[c]);
      }
      return;
    }
    std::fill_n(first, count * width, 0.0);
    std::fill_n(second, count * width, 0.0);
    for (Index c = 0; c < count; c += kColumns) {
      const Index some = std::min(kColumns, count - c);
      for (Index s = 0; s < some; ++s) {
        double* column = entries.data() + s * rows();
        whole(from + c + s, column);
        const double away = centre(from + c + s);
        for (Index i = 0; i < rows(); ++i) column[i] -= away;
      }
      for (Index start = 0; start < rows(); start += kSummed) {
        const Index length = std::min(kSummed, rows() - start);
        for (Index s = 0; s < some; ++s)
          add_moments(entries.data() + s * rows() + start, length, weights + start * width, width,
                      first + (c + s) * width, second + (c + s) * width);
      }
    }
  }

  Index screened_bytes() const override { return 4 * rows() * columns(); }

 protected:
  // Returns screened columns over a range of rows, `ld` apart: in `buffer`, or where they are.
  virtual const float* panel(Index from, Index count, Index start, Index length, float* buffer,
                             Index& ld) const = 0;

  // Multiplies all columns, or their squares, with one residual.
  template <bool squared>
  void multiply_alone_by(const float* residual, float* out) const {
    Buffer<float> buffer(kPanelColumns * kSummed);
    std::fill_n(out, columns(), 0.0F);
    for (Index from = 0; from < columns(); from += kPanelColumns) {
      check_stop();
      const Index count = std::min(kPanelColumns, columns() - from);
      for (Index start = 0; start < rows(); start += kSummed) {
        const Index length = std::min(kSummed, rows() - start);
        Index ld = 0;
        const float* block = panel(from, count, start, length, buffer.data(), ld);
        Index c = 0;
        for (; c + 4 <= count; c += 4)
          multiply_four<squared>(block + c * ld, ld, length, residual + start, out + from + c);
        for (; c < count; ++c)
          out[from + c] += multiply_one<squared>(block + c * ld, length, residual + start);
      }
    }
  }

  // Multiplies all columns, or their squares, with the residuals.
  template <bool squared>
  void multiply_by(const Residuals& r, float* const* out) const {
    Buffer<float> sums(kPanelColumns * r.width), buffer(kPanelColumns * kSummed), powers;
    if (squared) powers.reserve(kPanelColumns * kSummed);
    for (Index from = 0; from < columns(); from += kPanelColumns) {
      check_stop();
      const Index count = std::min(kPanelColumns, columns() - from);
      sums.zeros(count * r.width);
      for (Index start = 0; start < rows(); start += kSummed) {
        const Index length = std::min(kSummed, rows() - start);
        Index ld = 0;
        const float* block = panel(from, count, start, length, buffer.data(), ld);
        if (squared) {
          for (Index c = 0; c < count; ++c)
            for (Index i = 0; i < length; ++i)
              powers[c * kSummed + i] = block[c * ld + i] * block[c * ld + i];
          block = powers.data();
          ld = kSummed;
        }
        multiply_panel(block, ld, count, length, r.values + start * r.width, r.width, sums.data());
      }
      for (Index m = 0; m < r.members; ++m)
        for (Index c = 0; c < count; ++c) out[m][from + c] = sums[c * r.width + m];
    }
  }

  // Sets centre and scale of a column from its entries; returns how far one is from the centre.
  double measure(Index j, const double* column, bool centred) {
    const double mean = sum_of(column, rows()) / static_cast<double>(rows());
    if (!std::isfinite(mean)) set_infinite();
    const double middle = centred ? mean : 0.0;
    const double furthest = furthest_of(column, rows(), middle);
    set(j, middle, power_of_two(furthest));
    return furthest;
  }
};

}  // namespace selica
