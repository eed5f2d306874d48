// A table of columns, however it is stored: what the solvers ask of it.
//
// A column is centred and scaled only implicitly. `centre` and `scale` are those of the screening:
// products in single precision are with (x - centre) * scale, where the scale is a power of two
// that takes the largest entry to about one. A new kind of design is one class: of `PanelDesign`,
// with `take`, `dot`, `whole` and `panel`, or with products of its own.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/types.hpp"

namespace selica {

// Residuals of several members side by side, for products with all columns.
struct Residuals {
  const float* values;  // (rows, width)
  Index width;          // of `panel_width`
  Index members;
};

class Design {
 public:
  Design(Index rows, Index columns)
      : rows_(rows), columns_(columns), centre_(columns, 0.0), scale_(columns, 1.0) {}
  virtual ~Design() = default;
  Design(const Design&) = delete;
  Design& operator=(const Design&) = delete;

  Index rows() const { return rows_; }
  Index columns() const { return columns_; }
  double centre(Index j) const { return centre_[static_cast<std::size_t>(j)]; }
  // Whether all entries that `prepare` saw are numbers.
  bool finite() const { return finite_; }
  double scale(Index j) const { return scale_[static_cast<std::size_t>(j)]; }

  // Writes the entries of column j in the listed rows.
  virtual void take(Index j, const std::int32_t* rows, Index count, double* out) const = 0;
  // Returns the product of column j with a vector over all rows.
  virtual double dot(Index j, const double* vector) const = 0;
  // Returns what the screened form of a column adds to the norm of the centred one, for members of
  // this total weight: zero where it is centred itself.
  virtual double excess(Index, double) const { return 0.0; }

  // Finds centres (zero unless `centred`) and scales, and makes what the screening needs.
  virtual void prepare(bool centred) = 0;
  // Writes the screened products of all columns with the residuals: out[m][j].
  virtual void multiply(const Residuals& r, float* const* out) const = 0;
  // Writes the screened products of all columns with one residual.
  virtual void multiply_alone(const float* residual, float* out) const = 0;
  // Writes the sums of weights times squares of the screened columns: out[m][j]. The weights lie
  // side by side as residuals do.
  virtual void squares(const Residuals& weights, float* const* out) const = 0;
  // Writes weighted moments of `count` columns about their centres, (count, width) each. Weights
  // lie side by side, (rows, width).
  virtual void moments(Index from, Index count, const double* weights, Index width, double* first,
                       double* second) const = 0;
  // Bytes that one multiplication reads.
  virtual Index screened_bytes() const = 0;

 protected:
  void set_infinite() { finite_ = false; }
  void set(Index j, double centre, double scale) {
    centre_[static_cast<std::size_t>(j)] = centre;
    scale_[static_cast<std::size_t>(j)] = scale;
  }

  // Returns a power of two that takes a size to about one; it is 1 for sizes as data have them.
  static double power_of_two(double size) {
    if (!(size > 0.0) || (size > 1e-3 && size < 1e3)) return 1.0;
    int exponent = 0;
    std::frexp(size, &exponent);
    return std::ldexp(1.0, -exponent);
  }

 private:
  Index rows_;
  Index columns_;
  bool finite_ = true;
  std::vector<double> centre_;
  std::vector<double> scale_;
};

}  // namespace selica
