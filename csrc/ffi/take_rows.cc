// XLA FFI entry of take_rows.
#include "kernels/take_rows.h"

#include <algorithm>

#include "ffi/dispatch.h"
#include "ffi/parallel.h"
#include "ffi/targets.h"

namespace rarefy {
namespace {

namespace ffi = xla::ffi;

ffi::Error TakeRowsEntry(ffi::ThreadPool pool, ffi::AnyBuffer table, ffi::AnyBuffer rows,
                         ffi::Result<ffi::AnyBuffer> out) {
  const int64_t n = table.dimensions()[0], k = rows.element_count();
  const int64_t row_bytes = k == 0 ? 0 : static_cast<int64_t>(out->size_bytes()) / k;
  if (k == 0 || row_bytes == 0) return ffi::Error::Success();
  return SwitchIndex(rows.element_type(), [&](auto index) {
    using I = decltype(index);
    const int64_t parts = std::clamp<int64_t>(k * row_bytes >> 16, 1, 64);
    ParallelParts(pool, parts, [&](int64_t p) {
      TakeRows<I>(Data<char>(table), Data<I>(rows), n, row_bytes, k * p / parts,
                  k * (p + 1) / parts, Data<char>(*out));
    });
    return ffi::Error::Success();
  });
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(kTakeRows, TakeRowsEntry,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>());
}  // namespace rarefy
