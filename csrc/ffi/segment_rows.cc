// XLA FFI entry of segment_rows.
#include "kernels/segment_rows.h"

#include <algorithm>

#include "ffi/dispatch.h"
#include "ffi/parallel.h"
#include "ffi/targets.h"

namespace rarefy {
namespace {

namespace ffi = xla::ffi;

ffi::Error SegmentRowsEntry(ffi::ThreadPool pool, ffi::Buffer<ffi::S32> order,
                            ffi::Buffer<ffi::S32> starts, ffi::AnyBuffer values,
                            ffi::Result<ffi::AnyBuffer> out) {
  const int64_t nse = order.element_count();
  const int64_t capacity = static_cast<int64_t>(starts.element_count()) - 1;
  if (out->element_count() == 0) return ffi::Error::Success();
  const int64_t d = static_cast<int64_t>(out->element_count()) / capacity;
  return SwitchValue(values.element_type(), [&](auto value) {
    using V = decltype(value);
    const int64_t parts = std::clamp<int64_t>(nse * d >> 14, 1, 64);
    ParallelParts(pool, parts, [&](int64_t p) {
      SegmentRows<V, Accumulator<V>>(order.typed_data(), starts.typed_data(), Data<V>(values), nse, d,
                        capacity * p / parts, capacity * (p + 1) / parts, Data<V>(*out));
    });
    return ffi::Error::Success();
  });
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(kSegmentRows, SegmentRowsEntry,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::Buffer<ffi::S32>>()
                                  .Arg<ffi::Buffer<ffi::S32>>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>());
}  // namespace rarefy
