// Products of a matrix and of its squared entries with three vectors; the matrix is read once.
//
// With one penalty such a product is as fast as the matrix comes from memory, so that three in one
// cost little more than one, and the squares need not be stored. Sums have a fixed order, which
// depends on the instruction set only.
#pragma once

#include <algorithm>
#include <vector>

#include "base/types.hpp"
#include "numeric/lanes.hpp"

namespace selica::amp {

// The vectors that a matrix A is multiplied with: A u, A^2 s, A^2 t, with squares entry by entry.
struct Factors {
  const double* u;
  const double* s;
  const double* t;
};

// Registers of the three factors at some columns.
struct FactorLanes {
  Doubles u, s, t;
};

inline FactorLanes lanes_at(Factors by, Index j) {
  return {load(by.u + j), load(by.s + j), load(by.t + j)};
}

// Returns the factors of the last kDoubles columns, with zeros where whole registers have been.
inline FactorLanes last_lanes(Factors by, Index columns) {
  FactorLanes last{};
  if (columns < kDoubles) return last;
  last = lanes_at(by, columns - kDoubles);
  for (Index j = 0; j < kDoubles - columns % kDoubles; ++j) last.u[j] = last.s[j] = last.t[j] = 0.0;
  return last;
}

// Sums of one row with its three factors, a register each.
struct RowSums {
  Doubles u{}, s{}, t{};

  void add(Doubles x, const FactorLanes& by) {
    const Doubles square = x * x;
    u += x * by.u;
    s += square * by.s;
    t += square * by.t;
  }
};

// Writes the products of `count` rows, one after the other, with the factors to out[0], out[apart]
// and out[2 * apart].
template <int count>
void multiply(const double* a, Index columns, Factors by, const FactorLanes& last, double* out,
              Index apart) {
  RowSums sums[count];
  const Index whole = columns / kDoubles * kDoubles;
  for (Index j = 0; j < whole; j += kDoubles) {
    const FactorLanes now = lanes_at(by, j);
    for (int r = 0; r < count; ++r) sums[r].add(load(a + r * columns + j), now);
  }
  if (whole > 0 && whole < columns)
    for (int r = 0; r < count; ++r) sums[r].add(load(a + (r + 1) * columns - kDoubles), last);
  for (int r = 0; r < count; ++r) {
    double u = sum(sums[r].u), s = sum(sums[r].s), t = sum(sums[r].t);
    for (Index j = 0; whole == 0 && j < columns; ++j) {
      const double x = a[r * columns + j];
      u += x * by.u[j];
      s += x * x * by.s[j];
      t += x * x * by.t[j];
    }
    out[r] = u;
    out[apart + r] = s;
    out[2 * apart + r] = t;
  }
}

// Calls work<count>(i) for blocks of rows from i on: as many rows at a time as there are registers
// for, then halves of that.
template <int count, class Work>
Index in_blocks(Index i, Index rows, const Work& work) {
  for (; i + count <= rows; i += count) work.template operator()<count>(i);
  if constexpr (count > 1) i = in_blocks<count / 2>(i, rows, work);
  return i;
}

// Writes the products with a (rows, columns) to out (3, rows).
inline void along(const double* a, Index rows, Index columns, Factors by, double* out) {
  constexpr int kRows = kBytes == 64 ? 4 : 2;
  const FactorLanes last = last_lanes(by, columns);
  in_blocks<kRows>(0, rows, [&]<int count>(Index i) {
    multiply<count>(a + i * columns, columns, by, last, out + i, rows);
  });
}

// Adds `count` rows, one after the other, times their factors to three sums of each column.
template <int count>
void add(const double* a, Index columns, Factors by, double* first, double* second, double* third) {
  Doubles u[count], s[count], t[count];
  for (int r = 0; r < count; ++r) {
    u[r] = same(by.u[r]);
    s[r] = same(by.s[r]);
    t[r] = same(by.t[r]);
  }
  Index j = 0;
  for (; j + kDoubles <= columns; j += kDoubles) {
    Doubles one = load(first + j), two = load(second + j), three = load(third + j);
    for (int r = 0; r < count; ++r) {
      const Doubles x = load(a + r * columns + j);
      const Doubles square = x * x;
      one += x * u[r];
      two += square * s[r];
      three += square * t[r];
    }
    store(first + j, one);
    store(second + j, two);
    store(third + j, three);
  }
  for (; j < columns; ++j) {
    for (int r = 0; r < count; ++r) {
      const double x = a[r * columns + j];
      first[j] += x * by.u[r];
      second[j] += x * x * by.s[r];
      third[j] += x * x * by.t[r];
    }
  }
}

// Writes the products with the transpose of a (rows, columns) to out (3, columns).
inline void across(const double* a, Index rows, Index columns, Factors by, double* out) {
  constexpr int kRows = kBytes == 64 ? 8 : 4;
  std::fill_n(out, 3 * columns, 0.0);
  in_blocks<kRows>(0, rows, [&]<int count>(Index i) {
    add<count>(a + i * columns, columns, {by.u + i, by.s + i, by.t + i}, out, out + columns,
               out + 2 * columns);
  });
}

// Calls product(factors, out) for each of L columns of factors (from, L), and writes what it gives,
// (3, to), to out (3, to, L).
template <class Product>
void each_column(const Product& product, Index from, Index to, Index L, Factors by, double* out) {
  if (L == 1) return product(by, out);
  std::vector<double> column(3 * from), found(3 * to);
  const double* parts[] = {by.u, by.s, by.t};
  for (Index k = 0; k < L; ++k) {
    for (Index part = 0; part < 3; ++part)
      for (Index j = 0; j < from; ++j) column[part * from + j] = parts[part][j * L + k];
    product({column.data(), column.data() + from, column.data() + 2 * from}, found.data());
    for (Index i = 0; i < 3 * to; ++i) out[i * L + k] = found[i];
  }
}

}  // namespace selica::amp
