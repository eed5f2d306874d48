// Gradients of all columns in all classes, in single precision, at the last two fits where they
// were computed. screening.hpp is given their sizes: of the present residual by the line through
// these two, or at the last of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "numeric/panel.hpp"
#include "paths/multinomial_charge.hpp"
#include "paths/screening.hpp"

namespace selica {

class MultinomialScreening {
 public:
  explicit MultinomialScreening(const Design& design)
      : design_(design), columns_(design.columns()) {
    full_.zeros(padded(design.rows()));
  }

  void open(const Charge& charge) {
    charge_ = &charge;
    sums_.resize(static_cast<std::size_t>(charge.unknowns()));
    for (Buffer<float>& each : gradient_) each.zeros(charge.unknowns() * columns_);
  }

  // Computes gradients number `which` from minus the derivatives in `pull`.
  void multiply(const Member& m, const double* pull, int which) {
    const Index n = design_.rows(), count = charge_->unknowns(), size = padded(m.count);
    const bool cached = design_.screened_bytes() <= kCached && count <= kAlone;
    const bool alone = cached || count < 3;
    const Index width = alone ? 1 : panel_width(std::min(count, kPanelMembers));
    float* out = gradient_[which].data();
    if (alone) {
      for (Index s = 0; s < count; ++s) {
        float* beside = beside_.zeros(n);
        for (Index i = 0; i < m.count; ++i)
          beside[m.rows[i]] = static_cast<float>(pull[s * size + i] * m.pull_scale);
        design_.multiply_alone(beside, out + s * columns_);
        columns_read_ += columns_;
      }
      return;
    }
    std::vector<float*> outs;
    for (Index s = 0; s < count; ++s) outs.push_back(out + s * columns_);
    for (Index first = 0; first < count; first += kPanelMembers) {
      const Index some = std::min(kPanelMembers, count - first);
      float* beside = beside_.zeros(n * width);
      for (Index s = 0; s < some; ++s)
        for (Index i = 0; i < m.count; ++i)
          beside[m.rows[i] * width + s] =
              static_cast<float>(pull[(first + s) * size + i] * m.pull_scale);
      design_.multiply({beside, width, some}, outs.data() + first);
      columns_read_ += columns_;
    }
  }

  void copy(int from) {
    std::copy_n(gradient_[from].data(), charge_->unknowns() * columns_, gradient_[1 - from].data());
  }

  // Writes the sizes of the gradients `newest` + t (`newest` - other) where lists are made of
  // them.
  void write_sizes(Member& m, int newest, double t) const {
    constexpr float kAbove = 1.0F + 2e-6F;  // sums of squares are rounded
    const float *last = gradient_[newest].data(), *first = gradient_[1 - newest].data();
    const float step = static_cast<float>(t);
    float* out = m.gradient[m.newest].data();
    const bool group = charge_->group();
    std::fill_n(out, columns_, 0.0F);
    for (Index s = 0; s < charge_->unknowns(); ++s) {
      const float *a = last + s * columns_, *b = first + s * columns_;
      for (Index j = 0; j < columns_; ++j) {
        const float value = a[j] + step * (a[j] - b[j]);
        const float size = value < 0.0F ? -value : value;
        out[j] = group ? out[j] + value * value : (size > out[j] ? size : out[j]);
      }
    }
    if (!group) return;
    for (Index j = 0; j < columns_; ++j) out[j] = std::sqrt(out[j]) * kAbove;
  }

  // Returns the exact size of the gradient of column j.
  double exact(const Member& m, Index j, const double* pull) {
    const Index count = charge_->unknowns(), size = padded(m.count);
    for (Index s = 0; s < count; ++s) {
      const double* values = pull + s * size;
      double pulled = 0.0;
      for (Index i = 0; i < m.count; ++i) {
        full_[m.rows[i]] = values[i];
        pulled += values[i];
      }
      sums_[static_cast<std::size_t>(s)] =
          design_.dot(j, full_.data()) - design_.centre(j) * pulled;
    }
    columns_read_ += count;
    for (Index i = 0; i < m.count; ++i) full_[m.rows[i]] = 0.0;
    return charge_->size(sums_.data());
  }

  // Columns of the design that were read.
  Index columns_read() const { return columns_read_; }

 private:
  // Bytes of a design that is meant to stay in the cache, and unknowns up to which it is read
  // once for each of them then.
  static constexpr Index kCached = 1'000'000;
  static constexpr Index kAlone = 8;

  const Design& design_;
  Index columns_;
  Index columns_read_ = 0;
  const Charge* charge_ = nullptr;
  Buffer<float> gradient_[2], beside_;
  Buffer<double> full_;
  std::vector<double> sums_;
};

}  // namespace selica
