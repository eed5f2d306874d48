// Solves the small lasso: by active sets, or by coordinate descent where they fail.
#pragma once

#include "quadratic/active_set.hpp"
#include "quadratic/coordinate_descent.hpp"

namespace selica {

struct LassoAnswer {
  bool solved;
  Index iterations;
};

// p.active is -1 on return where the active columns are dependent and have no factor.
inline LassoAnswer solve(Lasso& p, LassoScratch& scratch, double tol, Index max_epochs) {
  scratch.reserve(p.k);
  if (p.active < 0) factorise(p, scratch.line(), false);
  Index rounds = 0;
  if (ActiveSet(p, scratch).solve(20 + 4 * p.k, rounds)) return {true, rounds};
  Index epochs = 0;
  const bool settled = descend(p, scratch, tol, max_epochs, epochs);
  factorise(p, scratch.line(), true);
  return {settled, rounds + epochs};
}

}  // namespace selica
