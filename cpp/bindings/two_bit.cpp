// Genotypes of two bits as designs, and what is asked of their codes, for Python.

#include "designs/two_bit.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>

#include <stdexcept>

#include "bindings/parts.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace selica {
namespace {

// Lines may be apart, the bytes of a line may not.
using Codes = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::device::cpu>;
template <class T>
using Line1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T, int axes>
using Out = nb::ndarray<T, nb::ndim<axes>, nb::c_contig, nb::device::cpu>;

void expect(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

void check(const Codes& codes, Index rows, const Line1<std::int64_t>& lines) {
  expect(rows > 0 && static_cast<Index>(codes.shape(1)) == line_bytes(rows) &&
             (codes.stride(1) == 1 || codes.shape(1) == 1),
         "codes need four rows in each byte of a line");
  for (std::size_t j = 0; j < lines.shape(0); ++j)
    expect(lines.data()[j] >= 0 && lines.data()[j] < static_cast<Index>(codes.shape(0)),
           "columns must be lines of the codes");
}

std::shared_ptr<Design> two_bit(Codes codes, Index rows, Line1<std::int64_t> lines,
                                Line1<double> unit, Line1<double> origin, Line1<double> fill) {
  check(codes, rows, lines);
  const std::size_t p = lines.shape(0);
  expect(unit.shape(0) == p && origin.shape(0) == p && fill.shape(0) == p,
         "unit, origin and fill need one number for each column");
  return std::make_shared<TwoBitDesign>(codes.data(), rows, static_cast<Index>(p), codes.stride(0),
                                        lines.data(), unit.data(), origin.data(), fill.data());
}

void two_bit_counts(Codes codes, Index rows, Line1<std::int64_t> lines, Out<std::int64_t, 2> out) {
  check(codes, rows, lines);
  expect(out.shape(0) == lines.shape(0) && out.shape(1) == kCodes,
         "out needs four counts a column");
  const nb::gil_scoped_release release;
  for (std::size_t j = 0; j < lines.shape(0); ++j)
    count_codes(codes.data() + lines.data()[j] * codes.stride(0), rows,
                out.data() + j * static_cast<std::size_t>(kCodes));
}

void two_bit_rows(Codes codes, Index rows, Line1<std::int64_t> lines, Line1<std::int64_t> which,
                  Out<std::uint8_t, 2> out) {
  check(codes, rows, lines);
  const Index count = static_cast<Index>(which.shape(0)), bytes = line_bytes(count);
  expect(out.shape(0) == lines.shape(0) && static_cast<Index>(out.shape(1)) == bytes,
         "out needs four rows in each byte of a line");
  for (Index i = 0; i < count; ++i)
    expect(which.data()[i] >= 0 && which.data()[i] < rows, "which must be rows");
  const nb::gil_scoped_release release;
  for (std::size_t j = 0; j < lines.shape(0); ++j) {
    const std::uint8_t* line = codes.data() + lines.data()[j] * codes.stride(0);
    std::uint8_t* to = out.data() + static_cast<Index>(j) * bytes;
    std::fill_n(to, bytes, std::uint8_t{0});
    for (Index i = 0; i < count; ++i)
      to[i >> 2] =
          static_cast<std::uint8_t>(to[i >> 2] | code_at(line, which.data()[i]) << (2 * (i & 3)));
  }
}

// Writes weighted sums of the columns about their means, and of their squares; `centre` are these.
void column_moments(Design& design, Line1<double> weight, Out<double, 1> centre,
                    Out<double, 1> first, Out<double, 1> second) {
  const std::size_t p = static_cast<std::size_t>(design.columns());
  expect(static_cast<Index>(weight.shape(0)) == design.rows() && centre.shape(0) == p &&
             first.shape(0) == p && second.shape(0) == p,
         "arrays need one number for each row or column");
  const nb::gil_scoped_release release;
  design.prepare(true);
  design.moments(0, design.columns(), weight.data(), 1, first.data(), second.data());
  for (std::size_t j = 0; j < p; ++j) centre.data()[j] = design.centre(static_cast<Index>(j));
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
