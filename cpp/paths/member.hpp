// One member on its way along the path: its rows, its penalties, and what it knows of all columns.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>

#include "base/buffer.hpp"
#include "paths/fit.hpp"
#include "paths/problem.hpp"
#include "paths/working_set.hpp"

namespace selica {

struct Member {
  Index number = 0;        // in the ensemble
  Index place = -1;        // on the path; -1 before it, where only columns without a penalty are in
  double unit = 1.0;       // of the gap
  double total = 0.0;      // weight of all rows
  double reference = 1.0;  // penalty that bounds are compared with: screening divides by it
  double pull_scale = 1.0;  // power of two by which residuals are multiplied in single precision

  Index count = 0;  // rows of positive weight
  Buffer<std::int32_t> rows;
  Buffer<double> weight;
  Buffer<double> root;
  std::unique_ptr<Fit> fit;
  WorkingSet set;
  OwnColumns own;

  // of all columns
  Buffer<double> penalty;       // penalty weights; infinite where a column must stay out
  Buffer<double> ridge;         // what the ridge is multiplied by, if not one
  Buffer<float> inverse;        // of the penalty, in units of the screening; zero: not screened
  Buffer<float> reach;          // bound of a gradient for a residual of norm one, in these units
  Buffer<std::int32_t> slot;    // place in the working set, or -1
  Buffer<float> gradient[2];    // screened gradients at the last two fits where all were computed
  double norm[2] = {0.0, 0.0};  // of the residuals there
  int newest = 0;
  Buffer<std::int32_t> listed;  // columns to be admitted
  Index n_listed = 0;

  // Takes the rows of positive weight.
  void take_rows(const double* weights, Index n) {
    count = 0;
    total = 0.0;
    rows.reserve(n);
    weight.reserve(padded(n));
    root.reserve(padded(n));
    for (Index i = 0; i < n; ++i) {
      if (!(weights[i] > 0.0)) continue;
      rows[count] = static_cast<std::int32_t>(i);
      weight[count] = weights[i];
      root[count] = std::sqrt(weights[i]);
      total += weights[i];
      ++count;
    }
    for (Index i = count; i < padded(count); ++i) weight[i] = root[i] = 0.0;
  }

  // Writes column j of the member's design to a place of the working set.
  void write_column(const Design& design, Index j, bool intercept, Index place_in_set) {
    double* out = set.column(place_in_set);
    const Index p = design.columns();
    if (j < p)
      design.take(j, rows.data(), count, out);
    else
      own->take(j - p, rows.data(), count, out);
    double shift = 0.0;
    if (intercept) {
      if (fit->centring()) {
        double mean = 0.0;
        for (Index i = 0; i < count; ++i) mean += weight[i] * out[i];
        shift = total > 0.0 ? mean / total : 0.0;
        // once more, about the first mean: no digits are lost where a column is far from zero
        mean = 0.0;
        for (Index i = 0; i < count; ++i) mean += weight[i] * (out[i] - shift);
        shift += total > 0.0 ? mean / total : 0.0;
      } else {
        shift = j < p ? design.centre(j) : own->centre(j - p);
      }
    }
    set.shift[place_in_set] = shift;
    if (fit->rooted()) {
      for (Index i = 0; i < count; ++i) out[i] = root[i] * (out[i] - shift);
    } else if (shift != 0.0) {
      for (Index i = 0; i < count; ++i) out[i] -= shift;
    }
    for (Index i = count; i < padded(count); ++i) out[i] = 0.0;
  }

  // Returns the exact product of column j with a vector over all rows.
  double product(const Design& design, Index j, const double* vector) const {
    const Index p = design.columns();
    return j < p ? design.dot(j, vector) : own->dot(j - p, vector);
  }
};

}  // namespace selica
