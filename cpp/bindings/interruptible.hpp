// Work of the core that Ctrl-C ends.
#pragma once

#include <nanobind/nanobind.h>

namespace selica {

// Does work that asks now and then whether to go on; Ctrl-C is raised when it has ended.
template <class Work>
void interruptible(Work&& work) {
  bool interrupted = false;
  {
    const nanobind::gil_scoped_release unlocked;
    work([&interrupted] {
      const nanobind::gil_scoped_acquire locked;
      interrupted = PyErr_CheckSignals() != 0;
      return !interrupted;
    });
  }
  if (interrupted) throw nanobind::python_error();
}

}  // namespace selica
