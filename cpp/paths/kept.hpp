// What is kept of the answers; a null pointer where it is not wanted.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.hpp"

namespace selica {

enum class Status : std::int8_t { converged = 0, failed = 1, stopped = 2, degenerate = 3 };

struct Kept {
  // for each member and penalty
  double* coef = nullptr;       // (members, n_lams, columns)
  double* intercept = nullptr;  // (members, n_lams)
  std::int64_t* n_active = nullptr;
  double* gap = nullptr;
  double* kkt = nullptr;
  std::int64_t* iterations = nullptr;
  std::int8_t* status = nullptr;
  // for each member
  double* entry = nullptr;    // (members, columns)
  double* largest = nullptr;  // (members,): smallest penalty at which nothing is selected
  // sums over the members, (n_lams, columns)
  std::int64_t* counts = nullptr;
  double* total = nullptr;
  double* square = nullptr;
};

// Coefficients in sparse form: row is member * n_lams + place.
struct SparseEntries {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> columns;
  std::vector<double> values;
};

}  // namespace selica
