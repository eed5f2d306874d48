// Keys of random numbers as arguments.
#pragma once

#include "bindings/arrays.hpp"
#include "numeric/philox.hpp"

namespace selica {

using KeyWords = Array<const Word, 1>;

inline Key key_of(const KeyWords& key) {
  require(sized(2, key), "A key has two words.");
  return {key.data()[0], key.data()[1]};
}

}  // namespace selica
