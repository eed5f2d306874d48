// Work of the core that Ctrl-C ends.
#pragma once

#include <nanobind/nanobind.h>

#include "base/types.hpp"

namespace selica {

// Does work that asks now and then whether to go on, and may say how much of `all` is done, which
// `progress` is told. Ctrl-C, or what `progress` raises, is raised when the work has ended.
template <class Work>
void interruptible(Work&& work, const nanobind::object& progress = nanobind::none(),
                   Index all = 0) {
  bool interrupted = false;
  {
    const nanobind::gil_scoped_release unlocked;
    work([&](Index done = 0) {
      const nanobind::gil_scoped_acquire locked;
      interrupted = PyErr_CheckSignals() != 0;
      if (interrupted || done == 0 || progress.is_none()) return !interrupted;
      try {
        progress(done, all);
      } catch (nanobind::python_error& error) {
        error.restore();
        interrupted = true;
      }
      return !interrupted;
    });
  }
  if (interrupted) throw nanobind::python_error();
}

}  // namespace selica
