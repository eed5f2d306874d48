// What is known of the columns of each member before the path: moments, penalties, bounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/stop.hpp"
#include "numeric/panel.hpp"
#include "paths/member.hpp"

namespace selica {

class Opening {
 public:
  explicit Opening(const Problem& problem) : problem_(problem) {}

  // Opens members first .. first + count - 1, in the places of `members`.
  void open(Member* members, Index first, Index count) {
    const Index n = problem_.design->rows();
    for (Index m = 0; m < count; ++m) {
      Member& member = members[m];
      member.number = first + m;
      member.place = -1;
      member.newest = 0;
      member.n_listed = 0;
      member.take_rows(problem_.weights_of(member.number), n);
      reserve(member);
      MemberRows rows{member.rows.data(), member.count, member.weight.data(), {}};
      for (std::size_t field = 0; field < problem_.y.size(); ++field)
        rows.y.push_back(problem_.y_of(member.number, field));
      member.set.open(padded(problem_.most_rows) + padded(most_terms()));
      member.unit = member.fit->open(rows, member.root.data(), member.set);
      scale_pull(member);
    }
    if (exact())
      open_shared(members, count);
    else
      open_by_squares(*problem_.design, members, count, 0);
    if (problem_.own)
      for (Index m = 0; m < count; ++m) open_own(members[m]);
  }

  // Columns of the design that were read.
  Index columns_read() const { return columns_read_; }

 private:
  // Columns whose moments are asked for at once: many, since a design may look at the weights
  // first.
  static constexpr Index kColumns = 512;
  // A column whose variance is below this share of its mean square does not vary.
  static constexpr double kConstant = 1e-13;

  Index most_terms() const { return problem_.loss ? problem_.loss->most_terms() : 0; }

  void reserve(Member& m) const {
    const Index columns = problem_.columns;
    m.penalty.reserve(columns);
    m.ridge.reserve(columns);
    m.inverse.reserve(columns);
    m.reach.reserve(columns);
    m.listed.reserve(columns);
    m.slot.reserve(columns);
    std::fill_n(m.slot.data(), columns, -1);
    for (Buffer<float>& each : m.gradient) each.reserve(columns);
  }

  // Finds a power of two for residuals in single precision, and the unit of screened penalties.
  void scale_pull(Member& m) const {
    double most = 0.0;
    for (Index i = 0; i < m.count; ++i) most = std::max(most, m.weight[i]);
    const double size = std::sqrt(2.0 * std::max(m.unit, 0.0) * most);
    m.pull_scale = 1.0;
    if (size > 0.0 && (size < 1e-9 || size > 1e9)) {
      int exponent = 0;
      std::frexp(size, &exponent);
      m.pull_scale = std::ldexp(1.0, -exponent);
    }
    const double top = problem_.n_lams > 0 ? problem_.lams_of(m.number)[0] : 1.0;
    m.reference = top > 0.0 && std::isfinite(top) ? top : 1.0;
  }

  void open_shared(Member* members, Index count) {
    const Design& design = *problem_.design;
    const Index n = design.rows(), width = count == 1 ? 1 : padded(count);
    double* weights = weights_.zeros(n * width);
    for (Index m = 0; m < count; ++m) {
      const double* c = problem_.weights_of(members[m].number);
      for (Index i = 0; i < n; ++i) weights[i * width + m] = c[i];
    }
    moments_.reserve(2 * kColumns * width);
    columns_read_ += design.columns();
    double *first = moments_.data(), *second = first + kColumns * width;
    for (Index from = 0; from < design.columns(); from += kColumns) {
      check_stop();
      const Index some = std::min(kColumns, design.columns() - from);
      design.moments(from, some, weights, width, first, second);
      for (Index m = 0; m < count; ++m)
        for (Index c = 0; c < some; ++c)
          measure(members[m], from + c, design.centre(from + c), design.scale(from + c),
                  design.excess(from + c, members[m].total), first[c * width + m],
                  second[c * width + m]);
    }
  }

  // Whether variances of the columns matter, and not only bounds of their norms.
  bool exact() const { return problem_.centred || problem_.standardize; }

  // Bounds the norms of columns in single precision, where nothing else is asked of them. They are
  // those of the members behind the first `behind`.
  void open_by_squares(const Design& design, Member* members, Index count, Index behind) {
    const Index n = design.rows();
    for (Index from = 0; from < count; from += kPanelMembers) {
      const Index some = std::min(kPanelMembers, count - from);
      const Index width = some == 1 ? 1 : panel_width(some);
      float* weights = singles_.zeros(n * width);
      std::vector<float*> out;
      std::vector<double> largest;
      for (Index m = 0; m < some; ++m) {
        Member& member = members[from + m];
        const double* c = problem_.weights_of(member.number);
        double most = 0.0;
        for (Index i = 0; i < n; ++i) most = std::max(most, c[i]);
        largest.push_back(most > 0.0 ? most : 1.0);
        for (Index i = 0; i < n; ++i)
          weights[i * width + m] = static_cast<float>(c[i] / largest.back());
        out.push_back(member.reach.data() + behind);  // until the bounds themselves are there
      }
      design.squares({weights, width, some}, out.data());
      if (behind == 0) columns_read_ += design.columns();
      const double above = 1.0 + 1e-4 + 2.0 * rounding_margin(n);
      for (Index m = 0; m < some; ++m) {
        Member& member = members[from + m];
        for (Index j = 0; j < design.columns(); ++j) {
          const double scale = design.scale(j);
          double square = static_cast<double>(member.reach[behind + j]) / (scale * scale);
          // weights that floats cannot hold may hide a column
          if (square == 0.0)
            square = square_of(design, member, j) / largest[static_cast<std::size_t>(m)];
          measure(member, behind + j, 0.0, scale, design.excess(j, member.total), 0.0,
                  square * largest[static_cast<std::size_t>(m)] * above);
        }
      }
    }
  }

  // Returns the weighted square of column j of a design.
  double square_of(const Design& design, const Member& m, Index j) {
    double* column = moments_.reserve(std::max<Index>(m.count, 1));
    design.take(j, m.rows.data(), m.count, column);
    double total = 0.0;
    for (Index i = 0; i < m.count; ++i) total += m.weight[i] * column[i] * column[i];
    return total;
  }

  void open_own(Member& m) {
    const Index p = problem_.design->columns();
    m.own = problem_.own(m.number);
    const Design& design = *m.own;
    if (!exact()) {
      open_by_squares(design, &m, 1, p);
      return;
    }
    moments_.reserve(2 * kColumns);
    double *first = moments_.data(), *second = first + kColumns;
    for (Index from = 0; from < design.columns(); from += kColumns) {
      const Index some = std::min(kColumns, design.columns() - from);
      design.moments(from, some, problem_.weights_of(m.number), 1, first, second);
      for (Index c = 0; c < some; ++c)
        measure(m, p + from + c, design.centre(from + c), design.scale(from + c),
                design.excess(from + c, m.total), first[c], second[c]);
    }
  }

  // Sets penalty, ridge and bounds of column j from its moments about `centre`.
  void measure(Member& m, Index j, double centre, double scale, double excess, double first,
               double second) const {
    const double total = std::max(m.total, 1e-300);
    double variance = second / total;
    if (problem_.fit_intercept || problem_.centred) {
      const double away = first / total;
      variance = std::max(variance - away * away, 0.0);
    }
    const bool flat = variance <= kConstant * (second / total + centre * centre);
    const bool free = problem_.unpenalised != nullptr && problem_.unpenalised[j];
    double penalty = free ? 0.0 : problem_.factor_of(m.number)[j];
    double ridge = free ? 0.0 : 1.0;
    if (problem_.standardize && !free) {
      if (problem_.variance != nullptr)
        variance = problem_.variance[m.number * problem_.columns + j];
      penalty *= std::sqrt(variance);
      ridge = variance;
    }
    if (flat) penalty = std::numeric_limits<double>::infinity();
    m.penalty[j] = penalty;
    m.ridge[j] = ridge;
    const double unit = penalty * m.reference;
    const double inverse = 1.0 / (unit * scale * m.pull_scale);
    // what floats cannot hold is admitted from the start, and so is what has no penalty
    constexpr double kMost = 1e30, kLeast = 1e-30;
    const bool at_once = !flat && !(inverse < kMost);
    if (at_once) m.listed[m.n_listed++] = static_cast<std::int32_t>(j);
    if (flat || at_once) {
      m.inverse[j] = 0.0F;
      m.reach[j] = 0.0F;
      return;
    }
    m.inverse[j] = static_cast<float>(std::max(inverse, kLeast));
    constexpr double kInflate = 1.0 + 1e-5;
    const double reach = (std::sqrt(std::max(second, 0.0)) + excess) * kInflate / unit;
    m.reach[j] = static_cast<float>(std::max(reach / m.pull_scale, kLeast));
  }

  const Problem& problem_;
  Index columns_read_ = 0;
  Buffer<double> weights_, moments_;
  Buffer<float> singles_;
};

}  // namespace selica
