// What the module is made of: one function for each group of kernels, with a file of its own.
#pragma once

#include <nanobind/nanobind.h>

void bind_solvers(nanobind::module_& m);
void bind_two_bit(nanobind::module_& m);
void bind_multinomial(nanobind::module_& m);
void bind_amp(nanobind::module_& m);
void bind_correlated(nanobind::module_& m);
void bind_chains(nanobind::module_& m);
void bind_masked(nanobind::module_& m);
