// XLA FFI entries of group_rows and group_cells: check buffers, pick the types, lend the pool.
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

template <typename Keys>
ffi::Error Group(ffi::ThreadPool& pool, const GroupRowsOperands<Keys>& operands) {
  static thread_local Scratch scratch;
  const int64_t parts = std::min<int64_t>(pool.num_threads(), operands.nse / kPartEntries);
  const bool done = GroupRows(operands, parts, scratch,
                              [&](int64_t n, const auto& body) { ParallelParts(pool, n, body); });
  return done ? ffi::Error::Success() : OutOfMemory();
}

ffi::Error GroupRowsHandler(ffi::ThreadPool pool, ffi::AnyBuffer ids, ffi::Buffer<ffi::S32> limit,
                            ffi::Result<ffi::AnyBuffer> rows, ffi::ResultBuffer<ffi::S32> inverse,
                            ffi::ResultBuffer<ffi::S32> order, ffi::ResultBuffer<ffi::S32> starts,
                            ffi::ResultBuffer<ffi::S32> count, int64_t n_rows, int64_t capacity) {
  if (limit.element_count() != 1 || inverse->element_count() != ids.element_count() ||
      order->element_count() != ids.element_count() || Count(*rows) != capacity ||
      static_cast<int64_t>(starts->element_count()) != capacity + 1)
    return ffi::Error::InvalidArgument("group_rows: operands do not agree");
  return SwitchIndex(ids.element_type(), [&](auto index) {
    using I = decltype(index);
    const RowKeys<I> keys{Data<I>(ids), static_cast<uint64_t>(n_rows), Data<I>(*rows)};
    return Group<RowKeys<I>>(
        pool, {keys, Count(ids), *limit.typed_data(), capacity, inverse->typed_data(),
               order->typed_data(), starts->typed_data(), count->typed_data()});
  });
}

ffi::Error GroupCellsHandler(ffi::ThreadPool pool, ffi::AnyBuffer cells,
                             ffi::Result<ffi::AnyBuffer> found, ffi::ResultBuffer<ffi::S32> inverse,
                             ffi::ResultBuffer<ffi::S32> order, ffi::ResultBuffer<ffi::S32> starts,
                             ffi::ResultBuffer<ffi::S32> count, int64_t n_rows, int64_t n_cols,
                             int64_t capacity) {
  const auto nse = static_cast<int64_t>(inverse->element_count());
  if (Count(cells) != 2 * nse || order->element_count() != inverse->element_count() ||
      Count(*found) != 2 * capacity || found->element_type() != cells.element_type() ||
      static_cast<int64_t>(starts->element_count()) != capacity + 1)
    return ffi::Error::InvalidArgument("group_cells: operands do not agree");
  return SwitchIndex(cells.element_type(), [&](auto index) {
    using I = decltype(index);
    const CellKeys<I> keys{Data<I>(cells), static_cast<uint64_t>(n_rows),
                           static_cast<uint64_t>(n_cols), Data<I>(*found)};
    return Group<CellKeys<I>>(pool,
                              {keys, nse, nse, capacity, inverse->typed_data(), order->typed_data(),
                               starts->typed_data(), count->typed_data()});
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

XLA_FFI_DEFINE_HANDLER_SYMBOL(kGroupCells, GroupCellsHandler,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::Buffer<ffi::S32>>()
                                  .Ret<ffi::Buffer<ffi::S32>>()
                                  .Ret<ffi::Buffer<ffi::S32>>()
                                  .Ret<ffi::Buffer<ffi::S32>>()
                                  .Attr<int64_t>("n_rows")
                                  .Attr<int64_t>("n_cols")
                                  .Attr<int64_t>("capacity"));
}  // namespace rarefy
