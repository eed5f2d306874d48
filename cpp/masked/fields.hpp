// Products of columns with the residual r = y - sum of coefficients times columns, in two ways.
//
// With the Gram matrix of all columns a product is read, and a change of a coefficient changes the
// products of all columns: sparse models in tables that are not too wide. Without it a product is
// computed when it is asked for, and a change of a coefficient changes the residual.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>

#include "base/buffer.hpp"
#include "base/types.hpp"
#include "base/workers.hpp"
#include "masked/model.hpp"
#include "numeric/gram.hpp"
#include "numeric/products.hpp"

namespace selica::masked {

// The Gram matrix of the columns of both versions, which all chains read.
class Gram {
 public:
  // Computes it on threads; where `poll` says so it ends early and is not finished.
  Gram(const Pairs& pairs, Index threads, const std::function<bool()>& poll)
      : ld_(padded(2 * pairs.columns)) {
    constexpr Index kRows = 32;  // that one thread does in one go
    const Index count = 2 * pairs.columns, tasks = (count + kRows - 1) / kRows;
    values_.zeros(count * ld_);
    std::atomic<Index> done = 0;
    Workers(tasks, threads)
        .run(
            [&] {
              auto scratch = std::make_shared<Buffer<double>>(4 * 512);
              return [&, scratch](Index number) {
                const Index from = number * kRows, to = std::min(from + kRows, count);
                gram_rows(pairs.values, pairs.size, nullptr, from, to, pairs.size, values_.data(),
                          ld_, scratch->data());
                ++done;
              };
            },
            poll);
    finished_ = done == tasks;
  }
  const double* row(Index column) const { return values_.data() + column * ld_; }
  Index ld() const { return ld_; }
  bool finished() const { return finished_; }

 private:
  Index ld_;
  bool finished_ = false;
  Buffer<double> values_;
};

class GramFields {
 public:
  GramFields(const Pairs& pairs, const Gram& gram)
      : pairs_(pairs), gram_(gram), with_y_(gram.ld()), products_(gram.ld()) {
    with_y_.zeros(gram.ld());
    products_.zeros(gram.ld());
  }

  // Takes a new response; all coefficients are zero afterwards.
  void respond(const double* y) {
    multiply_rows(pairs_.values, pairs_.size, 2 * pairs_.columns, y, pairs_.size, with_y_.data());
    square_of_y_ = dot_padded(y, y, pairs_.size);
    clear();
  }
  // Makes all coefficients zero.
  void clear() { std::copy_n(with_y_.data(), gram_.ld(), products_.data()); }
  // Adds to a coefficient.
  void add(Index column, double amount) {
    axpy_padded(-amount, gram_.row(column), products_.data(), gram_.ld());
  }
  double product(Index column) const { return products_[column]; }
  double cross(Index a, Index b) const { return gram_.row(a)[b]; }
  // Returns what a coefficient takes off |y|^2: |r|^2 = |y|^2 - sum of b_i explained(i) over them.
  double explained(Index column) const { return with_y_[column] + products_[column]; }
  double square_of_y() const { return square_of_y_; }

 private:
  const Pairs& pairs_;
  const Gram& gram_;
  Buffer<double> with_y_, products_;
  double square_of_y_ = 0.0;
};

class ResidualFields {
 public:
  explicit ResidualFields(const Pairs& pairs)
      : pairs_(pairs), y_(pairs.size), residual_(pairs.size) {}

  void respond(const double* y) {
    std::copy_n(y, pairs_.size, y_.data());
    square_of_y_ = dot_padded(y, y, pairs_.size);
    clear();
  }
  void clear() { std::copy_n(y_.data(), pairs_.size, residual_.data()); }
  void add(Index column, double amount) {
    axpy_padded(-amount, values(column), residual_.data(), pairs_.size);
  }
  double product(Index column) const {
    return dot_padded(values(column), residual_.data(), pairs_.size);
  }
  double cross(Index a, Index b) const { return dot_padded(values(a), values(b), pairs_.size); }
  double explained(Index column) const {
    return dot_padded(values(column), y_.data(), pairs_.size) + product(column);
  }
  double square_of_y() const { return square_of_y_; }

 private:
  const double* values(Index column) const { return pairs_.values + column * pairs_.size; }

  const Pairs& pairs_;
  Buffer<double> y_, residual_;
  double square_of_y_ = 0.0;
};

}  // namespace selica::masked
