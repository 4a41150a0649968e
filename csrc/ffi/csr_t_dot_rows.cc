// XLA FFI entry of csr.T @ dense into the rows that have entries.
#include "kernels/csr_t_dot_rows.h"

#include <algorithm>
#include <atomic>

#include "ffi/dispatch.h"
#include "ffi/parallel.h"
#include "ffi/row_sums.h"
#include "ffi/targets.h"
#include "kernels/scratch.h"

namespace rarefy {
namespace {

namespace ffi = xla::ffi;

template <typename V, typename I>
ffi::Error Run(ffi::ThreadPool& pool, const V* data, const I* indptr, int64_t m,
               const int32_t* order, const int32_t* starts, int64_t groups, int64_t nse,
               const V* dense, int64_t k, V* out) {
  // Kept between calls: new memory costs a page fault every 4 KiB, as much as a small product.
  static thread_local Scratch scratch;
  auto* const entries = static_cast<Entry<V>*>(scratch.Get(nse * int64_t{sizeof(Entry<V>)}));
  if (entries == nullptr) return OutOfMemory();
  // Entries before the first row and after the last have no row.
  const Entry<V> padding{V{}, static_cast<int32_t>(m)};
  const int64_t first = std::clamp<int64_t>(static_cast<int64_t>(indptr[0]), 0, nse);
  const int64_t last = std::clamp<int64_t>(static_cast<int64_t>(indptr[m]), first, nse);
  std::fill(entries, entries + first, padding);
  std::fill(entries + last, entries + nse, padding);
  ParallelRows(pool, indptr, m, Cost{2.0, 0.5}, [&](int64_t begin, int64_t end) {
    FillEntries(data, indptr, nse, begin, end, entries);
  });
  const GroupedEntries<V> a{entries, order, nse, dense, m, k};
  Cost cost = GatherCost(k * int64_t{sizeof(V)});
  cost.entry += 2.0;  // the entry itself is gathered as well
  const bool done = ParallelRowSums<V>(
      pool, starts, groups, nse, k, cost, out,
      [&](int64_t begin, int64_t end, V* to, std::atomic<int>* skipped) {
        CsrTDotRows(a, starts, begin, end, to, skipped);
      },
      [&](int64_t begin, int64_t end, Accumulator<V>* partial) {
        CsrTDotSegment(a, begin, end, partial);
      });
  scratch.Trim();
  return done ? ffi::Error::Success() : OutOfMemory();
}

ffi::Error CsrTDotRowsHandler(ffi::ThreadPool pool, ffi::AnyBuffer data, ffi::AnyBuffer indptr,
                              ffi::Buffer<ffi::S32> order, ffi::Buffer<ffi::S32> starts,
                              ffi::AnyBuffer dense, ffi::Result<ffi::AnyBuffer> out) {
  const int64_t nse = Count(data), m = Count(indptr) - 1, groups = Count(starts) - 1;
  const int64_t k = RowSize(dense);
  if (m < 0 || m > INT32_MAX || groups < 0 || Count(order) != nse || dense.dimensions()[0] != m ||
      Count(*out) != groups * k)
    return ffi::Error::InvalidArgument("csr_t_dot_rows: operands do not agree");
  if (Count(*out) == 0) return ffi::Error::Success();
  return SwitchValue(data.element_type(), [&](auto value) {
    using V = decltype(value);
    return SwitchIndex(indptr.element_type(), [&](auto index) {
      using I = decltype(index);
      return Run<V, I>(pool, Data<V>(data), Data<I>(indptr), m, order.typed_data(),
                       starts.typed_data(), groups, nse, Data<V>(dense), k, Data<V>(*out));
    });
  });
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(kCsrTDotRows, CsrTDotRowsHandler,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::Buffer<ffi::S32>>()
                                  .Arg<ffi::Buffer<ffi::S32>>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>());
}  // namespace rarefy
