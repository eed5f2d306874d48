// Ensembles of penalised regressions with several classes, for Python.

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <optional>

#include "bindings/arrays.hpp"
#include "bindings/ensembles.hpp"
#include "bindings/parts.hpp"
#include "paths/multinomial_ensemble.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace selica {
namespace {

// Solves an ensemble into `arrays`; y holds numbers of classes below `classes`. Returns how often
// the design was read, and sparse entries (rows, columns, values) or None.
nb::object solve_multinomial(Design& design, Matrix y, Index classes, Matrix weights, Matrix lams,
                             Matrix lam2, Matrix factor, std::optional<Flags> unpenalised,
                             nb::dict settings, nb::dict arrays, nb::object progress) {
  Problem problem =
      problem_of(design, design.columns(), weights, lams, lam2, factor, unpenalised, settings);
  require(shared_or_each(y, problem.members, design.rows()),
          "the response needs one number for each row");
  require(classes > 0, "there must be a class");
  require(std::all_of(y.data(), y.data() + y.size(),
                      [&](double k) { return k >= 0.0 && k < static_cast<double>(classes); }),
          "the response must be numbers of classes");
  problem.y = {y.data()};
  problem.y_each = problem.members > 1 && has_shape(y, problem.members);
  problem.fit_intercept = problem.centred = true;

  const bool group = nb::cast<bool>(settings["group"]), sparse = nb::cast<bool>(settings["sparse"]);
  MultinomialEnsemble ensemble(problem, classes, group, kept_of(arrays, problem, classes), sparse,
                               nb::cast<Index>(settings["threads"]));
  return run_ensemble(ensemble, design, problem, sparse, progress);
}

}  // namespace
}  // namespace selica

void bind_multinomial(nb::module_& m) {
  m.def("solve_multinomial", &selica::solve_multinomial, "design"_a, "y"_a, "classes"_a,
        "weights"_a, "lams"_a, "lam2"_a, "factor"_a, "unpenalised"_a.none(), "settings"_a,
        "arrays"_a, "progress"_a.none());
}
