// A table of small whole numbers, e.g. genotypes: entry = unit_j * (value - origin_j).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "designs/panel_design.hpp"

namespace selica {

class Int8Design final : public PanelDesign {
 public:
  // `unit` and `origin` have one number for each column.
  Int8Design(const std::int8_t* values, Index rows, Index columns, Index row_step,
             Index column_step, const double* unit, const double* origin)
      : PanelDesign(rows, columns),
        values_(values),
        row_step_(row_step),
        column_step_(column_step),
        unit_(unit, unit + columns),
        origin_(origin, origin + columns),
        whole_part_(static_cast<std::size_t>(columns)),
        rest_(static_cast<std::size_t>(columns)),
        factor_(static_cast<std::size_t>(columns)) {}

  void take(Index j, const std::int32_t* rows, Index count, double* out) const override {
    const std::int8_t* column = values_ + j * column_step_;
    const double unit = unit_[at(j)], origin = origin_[at(j)];
    for (Index i = 0; i < count; ++i)
      out[i] = unit * (static_cast<double>(column[rows[i] * row_step_]) - origin);
  }

  double dot(Index j, const double* vector) const override {
    const std::int8_t* column = values_ + j * column_step_;
    const double unit = unit_[at(j)], origin = origin_[at(j)];
    double sums[kPad] = {};
    Index i = 0;
    if (row_step_ == 1) {
      for (; i + kPad <= rows(); i += kPad)
        for (Index c = 0; c < kPad; ++c)
          sums[c] += (static_cast<double>(column[i + c]) - origin) * vector[i + c];
    }
    double total = 0.0;
    for (const double part : sums) total += part;
    for (; i < rows(); ++i)
      total += (static_cast<double>(column[i * row_step_]) - origin) * vector[i];
    return unit * total;
  }

  void whole(Index j, double* out) const override {
    const std::int8_t* column = values_ + j * column_step_;
    const double unit = unit_[at(j)], origin = origin_[at(j)];
    for (Index i = 0; i < rows(); ++i)
      out[i] = unit * (static_cast<double>(column[i * row_step_]) - origin);
  }

  void prepare(bool centred) override {
    PanelDesign::prepare(centred);
    for (Index j = 0; j < columns(); ++j) {
      // in units of the column: value - (whole part + rest), the first difference without rounding
      const double unit = unit_[at(j)];
      const double middle = unit != 0.0 ? origin_[at(j)] + centre(j) / unit : 0.0;
      const double near = std::min(std::max(std::nearbyint(middle), -1e4), 1e4);
      whole_part_[at(j)] = static_cast<std::int32_t>(near);
      rest_[at(j)] = static_cast<float>(middle - near);
      factor_[at(j)] = static_cast<float>(unit * scale(j));
    }
  }

  Index screened_bytes() const override { return rows() * columns(); }

 protected:
  const float* panel(Index from, Index count, Index start, Index length, float* buffer,
                     Index& ld) const override {
    ld = kSummed;
    for (Index c = 0; c < count; ++c) {
      const std::int8_t* column = values_ + (from + c) * column_step_ + start * row_step_;
      const std::int32_t near = whole_part_[at(from + c)];
      const float rest = rest_[at(from + c)], factor = factor_[at(from + c)];
      float* to = buffer + c * ld;
      if (row_step_ == 1) {
        for (Index i = 0; i < length; ++i)
          to[i] = factor * (static_cast<float>(column[i] - near) - rest);
      } else {
        for (Index i = 0; i < length; ++i)
          to[i] = factor * (static_cast<float>(column[i * row_step_] - near) - rest);
      }
    }
    return buffer;
  }

 private:
  static std::size_t at(Index j) { return static_cast<std::size_t>(j); }

  const std::int8_t* values_;
  Index row_step_;
  Index column_step_;
  std::vector<double> unit_;
  std::vector<double> origin_;
  std::vector<std::int32_t> whole_part_;
  std::vector<float> rest_;
  std::vector<float> factor_;
};

}  // namespace selica
