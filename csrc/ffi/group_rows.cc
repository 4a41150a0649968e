// XLA FFI entry of group_rows: checks buffers, picks the types, lends the pool.
#include "kernels/group_rows.h"

#include <algorithm>

#include "ffi/dispatch.h"
#include "ffi/parallel.h"
#include "ffi/targets.h"

namespace rarefy {
namespace {

namespace ffi = xla::ffi;

// Entries that one thread sorts alone: in some 0.8 ms, beside which the waits for other threads,
// two for each digit and two at the end, are small (benchmarks/test_rows.py).
constexpr int64_t kPartEntries = 1 << 17;

ffi::Error GroupRowsHandler(ffi::ThreadPool pool, ffi::AnyBuffer ids, ffi::Buffer<ffi::S32> limit,
                            ffi::Result<ffi::AnyBuffer> rows, ffi::ResultBuffer<ffi::S32> inverse,
                            ffi::ResultBuffer<ffi::S32> order, ffi::ResultBuffer<ffi::S32> starts,
                            ffi::ResultBuffer<ffi::S32> count, int64_t n_rows, int64_t capacity) {
  if (limit.element_count() != 1 || inverse->element_count() != ids.element_count() ||
      order->element_count() != ids.element_count() || Count(*rows) != capacity ||
      static_cast<int64_t>(starts->element_count()) != capacity + 1)
    return ffi::Error::InvalidArgument("group_rows: operands do not agree");
  static thread_local Scratch scratch;
  return SwitchIndex(ids.element_type(), [&](auto index) {
    using I = decltype(index);
    const int64_t nse = Count(ids);
    const GroupRowsOperands<I> operands{Data<I>(ids),
                                        nse,
                                        *limit.typed_data(),
                                        n_rows,
                                        capacity,
                                        Data<I>(*rows),
                                        inverse->typed_data(),
                                        order->typed_data(),
                                        starts->typed_data(),
                                        count->typed_data()};
    const int64_t parts = std::min<int64_t>(pool.num_threads(), nse / kPartEntries);
    const bool done = GroupRows(operands, parts, scratch,
                                [&](int64_t n, const auto& body) { ParallelParts(pool, n, body); });
    if (done) return ffi::Error::Success();
    return OutOfMemory();
  });
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(kGroupRows, GroupRowsHandler,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
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
