// NumPy arrays as arguments: of one type, with one number of axes, rows one after the other.
// Bindings take them with noconvert(), so that nothing is ever copied.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <stdexcept>

#include "base/types.hpp"

namespace selica {

template <class T, int axes>
using Array = nanobind::ndarray<T, nanobind::ndim<axes>, nanobind::c_contig, nanobind::device::cpu>;

// Arrays that are read; they may be read-only.
using Vector = Array<const double, 1>;
using Matrix = Array<const double, 2>;

// Arrays that are written.
using VectorOut = Array<double, 1>;
using MatrixOut = Array<double, 2>;
using CubeOut = Array<double, 3>;

// Says whether an array has these sizes along its first axes.
template <class Some, class... Sizes>
bool has_shape(const Some& array, Sizes... sizes) {
  std::size_t axis = 0;
  return ((static_cast<Index>(array.shape(axis++)) == sizes) && ...);
}

// Says whether all arrays have one length.
template <class... Arrays>
bool sized(Index size, const Arrays&... arrays) {
  return (has_shape(arrays, size) && ...);
}

// Says whether all arrays have one number of rows and of columns.
template <class... Arrays>
bool shaped(Index rows, Index columns, const Arrays&... arrays) {
  return (has_shape(arrays, rows, columns) && ...);
}

// Refuses sizes that do not belong together.
inline void require(bool fits, const char* sentence) {
  if (!fits) throw std::invalid_argument(sentence);
}

// An array that is written, with any number of axes.
template <class T>
using Out = nanobind::ndarray<T, nanobind::c_contig, nanobind::device::cpu>;

// Returns the array of this name, of so many entries; null where it is not wanted.
template <class T>
T* output(const nanobind::dict& arrays, const char* name, Index entries) {
  if (!arrays.contains(name)) return nullptr;
  auto array = nanobind::cast<Out<T>>(arrays[name], false);
  require(static_cast<Index>(array.size()) == entries, "an array has the wrong size");
  return array.data();
}

}  // namespace selica
