// Sparse entries of an ensemble, for Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <utility>
#include <vector>

#include "paths/kept.hpp"

namespace selica {

// Returns values as an array that owns them.
template <class T>
nanobind::ndarray<nanobind::numpy, T> owned(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  nanobind::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nanobind::ndarray<nanobind::numpy, T>(kept->data(), {kept->size()}, owner);
}

// Returns rows, columns and values of all parts, in their order.
inline nanobind::tuple joined(const std::vector<SparseEntries>& parts) {
  SparseEntries all;
  for (const SparseEntries& part : parts) {
    all.rows.insert(all.rows.end(), part.rows.begin(), part.rows.end());
    all.columns.insert(all.columns.end(), part.columns.begin(), part.columns.end());
    all.values.insert(all.values.end(), part.values.begin(), part.values.end());
  }
  return nanobind::make_tuple(owned(std::move(all.rows)), owned(std::move(all.columns)),
                              owned(std::move(all.values)));
}

}  // namespace selica
