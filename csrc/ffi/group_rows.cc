// XLA FFI entry of group_rows.
#include "kernels/group_rows.h"

#include "ffi/dispatch.h"
#include "ffi/targets.h"

namespace rarefy {
namespace {

namespace ffi = xla::ffi;

ffi::Error GroupRowsEntry(ffi::AnyBuffer ids, ffi::Buffer<ffi::S32> limit,
                          ffi::Result<ffi::AnyBuffer> rows, ffi::ResultBuffer<ffi::S32> inverse,
                          ffi::ResultBuffer<ffi::S32> order, ffi::ResultBuffer<ffi::S32> starts,
                          ffi::ResultBuffer<ffi::S32> count, int64_t n_rows, int64_t capacity) {
  return SwitchIndex(ids.element_type(), [&](auto index) {
    using I = decltype(index);
    GroupRows<I>(Data<I>(ids), ids.element_count(), *limit.typed_data(), n_rows, capacity,
                 Data<I>(*rows), inverse->typed_data(), order->typed_data(), starts->typed_data(),
                 count->typed_data());
    return ffi::Error::Success();
  });
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(kGroupRows, GroupRowsEntry,
                              ffi::Ffi::Bind()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::Buffer<ffi::S32>>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::Buffer<ffi::S32>>()
                                  .Ret<ffi::Buffer<ffi::S32>>()
                                  .Ret<ffi::Buffer<ffi::S32>>()
                                  .Ret<ffi::Buffer<ffi::S32>>()
                                  .Attr<int64_t>("n_rows")
                                  .Attr<int64_t>("capacity"));
}  // namespace rarefy
