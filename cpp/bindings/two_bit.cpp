// Genotypes of two bits as designs, and what is asked of their codes, for Python.

#include "designs/two_bit.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "bindings/arrays.hpp"
#include "bindings/parts.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace selica {
namespace {

// Lines may be apart, the bytes of a line may not.
using Codes = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::device::cpu>;
using Lines = Array<const std::int64_t, 1>;

void check(const Codes& codes, Index rows, const Lines& lines) {
  const Index count = static_cast<Index>(codes.shape(0));
  require(rows > 0 && shaped(count, line_bytes(rows), codes) &&
              (codes.stride(1) == 1 || codes.shape(1) == 1),
          "codes need four rows in each byte of a line");
  for (std::size_t j = 0; j < lines.shape(0); ++j)
    require(lines.data()[j] >= 0 && lines.data()[j] < count, "columns must be lines of the codes");
}

std::shared_ptr<Design> two_bit(Codes codes, Index rows, Lines lines, Vector unit, Vector origin,
                                Vector fill) {
  check(codes, rows, lines);
  const Index p = static_cast<Index>(lines.shape(0));
  require(sized(p, unit, origin, fill), "unit, origin and fill need one number for each column");
  return std::make_shared<TwoBitDesign>(codes.data(), rows, p, codes.stride(0), lines.data(),
                                        unit.data(), origin.data(), fill.data());
}

void two_bit_counts(Codes codes, Index rows, Lines lines, Array<std::int64_t, 2> out) {
  check(codes, rows, lines);
  const Index p = static_cast<Index>(lines.shape(0));
  require(shaped(p, kCodes, out), "out needs four counts a column");
  const nb::gil_scoped_release release;
  for (Index j = 0; j < p; ++j)
    count_codes(codes.data() + lines.data()[j] * codes.stride(0), rows, out.data() + j * kCodes);
}

void two_bit_rows(Codes codes, Index rows, Lines lines, Array<const std::int64_t, 1> which,
                  Array<std::uint8_t, 2> out) {
  check(codes, rows, lines);
  const Index p = static_cast<Index>(lines.shape(0)), count = static_cast<Index>(which.shape(0));
  const Index bytes = line_bytes(count);
  require(shaped(p, bytes, out), "out needs four rows in each byte of a line");
  for (Index i = 0; i < count; ++i)
    require(which.data()[i] >= 0 && which.data()[i] < rows, "which must be rows");
  const nb::gil_scoped_release release;
  for (Index j = 0; j < p; ++j) {
    const std::uint8_t* line = codes.data() + lines.data()[j] * codes.stride(0);
    std::uint8_t* to = out.data() + j * bytes;
    std::fill_n(to, bytes, std::uint8_t{0});
    for (Index i = 0; i < count; ++i)
      to[i >> 2] =
          static_cast<std::uint8_t>(to[i >> 2] | code_at(line, which.data()[i]) << (2 * (i & 3)));
  }
}

// Writes weighted sums of the columns about their means, and of their squares; `centre` are these.
void column_moments(Design& design, Vector weight, VectorOut centre, VectorOut first,
                    VectorOut second) {
  const Index p = design.columns();
  require(sized(design.rows(), weight) && sized(p, centre, first, second),
          "arrays need one number for each row or column");
  const nb::gil_scoped_release release;
  design.prepare(true);
  design.moments(0, p, weight.data(), 1, first.data(), second.data());
  for (Index j = 0; j < p; ++j) centre.data()[j] = design.centre(j);
}

}  // namespace
}  // namespace selica

void bind_two_bit(nb::module_& m) {
  using namespace selica;
  m.def("two_bit", &two_bit, "codes"_a.noconvert(), "rows"_a, "lines"_a.noconvert(), "unit"_a,
        "origin"_a, "fill"_a, nb::keep_alive<0, 1>());
  m.def("two_bit_counts", &two_bit_counts, "codes"_a.noconvert(), "rows"_a, "lines"_a.noconvert(),
        "out"_a.noconvert());
  m.def("two_bit_rows", &two_bit_rows, "codes"_a.noconvert(), "rows"_a, "lines"_a.noconvert(),
        "which"_a.noconvert(), "out"_a.noconvert());
  m.def("column_moments", &column_moments, "design"_a, "weight"_a.noconvert(),
        "centre"_a.noconvert(), "first"_a.noconvert(), "second"_a.noconvert());
}
