// The extension module of one instruction set. CMake compiles all sources once for each set and
// passes the name of the module.

#include "bindings/parts.hpp"
#include "bindings/processor.hpp"

NB_MODULE(SELICA_MODULE, m) {
  m.doc() = "The compiled core of selica for the instruction set " SELICA_SET ".";
  m.attr("instruction_set") = SELICA_SET;
  m.def("best_set", &selica::best_set,
        "Return the name of the largest instruction set that this processor runs.");
  bind_solvers(m);
  bind_two_bit(m);
  bind_multinomial(m);
  bind_amp(m);
  bind_correlated(m);
  bind_chains(m);
  bind_masked(m);
}
