// XLA FFI entry of segment_rows.
#include "kernels/segment_rows.h"

#include <atomic>

#include "ffi/dispatch.h"
#include "ffi/row_sums.h"
#include "ffi/targets.h"
#include "kernels/pages.h"

namespace rarefy {
namespace {

namespace ffi = xla::ffi;

ffi::Error SegmentRowsHandler(ffi::ThreadPool pool, ffi::Buffer<ffi::S32> order,
                              ffi::Buffer<ffi::S32> starts, ffi::AnyBuffer values,
                              ffi::Result<ffi::AnyBuffer> out) {
  const int64_t nse = static_cast<int64_t>(order.element_count()),
                groups = static_cast<int64_t>(starts.element_count()) - 1, d = RowSize(values);
  if (groups < 0 || Count(values) != nse * d || Count(*out) != groups * d)
    return ffi::Error::InvalidArgument("segment_rows: operands do not agree");
  if (Count(*out) == 0) return ffi::Error::Success();
  PreferHugePages(out->untyped_data(), static_cast<int64_t>(out->size_bytes()));
  return SwitchValue(values.element_type(), [&](auto value) {
    using V = decltype(value);
    const GroupedRows<V> a{order.typed_data(), Data<V>(values), nse, d};
    const bool done = ParallelRowSums<V>(
        pool, starts.typed_data(), groups, nse, d, GatherCost(d * int64_t{sizeof(V)}),
        Data<V>(*out),
        [&](int64_t begin, int64_t end, V* to, std::atomic<int>* skipped) {
          SegmentRows(a, starts.typed_data(), begin, end, to, skipped);
        },
        [&](int64_t begin, int64_t end, Accumulator<V>* partial) {
          SegmentRowsPart(a, begin, end, partial);
        });
    return done ? ffi::Error::Success() : OutOfMemory();
  });
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(kSegmentRows, SegmentRowsHandler,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::Buffer<ffi::S32>>()
                                  .Arg<ffi::Buffer<ffi::S32>>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>());
}  // namespace rarefy
