// XLA FFI entry of csr_merge.
#include "kernels/csr_merge.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "ffi/dispatch.h"
#include "ffi/parallel.h"
#include "ffi/row_sums.h"
#include "ffi/targets.h"

namespace rarefy {
namespace {

namespace ffi = xla::ffi;

// Merging one entry with branches that cannot be foreseen, measured on Zen 3.
constexpr double kEntryNanoseconds = 5;

// A run of rows, and the slots that it may write before it is known how many the rows before need.
struct Part {
  int64_t first, last, begin, end, count;
};

// Cuts the rows into `parts` of about as many entries each, with room for the most they may give.
template <bool kBoth, typename I>
std::vector<Part> Cut(const CsrPlaces<I>& a, const CsrPlaces<I>& b, int64_t parts) {
  std::vector<Part> cut;
  const int64_t all = a.End(a.rows - 1) + b.End(b.rows - 1);
  int64_t room = 0;
  for (int64_t r = 0; r < a.rows; ++r) {
    const auto n = static_cast<int64_t>(cut.size());
    if (n < parts && (n == 0 || a.Begin(r) + b.Begin(r) >= all * n / parts)) {
      if (n > 0) cut.back().last = r, cut.back().end = room;
      cut.push_back({r, a.rows, room, 0, 0});
    }
    room += MostPlaces<kBoth>(a, b, r);
  }
  cut.back().end = room;
  return cut;
}

template <typename T>
void Close(T* buffer, const std::vector<Part>& cut) {
  int64_t used = 0;
  for (const Part& p : cut) {
    if (p.begin != used) std::copy(buffer + p.begin, buffer + p.begin + p.count, buffer + used);
    used += p.count;
  }
}

// The places of all rows; their number, those beyond out.nse included.
template <bool kBoth, typename I>
int64_t Merge(ffi::ThreadPool& pool, const CsrPlaces<I>& a, const CsrPlaces<I>& b, int64_t n_cols,
              const CsrMerged<I>& out) {
  out.indptr[0] = 0;
  const int64_t parts =
      std::min(a.rows, PartsFor(pool, kEntryNanoseconds * static_cast<double>(a.nse + b.nse)));
  std::vector<Part> cut;
  if (parts > 1) cut = Cut<kBoth>(a, b, parts);
  if (cut.empty() || cut.back().end > out.nse) {
    const int64_t count = CsrMergeRows<kBoth>(a, b, n_cols, 0, a.rows, 0, out.nse, out);
    for (int64_t r = 0; count > out.nse && r < a.rows; ++r)
      out.indptr[r + 1] = static_cast<I>(std::min<int64_t>(out.indptr[r + 1], out.nse));
    PadMerged(a, b, n_cols, std::min(count, out.nse), out);
    return count;
  }
  // Each part writes where there is room in any case; then the gaps between them are closed.
  ParallelParts(pool, static_cast<int64_t>(cut.size()), [&](int64_t i) {
    Part& p = cut[static_cast<size_t>(i)];
    p.count = CsrMergeRows<kBoth>(a, b, n_cols, p.first, p.last, p.begin, p.end, out);
  });
  int64_t count = 0;
  for (const Part& p : cut) {
    for (int64_t r = p.first; count > 0 && r < p.last; ++r)
      out.indptr[r + 1] += static_cast<I>(count);
    count += p.count;
  }
  ParallelParts(pool, 3, [&](int64_t i) {
    if (i == 0) Close(out.indices, cut);
    if (i == 1) Close(out.from_a, cut);
    if (i == 2) Close(out.from_b, cut);
  });
  PadMerged(a, b, n_cols, count, out);
  return count;
}

ffi::Error CsrMergeHandler(ffi::ThreadPool pool, ffi::AnyBuffer a_indices, ffi::AnyBuffer a_indptr,
                           ffi::AnyBuffer b_indices, ffi::AnyBuffer b_indptr,
                           ffi::Result<ffi::AnyBuffer> indices, ffi::Result<ffi::AnyBuffer> indptr,
                           ffi::ResultBuffer<ffi::S32> from_a, ffi::ResultBuffer<ffi::S32> from_b,
                           ffi::ResultBuffer<ffi::S32> count, int64_t n_cols, bool both) {
  const auto type = a_indices.element_type();
  const int64_t nse = Count(*indices), rows = Count(a_indptr) - 1;
  if (a_indptr.element_type() != type || b_indices.element_type() != type ||
      b_indptr.element_type() != type || indices->element_type() != type ||
      indptr->element_type() != type || rows < 0 || Count(b_indptr) != rows + 1 ||
      Count(*indptr) != rows + 1 || Count(*from_a) != nse || Count(*from_b) != nse)
    return ffi::Error::InvalidArgument("csr_merge: operands do not agree");
  return SwitchIndex(type, [&](auto index) {
    using I = decltype(index);
    const CsrPlaces<I> a{Data<I>(a_indices), Data<I>(a_indptr), rows, Count(a_indices)};
    const CsrPlaces<I> b{Data<I>(b_indices), Data<I>(b_indptr), rows, Count(b_indices)};
    const CsrMerged<I> out{Data<I>(*indices), Data<I>(*indptr), from_a->typed_data(),
                           from_b->typed_data(), nse};
    const int64_t places =
        both ? Merge<true>(pool, a, b, n_cols, out) : Merge<false>(pool, a, b, n_cols, out);
    *count->typed_data() =
        static_cast<int32_t>(std::min<int64_t>(places, std::numeric_limits<int32_t>::max()));
    return ffi::Error::Success();
  });
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(kCsrMerge, CsrMergeHandler,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::Buffer<ffi::S32>>()
                                  .Ret<ffi::Buffer<ffi::S32>>()
                                  .Ret<ffi::Buffer<ffi::S32>>()
                                  .Attr<int64_t>("n_cols")
                                  .Attr<bool>("both"));
}  // namespace rarefy
