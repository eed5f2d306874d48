// The kernels of message passing for Python. Sizes are checked here; the kernels run without the
// lock of the interpreter.

#include <cstdint>
#include <vector>

#include "amp/copied_rows.hpp"
#include "amp/judge.hpp"
#include "amp/packing.hpp"
#include "amp/products.hpp"
#include "amp/soft_moments.hpp"
#include "amp/steps.hpp"
#include "bindings/arrays.hpp"
#include "bindings/parts.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace selica {
namespace {

using Unlocked = nb::gil_scoped_release;

// A matrix with any distance between rows and between columns: penalties may be the same for all.
using AnyMatrix = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;

void along(const Matrix& a, const Matrix& u, const Matrix& s, const Matrix& t, const CubeOut& out) {
  const Index rows = a.shape(0), columns = a.shape(1), L = u.shape(1);
  require(shaped(columns, L, u, s, t) && has_shape(out, 3, rows, L), "Sizes of factors differ.");
  const auto product = [&](amp::Factors by, double* to) {
    amp::along(a.data(), rows, columns, by, to);
  };
  const Unlocked unlocked;
  amp::each_column(product, columns, rows, L, {u.data(), s.data(), t.data()}, out.data());
}

void across(const Matrix& a, const Matrix& u, const Matrix& s, const Matrix& t,
            const CubeOut& out) {
  const Index rows = a.shape(0), columns = a.shape(1), L = u.shape(1);
  require(shaped(rows, L, u, s, t) && has_shape(out, 3, columns, L), "Sizes of factors differ.");
  const auto product = [&](amp::Factors by, double* to) {
    amp::across(a.data(), rows, columns, by, to);
  };
  const Unlocked unlocked;
  amp::each_column(product, rows, columns, L, {u.data(), s.data(), t.data()}, out.data());
}

// Parts (rows, columns) as a tuple: side by side in both (rows, parts * columns).
template <class Real>
void pack(const nb::tuple& parts, const Vector& scale, const Array<Real, 2>& both,
          const MatrixOut& size) {
  const Index rows = scale.shape(0), columns = size.shape(1), count = nb::len(parts);
  require(shaped(rows, count * columns, both) && sized(count, size), "Sizes of parts differ.");
  std::vector<Matrix> each;
  for (nb::handle part : parts) {
    each.push_back(nb::cast<Matrix>(part, false));
    require(shaped(rows, columns, each.back()), "Sizes of parts differ.");
  }
  const Unlocked unlocked;
  for (Index j = 0; j < count; ++j)
    amp::pack(each[j].data(), scale.data(), rows, {j * columns, columns, count * columns},
              both.data(), size.data() + j * columns);
}

template <class Real>
void unpack(const Array<const Real, 2>& both, const Vector& scale, const Matrix& size,
            const CubeOut& out) {
  const Index count = size.shape(0), rows = scale.shape(0), columns = size.shape(1);
  require(shaped(rows, count * columns, both) && has_shape(out, count, rows, columns),
          "Sizes of parts differ.");
  const Unlocked unlocked;
  for (Index j = 0; j < count; ++j)
    amp::unpack(both.data(), scale.data(), size.data() + j * columns, rows,
                {j * columns, columns, count * columns}, out.data() + j * rows * columns);
}

void copied_rows(const Vector& y, const Matrix& fit, const Matrix& chi, const Matrix& v,
                 const Matrix& a, const Vector& chi_copies, const Vector& v_copies,
                 const CubeOut& rows, const MatrixOut& sums) {
  const Index n = fit.shape(0), L = fit.shape(1);
  require(sized(n, y) && shaped(n, L, chi, v, a) && sized(L, chi_copies, v_copies) &&
              has_shape(rows, 3, n, L) && shaped(3, L, sums),
          "Sizes of what rows see differ.");
  const amp::Seen seen{y.data(), fit.data(),        chi.data(),     v.data(),
                       a.data(), chi_copies.data(), v_copies.data()};
  const Unlocked unlocked;
  amp::copied_rows(seen, n, L, rows.data(), sums.data());
}

void soft_moments(const AnyMatrix& g, const AnyMatrix& sd, const AnyMatrix& lam,
                  const CubeOut& out) {
  const Index p = g.shape(0), L = g.shape(1);
  require(shaped(p, L, sd, lam) && has_shape(out, 3, p, L), "Sizes of fields and moments differ.");
  const auto at = [](const AnyMatrix& m, Index i, Index k) {
    return m.data()[i * m.stride(0) + k * m.stride(1)];
  };
  double* mean = out.data();
  double* variance = mean + p * L;
  double* active = variance + p * L;
  const Unlocked unlocked;
  for (Index i = 0; i < p; ++i) {
    for (Index k = 0; k < L; ++k) {
      const auto found = amp::soft_moments(at(g, i, k), at(sd, i, k), at(lam, i, k));
      mean[i * L + k] = found.mean;
      variance[i * L + k] = found.variance;
      active[i * L + k] = found.active;
    }
  }
}

void compare(const Matrix& old, const Matrix& now, const Matrix& ago, const MatrixOut& step,
             const MatrixOut& sums) {
  const Index p = old.shape(0), L = old.shape(1);
  require(shaped(p, L, now, ago, step) && shaped(4, L, sums), "Sizes of two steps differ.");
  const Unlocked unlocked;
  amp::compare(old.data(), now.data(), ago.data(), p, L, step.data(), sums.data());
}

using Counts = Array<std::int64_t, 1>;

void judge(const VectorOut& rate, const VectorOut& cap, const MatrixOut& last, const Counts& lost,
           const VectorOut& residual, const Counts& iterations,
           const Array<const std::int64_t, 1>& live, const Array<const double, 3>& sums,
           const Vector& rest, const Vector& floors, double tol, double shortest, double longest,
           const Array<std::int8_t, 1>& verdict, const Array<bool, 1>& better) {
  const Index L = rate.shape(0), parts = floors.shape(0), count = live.shape(0);
  require(sized(L, cap, lost, residual, iterations) && shaped(amp::kMemory, L, last),
          "Sizes of the books differ.");
  require(has_shape(sums, parts, 4, count) && sized(count, rest, verdict, better),
          "Sizes of what is judged differ.");
  for (Index k = 0; k < count; ++k)
    require(live.data()[k] >= 0 && live.data()[k] < L, "A penalty is not in the books.");
  const amp::Books books{rate.data(),       cap.data(), last.data(), lost.data(), residual.data(),
                         iterations.data(), L};
  const amp::Evidence step{sums.data(), rest.data(), floors.data(), parts, count};
  const Unlocked unlocked;
  amp::judge(books, live.data(), step, {tol, shortest, longest}, verdict.data(), better.data());
}

}  // namespace
}  // namespace selica

void bind_amp(nb::module_& m) {
  using namespace selica;
  const auto a = nb::arg().noconvert();  // an array as it is
  m.def("along", &along, a, a, a, a, a);
  m.def("across", &across, a, a, a, a, a);
  m.def("pack", &pack<double>, a, a, a, a);
  m.def("pack", &pack<float>, a, a, a, a);
  m.def("unpack", &unpack<double>, a, a, a, a);
  m.def("unpack", &unpack<float>, a, a, a, a);
  m.def("copied_rows", &copied_rows, a, a, a, a, a, a, a, a, a);
  m.def("soft_moments", &soft_moments, a, a, a, a);
  m.def("compare", &compare, a, a, a, a, a);
  m.def("judge", &judge, a, a, a, a, a, a, a, a, a, a, "tol"_a, "shortest"_a, "longest"_a,
        "verdict"_a.noconvert(), "better"_a.noconvert());
}
