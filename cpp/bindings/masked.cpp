// Which member of each pair is the original, for Python. Sizes are checked here; the chains run
// without the lock of the interpreter, on threads, and Ctrl-C ends them.

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "bindings/arrays.hpp"
#include "bindings/interruptible.hpp"
#include "bindings/keys.hpp"
#include "bindings/parts.hpp"
#include "masked/chains.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace selica {
namespace {

double number(const nb::dict& settings, const char* name) {
  return nb::cast<double>(settings[name]);
}

masked::Model model_of(const nb::dict& settings) {
  masked::Model model{number(settings, "p0"),
                      number(settings, "t2"),
                      number(settings, "s2"),
                      {number(settings, "t2_shape"), number(settings, "t2_scale")},
                      {number(settings, "s2_shape"), number(settings, "s2_scale")},
                      number(settings, "least_p0")};
  require(model.p0 > 0.0 && model.p0 < 1.0 && model.t2 > 0.0 && model.s2 > 0.0,
          "Parameters of the model are positive, and a share is below one.");
  for (const masked::Prior& prior : {model.t2_prior, model.s2_prior})
    require(prior.shape == 0.0 || (prior.shape >= 1.0 && prior.scale > 0.0),
            "A prior has a shape of at least one and a positive scale.");
  return model;
}

// Writes log mean probabilities that either version of each block is the original, (chains, 2, m).
void masked_chains(const Matrix& columns, const Array<const Index, 1>& starts, const Vector& y,
                   const Matrix& flat, const Vector& start, const KeyWords& key, nb::dict settings,
                   std::optional<bool> gram, const CubeOut& out, Index threads) {
  const Index blocks = static_cast<Index>(starts.shape(0)) - 1, size = columns.shape(1);
  const Index half = static_cast<Index>(columns.shape(0)) / 2;
  const Index rows = nb::cast<Index>(settings["rows"]), chains = out.shape(0);
  require(blocks > 0 && size % kPad == 0 && rows > 0 && rows <= size && sized(size, y) &&
              flat.shape(1) == columns.shape(1) && sized(2 * half, columns, start) &&
              has_shape(out, chains, 2, blocks),
          "Sizes of the pairs differ.");
  const Index* first = starts.data();
  require(first[0] == 0 && first[blocks] == half &&
              std::adjacent_find(first, first + blocks + 1, std::greater_equal<>()) ==
                  first + blocks + 1,
          "Blocks do not follow each other.");
  const masked::Pairs pairs{rows, size, half, blocks, first, columns.data()};
  const masked::Response response{y.data(), nb::cast<bool>(settings["labels"]), flat.data(),
                                  static_cast<Index>(flat.shape(0)), number(settings, "freedom")};
  const masked::Model model = model_of(settings);
  const masked::Plan plan{key_of(key), nb::cast<Index>(settings["sweeps"]),
                          nb::cast<Index>(settings["burn_in"]), chains, start.data()};
  require(plan.burn_in >= 0 && plan.burn_in < plan.sweeps, "No sweep is left to count.");
  interruptible([&](const std::function<bool()>& poll) {
    masked::run_chains(pairs, response, model, plan, gram, out.data(), threads, poll);
  });
}

}  // namespace
}  // namespace selica

void bind_masked(nb::module_& m) {
  m.def("masked_chains", &selica::masked_chains, "columns"_a.noconvert(), "starts"_a.noconvert(),
        "y"_a.noconvert(), "flat"_a.noconvert(), "start"_a.noconvert(), "key"_a.noconvert(),
        "settings"_a, "gram"_a.none(), "out"_a.noconvert(), "threads"_a);
}
