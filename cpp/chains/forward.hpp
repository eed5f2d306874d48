// The forward recursion of a register of people, along all sites.
//
// What is predicted at a site is needed again from the last site to the first. It is kept for a
// window of sites only; of the others, the state before every window is kept, and the recursion
// runs through a window a second time when its turn comes. So memory stays in the cache, and grows
// with the number of sites by little.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/buffer.hpp"
#include "base/stop.hpp"
#include "chains/people.hpp"

namespace selica::chains {

inline constexpr Index kWindow = 64;  // sites

template <class States>
class Forward {
 public:
  explicit Forward(const Motifs& law)
      : law_(law),
        cells_(States::cells(law.motifs) * kDoubles),
        margins_(States::margins(law.motifs) * kDoubles),
        windows_((law.sites + kWindow - 1) / kWindow),
        emission_(2 * law.motifs * kDoubles),
        scratch_(std::max<Index>(States::scratch(law.motifs), 1) * kDoubles),
        state_(cells_ + margins_ + kDoubles),
        saved_(windows_ * (cells_ + margins_ + kDoubles)),
        predicted_(kWindow * cells_),
        margin_(std::max<Index>((kWindow + 1) * margins_, 1)),
        inverse_((kWindow + 1) * kDoubles) {}

  Index windows() const { return windows_; }
  Index begin(Index window) const { return window * kWindow; }
  Index end(Index window) const { return std::min(law_.sites, (window + 1) * kWindow); }

  // Goes through all sites, and is in the last window then. Says where someone's genotype is
  // impossible, and stops there. Adds the log likelihoods to `log_likelihood` (kDoubles), which may
  // be null.
  Wrong run(const Register& people, double* log_likelihood) {
    std::fill_n(state_.data(), cells_ + margins_, 0.0);
    store(inverse_of(state_.data()), same(1.0));
    for (Index window = 0; window < windows_; ++window) {
      std::copy_n(state_.data(), cells_ + margins_ + kDoubles, saved(window));
      const Wrong wrong = through(people, window);
      if (wrong.found()) return wrong;
      if (log_likelihood != nullptr) add_logarithms(window, log_likelihood);
    }
    return {};
  }

  // Goes through a window again.
  void recall(const Register& people, Index window) {
    std::copy_n(saved(window), cells_ + margins_ + kDoubles, state_.data());
    through(people, window);
  }

  // Of a site of the window: predicted cells, margins of F, and the inverse of its sum. Margins and
  // inverse are also there for the site before the window.
  const double* predicted(Index j) const { return predicted_.data() + (j % kWindow) * cells_; }
  const double* margin(Index j) const { return margin_.data() + slot(j) * margins_; }
  Doubles inverse(Index j) const { return load(inverse_.data() + slot(j) * kDoubles); }
  const double* margin_before(Index j) const { return margin_.data() + (j % kWindow) * margins_; }
  Doubles inverse_before(Index j) const { return load(inverse_.data() + (j % kWindow) * kDoubles); }

 private:
  static Index slot(Index j) { return j % kWindow + 1; }
  double* saved(Index window) { return saved_.data() + window * (cells_ + margins_ + kDoubles); }
  double* inverse_of(double* state) const { return state + cells_ + margins_; }

  Wrong through(const Register& people, Index window) {
    check_stop();
    double *F = state_.data(), *margin = F + cells_, *inverse = inverse_of(F);
    std::copy_n(margin, margins_, margin_.data());
    std::copy_n(inverse, kDoubles, inverse_.data());
    for (Index j = begin(window); j < end(window); ++j) {
      States::emission(law_, j, people, emission_.data());
      const Doubles sum =
          States::forward(law_, j, emission_.data(), load(inverse), F, margin,
                          predicted_.data() + (j % kWindow) * cells_, scratch_.data());
      for (Index i = 0; i < kDoubles; ++i)
        if (!(sum[i] > 0.0)) return {people.first() + i, j};
      store(inverse, 1.0 / sum);
      std::copy_n(margin, margins_, margin_.data() + slot(j) * margins_);
      std::copy_n(inverse, kDoubles, inverse_.data() + slot(j) * kDoubles);
    }
    return {};
  }

  void add_logarithms(Index window, double* to) const {
    for (Index j = begin(window); j < end(window); ++j)
      for (Index i = 0; i < kDoubles; ++i) to[i] -= std::log(inverse(j)[i]);
  }

  Motifs law_;
  Index cells_, margins_, windows_;
  Buffer<double> emission_, scratch_;
  Buffer<double> state_;                         // F, its margins, the inverse of its sum
  Buffer<double> saved_;                         // the same before each window
  Buffer<double> predicted_, margin_, inverse_;  // of the sites of a window
};

}  // namespace selica::chains
