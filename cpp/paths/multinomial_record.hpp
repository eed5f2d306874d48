// Writes the answer of one member with several classes at one penalty to what is kept.
//
// `coef` is (members, n_lams, columns, classes), `intercept` (members, n_lams, classes). Constants
// have mean zero. Classes that a member does not have get coefficients zero and the constant minus
// infinity. Coefficients that a penalty leaves open up to a constant are moved to zero median
// ("each") or zero mean ("group"). The sparse entry of a variable is what a penalty of one charges
// for its coefficients.
#pragma once

#include <atomic>

#include "paths/kept.hpp"
#include "paths/member.hpp"
#include "paths/multinomial_fit.hpp"
#include "paths/problem.hpp"

namespace selica {

class MultinomialRecorder {
 public:
  MultinomialRecorder(const Problem& problem, const Kept& kept, SparseEntries* sparse,
                      Index n_classes)
      : problem_(problem), kept_(kept), sparse_(sparse), n_classes_(n_classes) {}

  void progress(const Member& m, const Solved& solved) const {
    const Index at = place(m);
    kept_.iterations[at] += solved.steps;
    kept_.gap[at] = solved.gap / std::max(m.unit, 1e-300);
    kept_.kkt[at] = solved.kkt;
  }

  // Keeps a certified answer; returns false where the member stops before it.
  bool finish(const Member& m, const MultinomialFit& fit) {
    const Index at = place(m), limit = problem_.max_active;
    Index active = 0;
    for (Index i = 1; i < m.set.k; ++i) active += selected(fit, i);
    if (limit >= 0 && active > limit) {
      kept_.gap[at] = kept_.kkt[at] = std::numeric_limits<double>::quiet_NaN();
      kept_.iterations[at] = 0;
      set(at, Status::stopped);
      return false;
    }
    set(at, kept_.gap[at] <= problem_.tol ? Status::converged : Status::failed);
    kept_.n_active[at] = active;
    write(m, fit, at);
    return true;
  }

  // Writes zeros for a member without two classes.
  void degenerate(const Member& m, const MultinomialFit& fit) const {
    for (Index l = 0; l < problem_.n_lams; ++l) {
      const Index at = m.number * problem_.n_lams + l;
      kept_.gap[at] = kept_.kkt[at] = 0.0;
      kept_.n_active[at] = 0;
      double* constants = begin_constants(fit, at);
      for (Index c = 0; c < fit.loss().classes(); ++c) constants[fit.loss().which(c)] = 0.0;
      set(at, Status::degenerate);
    }
    kept_.largest[m.number] = 0.0;
  }

 private:
  Index place(const Member& m) const { return m.number * problem_.n_lams + m.place; }
  void set(Index at, Status status) const { kept_.status[at] = static_cast<std::int8_t>(status); }

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
    if (kept_.counts != nullptr)  // other threads count too; sums of integers have no order
      std::atomic_ref(kept_.counts[m.place * columns + j]).fetch_add(1, std::memory_order_relaxed);
    if (kept_.entry != nullptr && kept_.entry[m.number * columns + j] == 0.0)
      kept_.entry[m.number * columns + j] = problem_.lams_of(m.number)[m.place];
    if (sparse_ != nullptr) {
      sparse_->rows.push_back(at);
      sparse_->columns.push_back(j);
      sparse_->values.push_back(fit.charge().charged(fit.unknowns(i)));
    }
  }

  const Problem& problem_;
  const Kept& kept_;
  SparseEntries* sparse_;
  Index n_classes_;
  std::vector<double> coef_, constants_, room_;
};

}  // namespace selica
