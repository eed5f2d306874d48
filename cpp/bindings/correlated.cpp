// Fits in drawn fields, for Python.

#include "bindings/arrays.hpp"
#include "bindings/parts.hpp"
#include "correlated/members.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace selica {
namespace {

Index solve_all(const Matrix& gram, const Array<const double, 3>& b, double theta,
                const CubeOut& coef) {
  const Index sets = b.shape(0), members = b.shape(1), k = b.shape(2);
  require(shaped(k, k, gram) && has_shape(coef, sets, members, k),
          "Sizes of the Gram matrix and of the fits differ.");
  const nb::gil_scoped_release unlocked;
  return solve_members(gram.data(), k, b.data(), theta, sets, members, coef.data());
}

}  // namespace
}  // namespace selica

void bind_correlated(nb::module_& m) {
  m.def("solve_members", &selica::solve_all, "gram"_a.noconvert(), "b"_a.noconvert(), "theta"_a,
        "coef"_a.noconvert());
}
