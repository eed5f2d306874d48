// Writes the answer of one member with several classes at one penalty to what is kept.
//
// `coef` is (members, n_lams, columns, classes), `intercept` (members, n_lams, classes). Constants
// have mean zero. Classes that a member does not have get coefficients zero and the constant minus
// infinity. Coefficients that a penalty leaves open up to a constant are moved to zero median
// ("each") or zero mean ("group"). The sparse entry of a variable is what a penalty of one charges
// for its coefficients.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "paths/multinomial_fit.hpp"
#include "paths/record.hpp"

namespace selica {

class MultinomialRecorder : public AnyRecorder {
 public:
  MultinomialRecorder(const Problem& problem, const Kept& kept, SparseEntries* sparse,
                      Index n_classes)
      : AnyRecorder(problem, kept, sparse), n_classes_(n_classes) {}

  // Keeps a certified answer; returns false where the member stops before it.
  bool finish(const Member& m, const MultinomialFit& fit) {
    Index active = 0;
    for (Index i = 1; i < m.set.k; ++i) active += selected(fit, i);
    if (stops(place(m), active)) return false;
    write(m, fit, place(m));
    return true;
  }

  // Writes zeros for a member without two classes.
  void degenerate(const Member& m, const MultinomialFit& fit) const {
    for (Index l = 0; l < problem_.n_lams; ++l) {
      const Index at = m.number * problem_.n_lams + l;
      nothing(at);
      double* constants = begin_constants(fit, at);
      for (Index c = 0; c < fit.loss().classes(); ++c) constants[fit.loss().which(c)] = 0.0;
    }
    kept_.largest[m.number] = 0.0;
  }

 private:
  static bool selected(const MultinomialFit& fit, Index i) {
    const double* w = fit.unknowns(i);
    return std::any_of(w, w + fit.charge().unknowns(), [](double x) { return x != 0.0; });
  }

  // Returns the constants of the classes, of which those that there are not are minus infinity.
  double* begin_constants(const MultinomialFit& fit, Index at) const {
    double* constants = kept_.intercept + at * n_classes_;
    const bool any = fit.loss().classes() > 0;
    std::fill_n(constants, n_classes_, any ? -std::numeric_limits<double>::infinity() : 0.0);
    return constants;
  }

  void write(const Member& m, const MultinomialFit& fit, Index at) {
    const Charge& charge = fit.charge();
    const Index columns = problem_.columns, K = charge.classes();
    constants_.assign(static_cast<std::size_t>(K), 0.0);
    coef_.resize(static_cast<std::size_t>(K));
    for (Index i = 0; i < m.set.k; ++i) {
      for (Index c = 0; c < K; ++c)
        coef_[static_cast<std::size_t>(c)] = charge.coefficient(fit.unknowns(i), c);
      const Index j = m.set.which[i];
      if (j < columns && !selected(fit, i)) continue;
      if (!charge.group() && m.set.ridge[i] == 0.0) Charge::identify(coef_.data(), K, true, room_);
      const double away = j < columns ? m.set.shift[i] : -1.0;
      for (std::size_t c = 0; c < coef_.size(); ++c) constants_[c] -= away * coef_[c];
      if (j < columns) keep(m, fit, at, i);
    }
    Charge::identify(constants_.data(), K, false, room_);
    double* constants = begin_constants(fit, at);
    for (Index c = 0; c < K; ++c)
      constants[fit.loss().which(c)] = constants_[static_cast<std::size_t>(c)];
  }

  // Keeps variable i of the working set.
  void keep(const Member& m, const MultinomialFit& fit, Index at, Index i) const {
    const Index columns = problem_.columns, j = m.set.which[i];
    if (kept_.coef != nullptr)
      for (Index c = 0; c < fit.loss().classes(); ++c)
        kept_.coef[(at * columns + j) * n_classes_ + fit.loss().which(c)] =
            coef_[static_cast<std::size_t>(c)];
    select(m, j, fit.charge().charged(fit.unknowns(i)));
  }

  Index n_classes_;
  std::vector<double> coef_, constants_, room_;
};

}  // namespace selica
