// Every XLA FFI handler of the module, by name. module.cc hands them to Python from this one list.
#pragma once

#include "xla/ffi/api/c_api.h"

#define RAREFY_FFI_TARGETS(X) X(rarefy_csr_dot_dense, kCsrDotDense)

namespace rarefy {
#define RAREFY_DECLARE(name, symbol) \
  extern "C" XLA_FFI_Error* symbol(XLA_FFI_CallFrame* call_frame);
RAREFY_FFI_TARGETS(RAREFY_DECLARE)
#undef RAREFY_DECLARE
}  // namespace rarefy
