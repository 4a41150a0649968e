// The Python extension module: hands the XLA FFI handlers and the text reader to Python.
#include <nanobind/nanobind.h>

#include "ffi/targets.h"
#include "text/bind.h"

namespace nb = nanobind;

NB_MODULE(_native, m) {
  nb::dict targets;
#define RAREFY_ADD(name, symbol) \
  targets[#name] = nb::capsule(reinterpret_cast<void*>(rarefy::symbol));
  RAREFY_FFI_TARGETS(RAREFY_ADD)
#undef RAREFY_ADD
  m.attr("ffi_targets") = targets;
  rarefy::text::BindText(m);
}
