// Tables that a kernel changes in place.
#pragma once

#include <cstring>

#include "xla/ffi/api/ffi.h"

namespace rarefy {

// The memory of the first kTables results, which the first kTables operands are to be changed in.
// XLA gives each result the memory of its operand, having copied the operand where the caller still
// needs it; where it has not, the operand is copied here.
template <int kTables>
void TakeTables(xla::ffi::RemainingArgs args, xla::ffi::RemainingRets rets,
                void* (&tables)[kTables]) {
  for (size_t t = 0; t < kTables; ++t) {
    const auto in = *args.get<xla::ffi::AnyBuffer>(t);
    tables[t] = (*rets.get<xla::ffi::AnyBuffer>(t))->untyped_data();
    if (tables[t] != in.untyped_data()) {
      std::memcpy(tables[t], in.untyped_data(), in.size_bytes());
    }
  }
}

}  // namespace rarefy
