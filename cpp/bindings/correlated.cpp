#include "bindings/parts.hpp"

void bind_correlated(nanobind::module_&) {}
