// Designs and ensembles of penalised regressions, for Python.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <optional>
#include <stdexcept>
#include <string>

#include "bindings/entries.hpp"
#include "bindings/parts.hpp"
#include "designs/dense.hpp"
#include "designs/int8.hpp"
#include "designs/side_by_side.hpp"
#include "designs/sparse.hpp"
#include "losses/cox.hpp"
#include "losses/logistic.hpp"
#include "losses/poisson.hpp"
#include "paths/ensemble.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace selica {
namespace {

template <class T>
using Table = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using Line1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Rows2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

Index size(std::size_t n) { return static_cast<Index>(n); }

template <class T>
std::shared_ptr<Design> dense(Table<T> values, bool copied) {
  return std::make_shared<DenseDesign<T>>(values.data(), size(values.shape(0)),
                                          size(values.shape(1)), values.stride(0), values.stride(1),
                                          copied);
}

std::shared_ptr<Design> int8(Table<std::int8_t> values, Line1<double> unit, Line1<double> origin) {
  if (unit.shape(0) != values.shape(1) || origin.shape(0) != values.shape(1))
    throw std::invalid_argument("unit and origin need one number for each column");
  return std::make_shared<Int8Design>(values.data(), size(values.shape(0)), size(values.shape(1)),
                                      values.stride(0), values.stride(1), unit.data(),
                                      origin.data());
}

std::shared_ptr<Design> sparse(Index rows, Line1<std::int64_t> starts, Line1<std::int32_t> places,
                               Line1<double> values) {
  const Index columns = size(starts.shape(0)) - 1;
  const Index entries = size(values.shape(0));
  if (columns < 0 || places.shape(0) != values.shape(0) || starts.data()[0] != 0 ||
      starts.data()[columns] != entries)
    throw std::invalid_argument("starts, places and values do not fit together");
  for (Index j = 0; j < columns; ++j) {
    if (starts.data()[j] > starts.data()[j + 1])
      throw std::invalid_argument("starts must not decrease");
    for (Index e = starts.data()[j]; e < starts.data()[j + 1]; ++e) {
      const std::int32_t place = places.data()[e];
      if (place < 0 || place >= rows || (e > starts.data()[j] && place <= places.data()[e - 1]))
        throw std::invalid_argument("places must be rows, ascending in each column");
    }
  }
  return std::make_shared<SparseDesign>(rows, columns, starts.data(), places.data(), values.data());
}

std::shared_ptr<Design> side_by_side(std::vector<std::shared_ptr<Design>> parts) {
  if (parts.empty()) throw std::invalid_argument("there must be a design");
  for (const auto& part : parts)
    if (part->rows() != parts[0]->rows())
      throw std::invalid_argument("designs side by side must have the same rows");
  return std::make_shared<SideBySide>(std::move(parts));
}

std::shared_ptr<const LossKind> make_loss(const std::string& name, const Problem& problem) {
  if (name == "squared") return nullptr;
  if (name == "logistic") return std::make_shared<LogisticKind>();
  if (name == "poisson") return std::make_shared<PoissonKind>();
  if (name == "cox-breslow" || name == "cox-efron")
    return std::make_shared<CoxKind>(problem.y.at(0), problem.y.at(1), problem.y.at(2),
                                     problem.design->rows(),
                                     name == "cox-efron" ? Ties::efron : Ties::breslow);
  throw std::invalid_argument("unknown loss " + name);
}

std::size_t fields_of(const std::string& loss) {
  if (loss == "poisson") return 2;
  return loss == "squared" || loss == "logistic" ? 1 : 3;
}

// A copy as Python gave it, with the array that it lies in.
struct Held {
  nb::object array;
  std::shared_ptr<Design> design;
};

// Asks Python for the columns of members. Members that are given the same array share a design; the
// array goes when the last of them does.
class Copies {
 public:
  Copies(nb::callable copies, bool centred) : copies_(std::move(copies)), centred_(centred) {}

  OwnColumns operator()(Index member) {
    nb::gil_scoped_acquire acquire;  // also guards `known_`
    nb::object array = copies_(member);
    std::weak_ptr<const Design>& known = known_[array.ptr()];
    if (OwnColumns shared = known.lock()) return shared;
    auto* held = new Held{array, dense<double>(nb::cast<Table<double>>(array), true)};
    OwnColumns fresh(held->design.get(), [held](const Design*) {
      nb::gil_scoped_acquire again;
      delete held;
    });
    held->design->prepare(centred_);
    if (!held->design->finite())
      throw std::invalid_argument("copies must be arrays of finite numbers.");
    known = fresh;
    return fresh;
  }

 private:
  nb::callable copies_;
  bool centred_;
  std::map<PyObject*, std::weak_ptr<const Design>> known_;
};

template <class T>
T* pointer(std::optional<Out<T>>& array) {
  return array ? array->data() : nullptr;
}

// Solves an ensemble into the arrays of `kept`; returns how often the design was read, and sparse
// entries (rows, columns, values) or None.
nb::object solve_ensemble(Design& design, const std::string& loss, std::vector<Rows2<double>> y,
                          Rows2<double> weights, Rows2<double> lams, Rows2<double> lam2,
                          Rows2<double> factor, std::optional<Rows2<double>> variance,
                          std::optional<Line1<bool>> unpenalised, nb::dict settings,
                          nb::dict arrays, nb::object copies, nb::object progress) {
  Problem problem;
  problem.design = &design;
  problem.members = size(weights.shape(0));
  problem.columns = size(factor.shape(1));
  problem.weights = weights.data();
  const auto expect = [](bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
  };
  const std::size_t members = weights.shape(0), n = static_cast<std::size_t>(design.rows());
  expect(weights.shape(1) == n, "weights need one number for each row");
  expect(problem.columns == design.columns() * (copies.is_none() ? 1 : 2),
         "penalty weights need one number for each column");
  expect(y.size() >= fields_of(loss), "the response has too few fields");
  y.resize(fields_of(loss));
  for (const auto& field : y) {
    expect(field.shape(1) == n && (field.shape(0) == 1 || field.shape(0) == members),
           "the response needs one number for each row");
    expect(field.shape(0) == y[0].shape(0) && (fields_of(loss) < 3 || field.shape(0) == 1),
           "fields of the response have different shapes");
    problem.y.push_back(field.data());
  }
  problem.y_each = members > 1 && y[0].shape(0) == members;
  const auto shared_or_each = [&](const Rows2<double>& array) {
    return array.shape(0) == 1 || array.shape(0) == members;
  };
  expect(shared_or_each(lams) && lam2.shape(0) == lams.shape(0) && lam2.shape(1) == lams.shape(1),
         "ridges need the shape of the penalties");
  expect(shared_or_each(factor), "penalty weights are shared or those of each member");
  problem.lams = lams.data();
  problem.lam2 = lam2.data();
  problem.lams_each = lams.shape(0) == members && members > 1;
  problem.n_lams = size(lams.shape(1));
  problem.factor = factor.data();
  problem.factor_each = factor.shape(0) == members && members > 1;
  if (variance) {
    expect(variance->shape(0) == members && size(variance->shape(1)) == problem.columns,
           "variances are those of each member and column");
    problem.variance = variance->data();
  }
  if (unpenalised) {
    expect(size(unpenalised->shape(0)) == problem.columns, "unpenalised is one flag a column");
    problem.unpenalised = unpenalised->data();
  }
  problem.fit_intercept = nb::cast<bool>(settings["fit_intercept"]);
  problem.centred = problem.fit_intercept || fields_of(loss) == 3;
  problem.standardize = nb::cast<bool>(settings["standardize"]);
  problem.tol = nb::cast<double>(settings["tol"]);
  problem.max_iter = nb::cast<Index>(settings["max_iter"]);
  problem.max_active = nb::cast<Index>(settings["max_active"]);
  const double bytes = nb::cast<double>(settings["most_bytes"]);
  const Index threads = nb::cast<Index>(settings["threads"]);
  const bool sparse = nb::cast<bool>(settings["sparse"]);
  for (std::size_t b = 0; b < members; ++b) {
    Index count = 0;
    for (std::size_t i = 0; i < n; ++i) count += weights.data()[b * n + i] > 0.0;
    problem.most_rows = std::max(problem.most_rows, count);
  }
  problem.loss = make_loss(loss, problem);
  if (!copies.is_none()) {
    auto own = std::make_shared<Copies>(nb::cast<nb::callable>(copies), problem.centred);
    problem.own = [own](Index member) { return (*own)(member); };
    problem.own_is_shared = nb::cast<bool>(settings["copies_are_shared"]);
  }

  const auto find = [&](const char* name, auto kind) {
    using T = decltype(kind);
    std::optional<Out<T>> array;
    if (arrays.contains(name)) array = nb::cast<Out<T>>(arrays[name]);
    return array;
  };
  auto coef = find("coef", double{}), intercept = find("intercept", double{}),
       gap = find("gap", double{}), kkt = find("kkt", double{}), entry = find("entry", double{}),
       largest = find("largest", double{}), total = find("total", double{}),
       square = find("square", double{});
  auto n_active = find("n_active", std::int64_t{}), iterations = find("iterations", std::int64_t{}),
       counts = find("counts", std::int64_t{});
  auto status = find("status", std::int8_t{});
  Kept kept;
  kept.coef = pointer(coef);
  kept.intercept = pointer(intercept);
  kept.n_active = pointer(n_active);
  kept.gap = pointer(gap);
  kept.kkt = pointer(kkt);
  kept.iterations = pointer(iterations);
  kept.status = pointer(status);
  kept.entry = pointer(entry);
  kept.largest = pointer(largest);
  kept.counts = pointer(counts);
  kept.total = pointer(total);
  kept.square = pointer(square);
  const std::size_t grid = members * static_cast<std::size_t>(problem.n_lams);
  for (const auto* each : {&intercept, &gap, &kkt})
    expect(*each && (*each)->size() == grid, "an array has the wrong size");
  expect(n_active && n_active->size() == grid && iterations && iterations->size() == grid &&
             status && status->size() == grid,
         "an array has the wrong size");
  const std::size_t columns = static_cast<std::size_t>(problem.columns);
  const std::size_t cells = static_cast<std::size_t>(problem.n_lams) * columns;
  expect((!coef || coef->size() == grid * columns) && (!counts || counts->size() == cells) &&
             (!total || (total->size() == cells && square && square->size() == cells)) &&
             (!entry || entry->size() == members * columns) &&
             (!largest || largest->size() == members),
         "an array has the wrong size");

  Index chunk = nb::cast<Index>(settings["chunk"]);
  if (chunk <= 0)
    chunk = members_per_chunk({design.rows(), design.columns(), problem.columns - design.columns(),
                               problem.own_is_shared, problem.members, problem.most_rows,
                               problem.max_active, bytes});
  Ensemble ensemble(problem, kept, sparse, chunk, threads);
  bool interrupted = false;
  {
    nb::gil_scoped_release release;
    const auto poll = [&](Index done) {
      nb::gil_scoped_acquire acquire;
      if (PyErr_CheckSignals() != 0) {
        interrupted = true;
        return false;
      }
      if (!progress.is_none() && done > 0) {
        try {
          progress(done, problem.members);
        } catch (nb::python_error& error) {
          error.restore();
          interrupted = true;
          return false;
        }
      }
      return true;
    };
    ensemble.run(poll, [&] { design.prepare(problem.centred); });
  }
  if (interrupted) throw nb::python_error();
  const double passes = ensemble.passes();
  if (!sparse) return nb::make_tuple(passes, nb::none());
  return nb::make_tuple(passes, joined(ensemble.entries()));
}

}  // namespace
}  // namespace selica

void bind_solvers(nb::module_& m) {
  using namespace selica;
  nb::class_<Design>(m, "Design", "A table of columns, read where it lies.")
      .def_prop_ro("rows", &Design::rows, "Number of rows.")
      .def_prop_ro("columns", &Design::columns, "Number of columns.");
  m.def("dense_double", &dense<double>, "values"_a.noconvert(), "copied"_a, nb::keep_alive<0, 1>());
  m.def("dense_float", &dense<float>, "values"_a.noconvert(), "copied"_a, nb::keep_alive<0, 1>());
  m.def("int8", &int8, "values"_a.noconvert(), "unit"_a, "origin"_a, nb::keep_alive<0, 1>());
  m.def("sparse", &sparse, "rows"_a, "starts"_a.noconvert(), "places"_a.noconvert(),
        "values"_a.noconvert(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>(),
        nb::keep_alive<0, 4>());
  m.def("side_by_side", &side_by_side, "parts"_a, nb::keep_alive<0, 1>());
  m.def("members_per_chunk", [](Index rows, Index columns, Index own, bool shared, Index members,
                                Index most_rows, Index max_active, double bytes) {
    return members_per_chunk({rows, columns, own, shared, members, most_rows, max_active, bytes});
  });
  m.def("solve_ensemble", &solve_ensemble, "design"_a, "loss"_a, "y"_a, "weights"_a, "lams"_a,
        "lam2"_a, "factor"_a, "variance"_a.none(), "unpenalised"_a.none(), "settings"_a, "arrays"_a,
        "copies"_a.none(), "progress"_a.none());
}
