#include "bindings/parts.hpp"

void bind_amp(nanobind::module_&) {}
