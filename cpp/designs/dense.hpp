// A table of doubles or floats in memory, rows or columns contiguous, read where it lies.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "designs/panel_design.hpp"

namespace selica {

template <class T>
class DenseDesign final : public PanelDesign {
 public:
  // `row_step` and `column_step` are distances in entries. With `copied` a copy in single precision
  // is kept for the screening: faster, at the price of its memory.
  DenseDesign(const T* values, Index rows, Index columns, Index row_step, Index column_step,
              bool copied)
      : PanelDesign(rows, columns),
        values_(values),
        row_step_(row_step),
        column_step_(column_step),
        copied_(copied) {}

  void take(Index j, const std::int32_t* rows, Index count, double* out) const override {
    const T* column = values_ + j * column_step_;
    if (row_step_ == 1) {
      for (Index i = 0; i < count; ++i) out[i] = static_cast<double>(column[rows[i]]);
    } else {
      for (Index i = 0; i < count; ++i) out[i] = static_cast<double>(column[rows[i] * row_step_]);
    }
  }

  double dot(Index j, const double* vector) const override {
    const T* column = values_ + j * column_step_;
    double sums[kPad] = {};
    Index i = 0;
    if (row_step_ == 1) {
      for (; i + kPad <= rows(); i += kPad)
        for (Index c = 0; c < kPad; ++c)
          sums[c] += static_cast<double>(column[i + c]) * vector[i + c];
    }
    double total = 0.0;
    for (const double part : sums) total += part;
    for (; i < rows(); ++i) total += static_cast<double>(column[i * row_step_]) * vector[i];
    return total;
  }

  void whole(Index j, double* out) const override {
    const T* column = values_ + j * column_step_;
    for (Index i = 0; i < rows(); ++i) out[i] = static_cast<double>(column[i * row_step_]);
  }

  // The centre is rounded where it is subtracted in single precision: by half a unit of its own,
  // which the bound of a product counts as a multiple of the rounding of its sums.
  double excess(Index j, double weight) const override {
    if (copied_ || !in_floats(j)) return 0.0;
    const double unit = std::numeric_limits<float>::epsilon() / 2.0;
    return std::abs(centre(j)) * std::sqrt(weight) * unit / rounding_margin(rows());
  }

  void prepare(bool centred) override {
    direct_ = std::is_same_v<T, float> && row_step_ == 1 && !centred;
    ld_ = (rows() + 15) / 16 * 16;
    if (copied_) screen_.reserve(ld_ * columns());
    near_.clear();
    Buffer<double> room(rows());
    for (Index j = 0; j < columns(); ++j) {
      check_stop();
      const double* column = entries(j, room.data());
      const double furthest = measure(j, column, centred);
      near_.push_back(std::abs(centre(j)) <= kNear * furthest);
      direct_ = direct_ && scale(j) == 1.0;
      if (!copied_) continue;
      float* to = screen_.data() + j * ld_;
      const double away = centre(j), factor = scale(j);
      for (Index i = 0; i < rows(); ++i) to[i] = static_cast<float>((column[i] - away) * factor);
      for (Index i = rows(); i < ld_; ++i) to[i] = 0.0F;
    }
  }

 private:
  // A centre within so many times the largest deviation from it costs few digits.
  static constexpr double kNear = 16.0;

  // Whether column j is centred in single precision.
  bool in_floats(Index j) const {
    return std::is_same_v<T, float> && row_step_ == 1 && scale(j) == 1.0 &&
           near_[static_cast<std::size_t>(j)];
  }

  // Returns the entries of column j: where they are, or written to `room`.
  const double* entries(Index j, double* room) const {
    if constexpr (std::is_same_v<T, double>) {
      if (row_step_ == 1) return values_ + j * column_step_;
    }
    whole(j, room);
    return room;
  }

 protected:
  const float* panel(Index from, Index count, Index start, Index length, float* buffer,
                     Index& ld) const override {
    if (copied_) {
      ld = ld_;
      return screen_.data() + from * ld_ + start;
    }
    if constexpr (std::is_same_v<T, float>) {
      if (direct_) {
        ld = column_step_;
        return values_ + from * column_step_ + start;
      }
    }
    ld = kSummed;
    if (row_step_ == 1) {
      for (Index c = 0; c < count; ++c) {
        const T* column = values_ + (from + c) * column_step_ + start;
        const double away = centre(from + c), factor = scale(from + c);
        float* to = buffer + c * ld;
        if (in_floats(from + c)) {
          const float middle = static_cast<float>(away);
          for (Index i = 0; i < length; ++i) to[i] = static_cast<float>(column[i]) - middle;
          continue;
        }
        for (Index i = 0; i < length; ++i)
          to[i] = static_cast<float>((static_cast<double>(column[i]) - away) * factor);
      }
    } else {
      for (Index i = 0; i < length; ++i) {
        const T* row = values_ + (start + i) * row_step_ + from * column_step_;
        for (Index c = 0; c < count; ++c) {
          const double value = static_cast<double>(row[c * column_step_]) - centre(from + c);
          buffer[c * ld + i] = static_cast<float>(value * scale(from + c));
        }
      }
    }
    return buffer;
  }

 private:
  const T* values_;
  Index row_step_;
  Index column_step_;
  bool copied_;
  bool direct_ = false;
  Index ld_ = 0;
  Buffer<float> screen_;
  std::vector<bool> near_;  // whether the centre of a column is
};

}  // namespace selica
