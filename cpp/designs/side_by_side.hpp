// Several tables of the same rows, side by side: the columns of the first, then of the next.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "designs/design.hpp"

namespace selica {

class SideBySide final : public Design {
 public:
  explicit SideBySide(std::vector<std::shared_ptr<Design>> parts)
      : Design(parts.at(0)->rows(), total(parts)), parts_(std::move(parts)) {
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      starts_.push_back(static_cast<Index>(part_of_.size()));
      part_of_.insert(part_of_.end(), static_cast<std::size_t>(parts_[part]->columns()), part);
    }
  }

  void take(Index j, const std::int32_t* rows, Index count, double* out) const override {
    part(j).take(inside(j), rows, count, out);
  }
  double dot(Index j, const double* vector) const override {
    return part(j).dot(inside(j), vector);
  }
  double excess(Index j, double weight) const override { return part(j).excess(inside(j), weight); }

  void prepare(bool centred) override {
    Index j = 0;
    for (const auto& each : parts_) {
      each->prepare(centred);
      for (Index c = 0; c < each->columns(); ++c, ++j) set(j, each->centre(c), each->scale(c));
    }
  }

  void multiply(const Residuals& r, float* const* out) const override {
    std::vector<float*> shifted(out, out + r.members);
    for (const auto& each : parts_) {
      each->multiply(r, shifted.data());
      for (float*& to : shifted) to += each->columns();
    }
  }

  void squares(const Residuals& weights, float* const* out) const override {
    std::vector<float*> shifted(out, out + weights.members);
    for (const auto& each : parts_) {
      each->squares(weights, shifted.data());
      for (float*& to : shifted) to += each->columns();
    }
  }

  void multiply_alone(const float* residual, float* out) const override {
    for (const auto& each : parts_) {
      each->multiply_alone(residual, out);
      out += each->columns();
    }
  }

  Index screened_bytes() const override {
    Index bytes = 0;
    for (const auto& each : parts_) bytes += each->screened_bytes();
    return bytes;
  }

  void moments(Index from, Index count, const double* weights, Index width, double* first,
               double* second) const override {
    for (Index done = 0; done < count;) {
      const Design& one = part(from + done);
      const Index begin = inside(from + done);
      const Index some = std::min(count - done, one.columns() - begin);
      one.moments(begin, some, weights, width, first + done * width, second + done * width);
      done += some;
    }
  }

 private:
  static Index total(const std::vector<std::shared_ptr<Design>>& parts) {
    Index columns = 0;
    for (const auto& each : parts) columns += each->columns();
    return columns;
  }
  const Design& part(Index j) const { return *parts_[part_of_[static_cast<std::size_t>(j)]]; }
  Index inside(Index j) const { return j - starts_[part_of_[static_cast<std::size_t>(j)]]; }

  std::vector<std::shared_ptr<Design>> parts_;
  std::vector<Index> starts_;
  std::vector<std::size_t> part_of_;
};

}  // namespace selica
