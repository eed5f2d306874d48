// Genotypes of two bits, one line of codes for each marker: entry = unit_j * (copies - origin_j).
//
// Copies of a missing call are the column's `fill`. A column has four values at most: they are
// looked up, and moments are sums of weights over the rows of each code.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "designs/panel_design.hpp"
#include "numeric/counted_weights.hpp"
#include "numeric/two_bit.hpp"

namespace selica {

class TwoBitDesign final : public PanelDesign {
 public:
  // Lines are `step` bytes apart; column j is line `lines[j]`. `unit`, `origin` and `fill` have one
  // number for each column.
  TwoBitDesign(const std::uint8_t* codes, Index rows, Index columns, Index step,
               const std::int64_t* lines, const double* unit, const double* origin,
               const double* fill)
      : PanelDesign(rows, columns),
        codes_(codes),
        step_(step),
        lines_(lines, lines + columns),
        unit_(unit, unit + columns),
        origin_(origin, origin + columns),
        fill_(fill, fill + columns),
        middle_(origin_),
        counted_(static_cast<std::size_t>(columns)) {}

  void take(Index j, const std::int32_t* rows, Index count, double* out) const override {
    const std::uint8_t* codes = line(j);
    double values[kCodes];
    entries_by_code(j, values);
    for (Index i = 0; i < count; ++i) out[i] = values[code_at(codes, rows[i])];
  }

  double dot(Index j, const double* vector) const override {
    const CodedSums sums = sums_by_code(line(j), rows(), vector, counted_[at(j)].missing);
    return unit_[at(j)] *
           (sums.steps + (1.0 - origin_[at(j)]) * sums.all + (fill_[at(j)] - 1.0) * sums.missing);
  }

  void whole(Index j, double* out) const override {
    const std::uint8_t* codes = line(j);
    double values[kCodes];
    entries_by_code(j, values);
    for (Index i = 0; i < rows(); ++i) out[i] = values[code_at(codes, i)];
  }

  void prepare(bool centred) override {
    for (Index j = 0; j < columns(); ++j) {
      if (j % kPanelColumns == 0) check_stop();
      std::int64_t counts[kCodes];
      count_codes(line(j), rows(), counts);
      double copies = 0.0;
      for (int code = 0; code < kCodes; ++code)
        copies += static_cast<double>(counts[code]) * copies_of(j, code);
      const double mean = copies / static_cast<double>(rows());
      const double unit = unit_[at(j)], centre = unit * (mean - origin_[at(j)]);
      if (!std::isfinite(centre)) set_infinite();
      middle_[at(j)] = centred ? mean : origin_[at(j)];
      double furthest = 0.0;
      for (int code = 0; code < kCodes; ++code)
        if (counts[code] > 0)
          furthest = std::max(furthest, std::abs(unit * (copies_of(j, code) - middle_[at(j)])));
      set(j, centred ? centre : 0.0, power_of_two(furthest));
      const auto commonest = std::max_element(counts, counts + kCodes) - counts;
      counted_[at(j)] = {static_cast<std::uint8_t>(commonest), counts[kMissing] > 0};
    }
  }

  void multiply_alone(const float* residual, float* out) const override {
    constexpr Index kTogether = 4;
    std::fill_n(out, columns(), 0.0F);
    for (Index from = 0; from < columns(); from += kTogether) {
      if (from % kPanelColumns == 0) check_stop();
      const std::uint8_t* codes[kTogether];
      const Index some = std::min(kTogether, columns() - from);
      for (Index c = 0; c < some; ++c) codes[c] = line(from + c);
      if (some == kTogether) {
        const FloatsByCode values[kTogether] = {screened(from), screened(from + 1),
                                                screened(from + 2), screened(from + 3)};
        for (Index start = 0; start < rows(); start += kSummed)
          multiply_codes<kTogether>(codes, values, start, std::min(kSummed, rows() - start),
                                    residual, out + from);
        continue;
      }
      for (Index c = 0; c < some; ++c) {
        const FloatsByCode values = screened(from + c);
        for (Index start = 0; start < rows(); start += kSummed)
          multiply_codes<1>(codes + c, &values, start, std::min(kSummed, rows() - start), residual,
                            out + from + c);
      }
    }
  }

  // Sums are about the commonest value of a column, which then needs none, and are moved to its
  // centre: weights that are whole numbers are counted without rounding.
  void moments(Index from, Index count, const double* weights, Index width, double* first,
               double* second) const override {
    CountedWeights counter(weights, rows(), width);
    Buffer<std::uint64_t> flags(counter.words());
    Buffer<double> sums(width);
    for (Index c = 0; c < count; ++c, first += width, second += width) {
      const Index j = from + c;
      const double unit = unit_[at(j)];
      const int common = counted_[at(j)].commonest;
      std::fill_n(first, width, 0.0);
      std::fill_n(second, width, 0.0);
      for (int code = 0; code < kCodes; ++code) {
        if (code == common || (code == kMissing && !counted_[at(j)].missing)) continue;
        flag_rows(line(j), rows(), code, flags.data());
        counter.sum_over(flags.data(), sums.data());
        const double away = unit * (copies_of(j, code) - copies_of(j, common));
        for (Index m = 0; m < width; ++m) {
          first[m] += away * sums[m];
          second[m] += away * away * sums[m];
        }
      }
      const double away = unit * (copies_of(j, common) - middle_[at(j)]);
      for (Index m = 0; m < width; ++m) {
        const double total = counter.total(m);
        second[m] += away * (2.0 * first[m] + away * total);
        first[m] += away * total;
      }
    }
  }

  Index screened_bytes() const override { return line_bytes(rows()) * columns(); }

 protected:
  const float* panel(Index from, Index count, Index start, Index length, float* buffer,
                     Index& ld) const override {
    ld = kSummed;
    for (Index c = 0; c < count; ++c)
      unpack(line(from + c), start, length, screened(from + c), buffer + c * ld);
    return buffer;
  }

 private:
  // What `prepare` counted in a column.
  struct Counted {
    std::uint8_t commonest = 0;  // code
    bool missing = true;         // whether a call is
  };

  static std::size_t at(Index j) { return static_cast<std::size_t>(j); }
  const std::uint8_t* line(Index j) const { return codes_ + lines_[at(j)] * step_; }
  double copies_of(Index j, int code) const {
    return code == kMissing ? fill_[at(j)] : kCopies[code];
  }
  void entries_by_code(Index j, double* values) const {
    for (int code = 0; code < kCodes; ++code)
      values[code] = unit_[at(j)] * (copies_of(j, code) - origin_[at(j)]);
  }
  FloatsByCode screened(Index j) const {
    float values[kCodes];
    for (int code = 0; code < kCodes; ++code)
      values[code] =
          static_cast<float>(unit_[at(j)] * (copies_of(j, code) - middle_[at(j)]) * scale(j));
    return FloatsByCode(values);
  }

  const std::uint8_t* codes_;
  Index step_;
  std::vector<std::int64_t> lines_;
  std::vector<double> unit_;
  std::vector<double> origin_;
  std::vector<double> fill_;
  std::vector<double> middle_;  // copies about which columns are screened
  std::vector<Counted> counted_;
};

}  // namespace selica
