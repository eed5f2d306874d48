// Designs and ensembles of penalised regressions, for Python.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/ensembles.hpp"
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

// Rows and columns may be apart.
template <class T>
using Table = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;

Index size(std::size_t n) { return static_cast<Index>(n); }

template <class T>
std::shared_ptr<Design> dense(Table<T> values, bool copied) {
  return std::make_shared<DenseDesign<T>>(values.data(), size(values.shape(0)),
                                          size(values.shape(1)), values.stride(0), values.stride(1),
                                          copied);
}

std::shared_ptr<Design> int8(Table<std::int8_t> values, Vector unit, Vector origin) {
  require(sized(size(values.shape(1)), unit, origin),
          "unit and origin need one number for each column");
  return std::make_shared<Int8Design>(values.data(), size(values.shape(0)), size(values.shape(1)),
                                      values.stride(0), values.stride(1), unit.data(),
                                      origin.data());
}

std::shared_ptr<Design> sparse(Index rows, Array<const std::int64_t, 1> starts,
                               Array<const std::int32_t, 1> places, Vector values) {
  const Index columns = size(starts.shape(0)) - 1, entries = size(values.shape(0));
  require(columns >= 0 && sized(entries, places) && starts.data()[0] == 0 &&
              starts.data()[columns] == entries,
          "starts, places and values do not fit together");
  for (Index j = 0; j < columns; ++j) {
    require(starts.data()[j] <= starts.data()[j + 1], "starts must not decrease");
    for (Index e = starts.data()[j]; e < starts.data()[j + 1]; ++e) {
      const std::int32_t place = places.data()[e];
      require(place >= 0 && place < rows && (e == starts.data()[j] || place > places.data()[e - 1]),
              "places must be rows, ascending in each column");
    }
  }
  return std::make_shared<SparseDesign>(rows, columns, starts.data(), places.data(), values.data());
}

std::shared_ptr<Design> side_by_side(std::vector<std::shared_ptr<Design>> parts) {
  require(!parts.empty(), "there must be a design");
  for (const auto& part : parts)
    require(part->rows() == parts[0]->rows(), "designs side by side must have the same rows");
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

// Returns how many numbers a row of the response has.
std::size_t fields_of(const std::string& loss) {
  if (loss == "squared" || loss == "logistic") return 1;
  if (loss == "poisson") return 2;
  if (loss == "cox-breslow" || loss == "cox-efron") return 3;
  throw std::invalid_argument("unknown loss " + loss);
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
    require(held->design->finite(), "copies must be arrays of finite numbers.");
    known = fresh;
    return fresh;
  }

 private:
  nb::callable copies_;
  bool centred_;
  std::map<PyObject*, std::weak_ptr<const Design>> known_;
};

// Solves an ensemble into `arrays`; returns how often the design was read, and sparse entries
// (rows, columns, values) or None.
nb::object solve_ensemble(Design& design, const std::string& loss, std::vector<Matrix> y,
                          Matrix weights, Matrix lams, Matrix lam2, Matrix factor,
                          std::optional<Matrix> variance, std::optional<Flags> unpenalised,
                          nb::dict settings, nb::dict arrays, nb::object copies,
                          nb::object progress) {
  Problem problem = problem_of(design, design.columns() * (copies.is_none() ? 1 : 2), weights, lams,
                               lam2, factor, unpenalised, settings);
  const Index members = problem.members, n = design.rows();
  const std::size_t fields = fields_of(loss);
  const bool cox = loss.starts_with("cox");
  require(y.size() >= fields, "the response has too few fields");
  y.resize(fields);
  for (const Matrix& field : y) {
    require(shared_or_each(field, members, n), "the response needs one number for each row");
    require(field.shape(0) == y[0].shape(0) && (!cox || field.shape(0) == 1),
            "fields of the response have different shapes");
    problem.y.push_back(field.data());
  }
  problem.y_each = members > 1 && has_shape(y[0], members);
  if (variance) {
    require(shaped(members, problem.columns, *variance),
            "variances are those of each member and column");
    problem.variance = variance->data();
  }
  problem.fit_intercept = nb::cast<bool>(settings["fit_intercept"]);
  problem.centred = problem.fit_intercept || cox;
  problem.loss = make_loss(loss, problem);
  if (!copies.is_none()) {
    auto own = std::make_shared<Copies>(nb::cast<nb::callable>(copies), problem.centred);
    problem.own = [own](Index member) { return (*own)(member); };
    problem.own_is_shared = nb::cast<bool>(settings["copies_are_shared"]);
  }

  Index chunk = nb::cast<Index>(settings["chunk"]);
  if (chunk <= 0)
    chunk = members_per_chunk({n, design.columns(), problem.columns - design.columns(),
                               problem.own_is_shared, members, problem.most_rows,
                               problem.max_active, nb::cast<double>(settings["most_bytes"])});
  const bool sparse = nb::cast<bool>(settings["sparse"]);
  Ensemble ensemble(problem, kept_of(arrays, problem), sparse, chunk,
                    nb::cast<Index>(settings["threads"]));
  return run_ensemble(ensemble, design, problem, sparse, progress);
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
