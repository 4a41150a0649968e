// XLA FFI entry of coo @ dense.
#include "kernels/coo_dot_dense.h"

#include <algorithm>
#include <type_traits>

#include "ffi/dispatch.h"
#include "ffi/parallel.h"
#include "ffi/row_sums.h"
#include "ffi/tables.h"
#include "ffi/targets.h"
#include "kernels/pages.h"
#include "kernels/scratch.h"

namespace rarefy {
namespace {

namespace ffi = xla::ffi;

// Entries in order are summed in chunks of this many, whatever the number of threads.
constexpr int64_t kChunk = 4096;

// Calls f(std::integral_constant<int, columns>()): k where registers hold a row, else 0.
template <typename V, typename F>
void SwitchColumns(int64_t k, const F& f) {
  if (k == 1) return f(std::integral_constant<int, 1>());
  if constexpr (sizeof(V) > 2) {
    if (k == 2) return f(std::integral_constant<int, 2>());
    if (k == 3) return f(std::integral_constant<int, 3>());
    if (k == 4) return f(std::integral_constant<int, 4>());
    if (k == 5) return f(std::integral_constant<int, 5>());
    if (k == 6) return f(std::integral_constant<int, 6>());
    if (k == 7) return f(std::integral_constant<int, 7>());
    if (k == 8) return f(std::integral_constant<int, 8>());
  }
  f(std::integral_constant<int, 0>());
}

template <typename V, typename I>
bool DotInOrder(ffi::ThreadPool& pool, const CooDense<V, I>& a, V* out, Scratch& scratch) {
  using A = Accumulator<V>;
  const int64_t chunks = (a.nse + kChunk - 1) / kChunk, k = a.k;
  const int64_t ends_bytes = chunks * int64_t{sizeof(CooEnds)};
  auto* const memory =
      static_cast<char*>(scratch.Get(ends_bytes + (2 * chunks + 1) * k * int64_t{sizeof(A)}));
  if (memory == nullptr) return false;
  auto* const ends = reinterpret_cast<CooEnds*>(memory);
  auto* const sums = reinterpret_cast<A*>(memory + ends_bytes);
  PreferHugePages(out, a.n_rows * k * int64_t{sizeof(V)});
  const Cost cost = GatherCost(k * int64_t{sizeof(V)});
  const double total = cost.entry * static_cast<double>(a.nse);
  ParallelRanges(pool, chunks, total, [&](int64_t begin, int64_t end) {
    SwitchColumns<V>(k, [&](auto columns) {
      for (int64_t chunk = begin; chunk < end; ++chunk) {
        const int64_t first = chunk * kChunk, last = std::min(first + kChunk, a.nse);
        A* head = sums + 2 * chunk * k;
        RunBest<CooSumRows<decltype(columns)::value, V, I>>(a, first, last, out, head, head + k,
                                                            ends + chunk);
      }
    });
  });
  CooJoinEnds(ends, chunks, sums, a.n_rows, k, sums + 2 * chunks * k, out);
  return true;
}

template <typename V, typename I>
bool DotByScatter(ffi::ThreadPool& pool, const CooDense<V, I>& a, V* out, Scratch& scratch) {
  const int64_t size = a.n_rows * a.k;
  const int64_t tables = TablesFor(a.nse, a.n_rows, size * int64_t{sizeof(Accumulator<V>)});
  return SumTables<V>(pool, tables, size, out, scratch, [&](int64_t t, Accumulator<V>* table) {
    SwitchColumns<V>(a.k, [&](auto columns) {
      RunBest<CooScatter<decltype(columns)::value, V, I>>(a, a.nse * t / tables,
                                                          a.nse * (t + 1) / tables, table);
    });
  });
}

ffi::Error CooDotDenseHandler(ffi::ThreadPool pool, ffi::AnyBuffer data, ffi::AnyBuffer indices,
                              ffi::AnyBuffer dense, ffi::Result<ffi::AnyBuffer> out,
                              int64_t row_axis, bool in_order) {
  const int64_t nse = Count(data), k = RowSize(dense), n_rows = out->dimensions()[0];
  if (Count(indices) != 2 * nse || data.element_type() != dense.element_type() ||
      out->element_type() != data.element_type() || RowSize(*out) != k ||
      (row_axis != 0 && row_axis != 1))
    return ffi::Error::InvalidArgument("coo_dot_dense: operands do not agree");
  if (Count(*out) == 0) return ffi::Error::Success();
  return SwitchValue(data.element_type(), [&](auto value) {
    using V = decltype(value);
    return SwitchIndex(indices.element_type(), [&](auto index) {
      using I = decltype(index);
      const CooDense<V, I> a{Data<V>(data), Data<I>(indices),      nse, row_axis, Data<V>(dense),
                             n_rows,        dense.dimensions()[0], k};
      // Kept between calls: new memory costs a page fault every 4 KiB.
      static thread_local Scratch scratch;
      const bool done = in_order && nse > 0 ? DotInOrder(pool, a, Data<V>(*out), scratch)
                                            : DotByScatter(pool, a, Data<V>(*out), scratch);
      scratch.Trim();
      return done ? ffi::Error::Success() : OutOfMemory();
    });
  });
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(kCooDotDense, CooDotDenseHandler,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<int64_t>("row_axis")
                                  .Attr<bool>("in_order"));
}  // namespace rarefy
