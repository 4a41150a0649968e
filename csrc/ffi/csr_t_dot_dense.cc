// XLA FFI entry of csr.T @ dense into a dense matrix.
#include "kernels/csr_t_dot_dense.h"

#include <algorithm>

#include "ffi/dispatch.h"
#include "ffi/parallel.h"
#include "ffi/row_sums.h"
#include "ffi/tables.h"
#include "ffi/targets.h"
#include "kernels/scratch.h"

namespace rarefy {
namespace {

namespace ffi = xla::ffi;

// Row r such that about part / parts of the entries come before it.
template <typename V, typename I>
int64_t RowBound(const CsrTDense<V, I>& a, int64_t m, int64_t part, int64_t parts) {
  if (part == parts) return m;
  const int64_t first = static_cast<int64_t>(a.indptr[0]);
  const int64_t count = static_cast<int64_t>(a.indptr[m]) - first;
  const I target = static_cast<I>(first + count / parts * part);
  return std::lower_bound(a.indptr, a.indptr + m, target) - a.indptr;
}

// Adds up entries where they fall. Where there are several entries to a column, ranges of rows go
// to tables of their own.
template <typename V, typename I>
bool DotByScatter(ffi::ThreadPool& pool, const CsrTDense<V, I>& a, int64_t m, V* out,
                  Scratch& scratch) {
  const int64_t count = std::max<int64_t>(a.End(m - 1) - a.Begin(0), 0);
  const int64_t size = a.n_cols * a.k;
  const int64_t tables = TablesFor(count, a.n_cols, size * int64_t{sizeof(Accumulator<V>)});
  return SumTables<V>(pool, tables, size, out, scratch, [&](int64_t t, Accumulator<V>* table) {
    const int64_t begin = t == 0 ? 0 : RowBound(a, m, t, tables);
    RunBest<ScatterRows<V, I>>(a, begin, RowBound(a, m, t + 1, tables), table);
  });
}

// Sorts the entries by column, then multiplies by the matrix that this gives: each row of the
// result is written once, and rows of several entries add up in registers.
template <typename V, typename I>
bool DotByColumns(ffi::ThreadPool& pool, const CsrTDense<V, I>& a, int64_t m, V* out,
                  Scratch& scratch) {
  // More chunks sort on more threads, but each has to count every column.
  const int64_t count = std::max<int64_t>(a.End(m - 1) - a.Begin(0), 0);
  const int64_t chunks =
      std::min(std::clamp<int64_t>(count / (2 * std::max<int64_t>(a.n_cols, 1)), 1, 16),
               std::min(m, PartsFor(pool, 4.0 * static_cast<double>(count))));
  const int64_t index_count = chunks * a.n_cols + a.n_cols + 1 + a.nse;
  const int64_t index_bytes = (index_count * int64_t{sizeof(I)} + 63) / 64 * 64;
  auto* const memory = static_cast<char*>(scratch.Get(index_bytes + a.nse * int64_t{sizeof(V)}));
  if (memory == nullptr) return false;
  auto* const counts = reinterpret_cast<I*>(memory);
  I* const starts = counts + chunks * a.n_cols;
  I* const rows = starts + a.n_cols + 1;
  auto* const weights = reinterpret_cast<V*>(memory + index_bytes);
  ParallelParts(pool, chunks, [&](int64_t chunk) {
    I* mine = counts + chunk * a.n_cols;
    std::fill(mine, mine + a.n_cols, I{0});
    CountColumns(a, RowBound(a, m, chunk, chunks), RowBound(a, m, chunk + 1, chunks), mine);
  });
  PlaceColumns(chunks, a.n_cols, counts, starts);
  ParallelParts(pool, chunks, [&](int64_t chunk) {
    MoveToColumns(a, RowBound(a, m, chunk, chunks), RowBound(a, m, chunk + 1, chunks),
                  counts + chunk * a.n_cols, weights, rows);
  });
  const CsrDense<V, I> transposed{weights, rows, a.nse, a.dense, m, a.k};
  return ParallelCsrDotDense(pool, transposed, static_cast<const I*>(starts), a.n_cols, out);
}

template <typename V, typename I>
bool Dot(ffi::ThreadPool& pool, const CsrTDense<V, I>& a, int64_t m, V* out) {
  if (m == 0) {
    std::fill(out, out + a.n_cols * a.k, V{});
    return true;
  }
  // Kept between calls: new memory costs a page fault every 4 KiB, as much as a small product.
  static thread_local Scratch scratch;
  const int64_t count = std::max<int64_t>(a.End(m - 1) - a.Begin(0), 0);
  const bool wide = a.k >= kLanes<Accumulator<V>>;
  const bool done = wide && count * a.k > (1 << 17) ? DotByColumns(pool, a, m, out, scratch)
                                                    : DotByScatter(pool, a, m, out, scratch);
  scratch.Trim();
  return done;
}

ffi::Error CsrTDotDenseHandler(ffi::ThreadPool pool, ffi::AnyBuffer data, ffi::AnyBuffer indices,
                               ffi::AnyBuffer indptr, ffi::AnyBuffer dense,
                               ffi::Result<ffi::AnyBuffer> out) {
  const int64_t nse = Count(data), m = Count(indptr) - 1, k = RowSize(dense);
  if (m < 0 || Count(indices) != nse || indices.element_type() != indptr.element_type() ||
      data.element_type() != dense.element_type() || dense.dimensions()[0] != m ||
      RowSize(*out) != k)
    return ffi::Error::InvalidArgument("csr_t_dot_dense: operands do not agree");
  if (Count(*out) == 0) return ffi::Error::Success();
  return SwitchValue(data.element_type(), [&](auto value) {
    using V = decltype(value);
    return SwitchIndex(indices.element_type(), [&](auto index) {
      using I = decltype(index);
      const CsrTDense<V, I> a{Data<V>(data),
                              Data<I>(indices),
                              Data<I>(indptr),
                              nse,
                              Data<V>(dense),
                              out->dimensions()[0],
                              k};
      return Dot(pool, a, m, Data<V>(*out)) ? ffi::Error::Success() : OutOfMemory();
    });
  });
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(kCsrTDotDense, CsrTDotDenseHandler,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>());
}  // namespace rarefy
