// Blocks that a block may change places with in a model: those whose columns are like its own.
//
// Where two blocks are alike, one of them is in the model, and leaving it before the other enters
// is unlikely. The lists depend on the columns alone, so that a move which exchanges a block for
// one of its list, or stays, by their odds leaves the distribution as it is.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/types.hpp"
#include "masked/fields.hpp"
#include "masked/model.hpp"

namespace selica::masked {

using Partners = std::vector<std::vector<Index>>;

namespace partners_detail {

// Returns the largest absolute correlation of a column of either version of two blocks.
inline double likeness(const Pairs& pairs, const Gram& gram, Index a, Index b) {
  double most = 0.0;
  for (Index i = pairs.starts[a]; i < pairs.starts[a + 1]; ++i)
    for (Index j = pairs.starts[b]; j < pairs.starts[b + 1]; ++j)
      for (Index k = 0; k < 4; ++k) {
        const Index f = i + (k & 1) * pairs.columns, g = j + (k >> 1) * pairs.columns;
        const double length = gram.row(f)[f] * gram.row(g)[g], product = gram.row(f)[g];
        if (length > 0.0) most = std::max(most, product * product / length);
      }
  return std::sqrt(most);
}

}  // namespace partners_detail

// Returns up to four blocks for each: those most like it, if they are at all.
inline Partners partners_of(const Pairs& pairs, const Gram& gram) {
  constexpr std::size_t kMost = 4;
  constexpr double kAlike = 0.3;
  Partners all(static_cast<std::size_t>(pairs.blocks));
  std::vector<std::pair<double, Index>> near;
  for (Index a = 0; a < pairs.blocks; ++a) {
    near.clear();
    for (Index b = 0; b < pairs.blocks; ++b) {
      if (a == b) continue;
      const double like = partners_detail::likeness(pairs, gram, a, b);
      if (like > kAlike) near.emplace_back(-like, b);
    }
    const auto end = near.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, near.size()));
    std::partial_sort(near.begin(), end, near.end());
    for (auto each = near.begin(); each != end; ++each)
      all[static_cast<std::size_t>(a)].push_back(each->second);
  }
  return all;
}

// Returns the blocks before and after each, where there is no Gram matrix to tell.
inline Partners neighbours_of(const Pairs& pairs) {
  Partners all(static_cast<std::size_t>(pairs.blocks));
  for (Index a = 0; a < pairs.blocks; ++a)
    for (const Index b : {a - 1, a + 1})
      if (b >= 0 && b < pairs.blocks) all[static_cast<std::size_t>(a)].push_back(b);
  return all;
}

}  // namespace selica::masked
