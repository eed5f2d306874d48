#include "bindings/parts.hpp"

void bind_solvers(nanobind::module_&) {}
