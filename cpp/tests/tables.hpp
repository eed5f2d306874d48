// Random tables of every kind, beside their entries as doubles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "designs/dense.hpp"
#include "designs/int8.hpp"
#include "designs/side_by_side.hpp"
#include "designs/sparse.hpp"
#include "designs/two_bit.hpp"
#include "tests/random.hpp"

namespace selica::fuzz {

// A table and the memory it lies in, no byte longer than it has to be.
struct Table {
  std::shared_ptr<Design> design;
  std::vector<double> entries;  // column by column
  std::vector<double> doubles;
  std::vector<float> floats;
  std::vector<std::int8_t> bytes;
  std::vector<std::uint8_t> codes;
  std::vector<std::int64_t> starts;
  std::vector<std::int32_t> places;
  std::vector<Table> parts;
};

// What the columns of a table are like.
struct Columns {
  Index rows, count;
  bool wild;  // of all sizes from 1e-30 to 1e25
  bool hard;  // some are nearly the same, or far from zero
};

// A table that says it is too large for a cache: its members are multiplied together.
class Heavy final : public Design {
 public:
  explicit Heavy(std::shared_ptr<Design> inner)
      : Design(inner->rows(), inner->columns()), inner_(std::move(inner)) {}

  void take(Index j, const std::int32_t* rows, Index count, double* out) const override {
    inner_->take(j, rows, count, out);
  }
  double dot(Index j, const double* vector) const override { return inner_->dot(j, vector); }
  double excess(Index j, double weight) const override { return inner_->excess(j, weight); }
  void prepare(bool centred) override {
    inner_->prepare(centred);
    for (Index j = 0; j < columns(); ++j) set(j, inner_->centre(j), inner_->scale(j));
  }
  void multiply(const Residuals& r, float* const* out) const override { inner_->multiply(r, out); }
  void multiply_alone(const float* residual, float* out) const override {
    inner_->multiply_alone(residual, out);
  }
  void squares(const Residuals& weights, float* const* out) const override {
    inner_->squares(weights, out);
  }
  Index screened_bytes() const override { return Index{1} << 40; }
  void moments(Index from, Index count, const double* weights, Index width, double* first,
               double* second) const override {
    inner_->moments(from, count, weights, width, first, second);
  }

 private:
  std::shared_ptr<Design> inner_;
};

namespace tables_detail {

inline double one_entry(Random& random, int kind) {
  switch (kind) {
    case 0:
      return random.normal();
    case 1:
      return static_cast<double>(random.whole(-1, 1));
    case 2:
      return random.chance(0.8) ? 0.0 : random.normal();
    default:
      return static_cast<double>(random.whole(0, 1));
  }
}

inline std::vector<double> some_entries(Random& random, const Columns& is) {
  std::vector<double> out(static_cast<std::size_t>(is.rows * is.count));
  const double each = is.wild ? 0.5 : 0.0;
  for (Index j = 0; j < is.count; ++j) {
    double* column = out.data() + j * is.rows;
    const int kind = static_cast<int>(random.whole(0, 3));
    for (Index i = 0; i < is.rows; ++i) column[i] = one_entry(random, kind);
    const double what = random.uniform();
    if (what < 0.05) {
      std::fill_n(column, is.rows, what < 0.02 ? 0.0 : random.normal());
    } else if (what < 0.15 && j > 0) {
      const double* other = out.data() + random.whole(0, j - 1) * is.rows;
      const double factor = what < 0.1 ? 1.0 : random.uniform(-2.0, 2.0);
      const double away = is.hard && what < 0.12 ? 1e-9 : 0.0;
      for (Index i = 0; i < is.rows; ++i) column[i] = factor * other[i] + away * random.normal();
    } else if (what < 0.2 && is.hard) {
      const double far = std::pow(10.0, random.uniform(0.0, 7.0));
      for (Index i = 0; i < is.rows; ++i) column[i] += far;
    }
    if (random.chance(each) && what >= 0.15) {
      const double size = std::pow(10.0, random.uniform(-30.0, 25.0));
      for (Index i = 0; i < is.rows; ++i) column[i] *= size;
    }
  }
  return out;
}

template <class T>
void place(Random& random, const Columns& is, std::vector<T>& memory, Table& table, Index& row_step,
           Index& column_step) {
  const Index apart = random.whole(1, 2), gap = random.whole(0, 1);
  row_step = apart;
  column_step = apart * is.rows + gap;
  if (random.chance(0.5)) {
    column_step = apart;
    row_step = apart * is.count + gap;
  }
  memory.resize(
      static_cast<std::size_t>((is.rows - 1) * row_step + (is.count - 1) * column_step + 1));
  for (Index j = 0; j < is.count; ++j)
    for (Index i = 0; i < is.rows; ++i) {
      double& entry = table.entries[static_cast<std::size_t>(j * is.rows + i)];
      const T kept = static_cast<T>(entry);
      memory[static_cast<std::size_t>(i * row_step + j * column_step)] = kept;
      entry = static_cast<double>(kept);
    }
}

inline void make_bytes(Random& random, const Columns& is, Table& table) {
  std::vector<double> unit(static_cast<std::size_t>(is.count)), origin(unit.size());
  for (std::size_t j = 0; j < unit.size(); ++j) {
    unit[j] = random.chance(0.5) ? 1.0 : random.uniform(-2.0, 2.0);
    if (is.wild) unit[j] *= std::pow(10.0, random.uniform(-20.0, 20.0));
    if (random.chance(0.02)) unit[j] = 0.0;
    origin[j] = random.chance(0.5) ? 0.0 : random.uniform(-3.0, 3.0);
    if (is.hard && random.chance(0.1)) origin[j] = random.uniform(-1e6, 1e6);
  }
  const bool full = random.chance(0.2);
  for (double& entry : table.entries)
    entry = full ? static_cast<double>(random.whole(-128, 127))
                 : std::nearbyint(std::max(-9.0, std::min(9.0, 2.0 * entry)));
  Index row_step = 0, column_step = 0;
  place(random, is, table.bytes, table, row_step, column_step);
  for (Index j = 0; j < is.count; ++j)
    for (Index i = 0; i < is.rows; ++i) {
      double& entry = table.entries[static_cast<std::size_t>(j * is.rows + i)];
      entry = unit[static_cast<std::size_t>(j)] * (entry - origin[static_cast<std::size_t>(j)]);
    }
  table.design = std::make_shared<Int8Design>(table.bytes.data(), is.rows, is.count, row_step,
                                              column_step, unit.data(), origin.data());
}

inline void make_two_bits(Random& random, const Columns& is, Table& table) {
  const std::size_t p = static_cast<std::size_t>(is.count);
  std::vector<double> unit(p), origin(p), fill(p);
  std::vector<std::int64_t> lines(p);
  const Index bytes = line_bytes(is.rows), step = bytes + random.whole(0, 2);
  const Index held = is.count + random.whole(0, 2);
  table.codes.resize(static_cast<std::size_t>((held - 1) * step + bytes));
  for (std::uint8_t& byte : table.codes) byte = static_cast<std::uint8_t>(random.whole(0, 255));
  const double missing = random.chance(0.5) ? 0.0 : random.uniform();
  for (std::size_t j = 0; j < p; ++j) {
    unit[j] = random.chance(0.5) ? 1.0 : random.uniform(-2.0, 2.0);
    if (is.wild) unit[j] *= std::pow(10.0, random.uniform(-20.0, 20.0));
    if (random.chance(0.02)) unit[j] = 0.0;
    origin[j] = random.chance(0.5) ? 0.0 : random.uniform(-3.0, 3.0);
    if (is.hard && random.chance(0.1)) origin[j] = random.uniform(-1e6, 1e6);
    fill[j] = random.uniform(0.0, 2.0);
    lines[j] = random.whole(0, held - 1);  // a line may be several columns
  }
  const double often = random.uniform();
  for (Index line = 0; line < held; ++line)
    for (Index i = 0; i < is.rows; ++i) {
      const int code = random.chance(missing) ? kMissing
                       : random.chance(often) ? 3
                                              : 2 * static_cast<int>(random.whole(0, 1));
      std::uint8_t& byte = table.codes[static_cast<std::size_t>(line * step + i / 4)];
      const int place = 2 * static_cast<int>(i % 4);
      byte = static_cast<std::uint8_t>((byte & ~(3 << place)) | code << place);
    }
  for (Index j = 0; j < is.count; ++j)
    for (Index i = 0; i < is.rows; ++i) {
      const std::size_t at = static_cast<std::size_t>(j);
      const int code = code_at(table.codes.data() + lines[at] * step, i);
      const double copies = code == 0 ? 2.0 : code == 1 ? fill[at] : code == 2 ? 1.0 : 0.0;
      table.entries[static_cast<std::size_t>(j * is.rows + i)] = unit[at] * (copies - origin[at]);
    }
  table.design =
      std::make_shared<TwoBitDesign>(table.codes.data(), is.rows, is.count, step, lines.data(),
                                     unit.data(), origin.data(), fill.data());
}

inline void make_sparse(Random& random, const Columns& is, Table& table) {
  const double density = random.uniform();
  for (Index j = 0; j < is.count; ++j) {
    table.starts.push_back(static_cast<std::int64_t>(table.places.size()));
    for (Index i = 0; i < is.rows; ++i) {
      double& entry = table.entries[static_cast<std::size_t>(j * is.rows + i)];
      if (!random.chance(density)) {
        entry = 0.0;
        continue;
      }
      table.places.push_back(static_cast<std::int32_t>(i));
      table.doubles.push_back(entry);
    }
  }
  table.starts.push_back(static_cast<std::int64_t>(table.places.size()));
  table.doubles.shrink_to_fit();
  table.places.shrink_to_fit();
  table.design = std::make_shared<SparseDesign>(is.rows, is.count, table.starts.data(),
                                                table.places.data(), table.doubles.data());
}

}  // namespace tables_detail

// Returns a table whose kind is drawn; `inside` is a part of another one.
inline Table some_table(Random& random, const Columns& is, bool inside = false) {
  using namespace tables_detail;
  Table table;
  const Index kind = random.whole(0, inside ? 4 : 5);
  if (kind == 5) {
    std::vector<std::shared_ptr<Design>> designs;
    for (Index left = is.count; left > 0;) {
      const Index some = random.whole(1, left);
      table.parts.push_back(some_table(random, {is.rows, some, is.wild, is.hard}, true));
      left -= some;
    }
    for (const Table& part : table.parts) {
      designs.push_back(part.design);
      table.entries.insert(table.entries.end(), part.entries.begin(), part.entries.end());
    }
    table.design = std::make_shared<SideBySide>(std::move(designs));
    return table;
  }
  table.entries = some_entries(random, is);
  Index row_step = 0, column_step = 0;
  const bool copied = random.chance(0.5);
  if (kind == 0) {
    place(random, is, table.doubles, table, row_step, column_step);
    table.design = std::make_shared<DenseDesign<double>>(table.doubles.data(), is.rows, is.count,
                                                         row_step, column_step, copied);
  } else if (kind == 1) {
    place(random, is, table.floats, table, row_step, column_step);
    table.design = std::make_shared<DenseDesign<float>>(table.floats.data(), is.rows, is.count,
                                                        row_step, column_step, copied);
  } else if (kind == 2) {
    make_bytes(random, is, table);
  } else if (kind == 3) {
    make_two_bits(random, is, table);
  } else {
    make_sparse(random, is, table);
  }
  return table;
}

}  // namespace selica::fuzz
