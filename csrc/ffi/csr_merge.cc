// XLA FFI entries of csr_merge and csr_combine.
#include "kernels/csr_merge.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "ffi/dispatch.h"
#include "ffi/parallel.h"
#include "ffi/row_sums.h"
#include "ffi/targets.h"
#include "kernels/pages.h"
#include "kernels/scratch.h"

namespace rarefy {
namespace {

namespace ffi = xla::ffi;

// One step of two merges that run side by side, measured on Zen 4.
constexpr double kEntryNanoseconds = 2;

// A run of rows, and the slots of working memory that it may write before it is known how many the
// rows before need.
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

// All rows; gives the number of elements, those beyond nse included, or -1 where memory does not
// suffice. kDrop: whether elements that are zero are left out.
template <bool kBoth, bool kDrop, typename I, typename Sink>
int64_t Merge(ffi::ThreadPool& pool, const CsrPlaces<I>& a, const CsrPlaces<I>& b, int64_t n_cols,
              int64_t nse, const Sink& out, I* indptr) {
  indptr[0] = 0;
  const auto rows = [&](const Sink& to, const Part& p) {
    int64_t n = CsrMergeRows<kBoth>(a, b, n_cols, p.first, p.last, p.begin, p.end, to, indptr);
    if constexpr (kDrop) n = DropZeros(to, p.first, p.last, p.begin, n, indptr);
    return n;
  };
  const int64_t parts =
      std::min<int64_t>({a.rows, 2 * pool.num_threads(),
                         PartsFor(pool, kEntryNanoseconds * static_cast<double>(a.nse + b.nse))});
  int64_t count = 0;
  if (parts < 2 && !(kDrop && nse < a.nse + b.nse)) {
    count = rows(out, {0, a.rows, 0, nse, 0});
  } else if (a.rows > 0) {
    // Each part has memory of its own; where its elements belong is known when all have theirs.
    std::vector<Part> cut = Cut<kBoth>(a, b, std::max<int64_t>(parts, 1));
    static thread_local Scratch scratch;
    const int64_t room = cut.back().end;
    auto* const memory = static_cast<char*>(scratch.Get(room * Sink::kSlotBytes));
    if (memory == nullptr) return -1;
    const Sink own = out.In(memory, room);
    const auto n = static_cast<int64_t>(cut.size());
    ParallelParts(pool, n, [&](int64_t i) {
      Part& p = cut[static_cast<size_t>(i)];
      p.count = rows(own, p);
    });
    std::vector<int64_t> starts;
    for (const Part& p : cut) {
      starts.push_back(count);
      count += p.count;
    }
    ParallelParts(pool, n, [&](int64_t i) {
      const Part& p = cut[static_cast<size_t>(i)];
      const int64_t to = starts[static_cast<size_t>(i)];
      for (int64_t r = p.first; r < p.last; ++r) indptr[r + 1] += static_cast<I>(to);
      if (to < nse) out.Take(own, p.begin, to, std::min(p.count, nse - to));
    });
    scratch.Trim();
  }
  for (int64_t r = 0; count > nse && r < a.rows; ++r)
    indptr[r + 1] = static_cast<I>(std::min<int64_t>(indptr[r + 1], nse));
  out.Pad(n_cols, std::min(count, nse), nse);
  return count;
}

// The operands of both handlers, the places of the matrices.
bool Agree(ffi::AnyBuffer a_indices, ffi::AnyBuffer a_indptr, ffi::AnyBuffer b_indices,
           ffi::AnyBuffer b_indptr, ffi::AnyBuffer indices, ffi::AnyBuffer indptr) {
  const auto type = a_indices.element_type();
  return a_indptr.element_type() == type && b_indices.element_type() == type &&
         b_indptr.element_type() == type && indices.element_type() == type &&
         indptr.element_type() == type && Count(a_indptr) > 0 &&
         Count(b_indptr) == Count(a_indptr) && Count(indptr) == Count(a_indptr);
}

template <typename I>
CsrPlaces<I> PlacesOf(ffi::AnyBuffer indices, ffi::AnyBuffer indptr) {
  return {Data<I>(indices), Data<I>(indptr), Count(indptr) - 1, Count(indices)};
}

ffi::Error Counted(int64_t places, int32_t* count) {
  if (places < 0) return OutOfMemory();
  *count = static_cast<int32_t>(std::min<int64_t>(places, std::numeric_limits<int32_t>::max()));
  return ffi::Error::Success();
}

ffi::Error CsrMergeHandler(ffi::ThreadPool pool, ffi::AnyBuffer a_indices, ffi::AnyBuffer a_indptr,
                           ffi::AnyBuffer b_indices, ffi::AnyBuffer b_indptr,
                           ffi::Result<ffi::AnyBuffer> indices, ffi::Result<ffi::AnyBuffer> indptr,
                           ffi::ResultBuffer<ffi::S32> from_a, ffi::ResultBuffer<ffi::S32> from_b,
                           ffi::ResultBuffer<ffi::S32> count, int64_t n_cols, bool both) {
  const int64_t nse = Count(*indices);
  if (!Agree(a_indices, a_indptr, b_indices, b_indptr, *indices, *indptr) ||
      Count(*from_a) != nse || Count(*from_b) != nse)
    return ffi::Error::InvalidArgument("csr_merge: operands do not agree");
  return SwitchIndex(a_indices.element_type(), [&](auto index) {
    using I = decltype(index);
    const auto a = PlacesOf<I>(a_indices, a_indptr), b = PlacesOf<I>(b_indices, b_indptr);
    const MergedPlaces<I> out{Data<I>(*indices), from_a->typed_data(), from_b->typed_data(),
                              static_cast<int32_t>(a.nse), static_cast<int32_t>(b.nse)};
    I* const starts = Data<I>(*indptr);
    return Counted(both ? Merge<true, false>(pool, a, b, n_cols, nse, out, starts)
                        : Merge<false, false>(pool, a, b, n_cols, nse, out, starts),
                   count->typed_data());
  });
}

ffi::Error CsrCombineHandler(ffi::ThreadPool pool, ffi::AnyBuffer a_data, ffi::AnyBuffer b_data,
                             ffi::AnyBuffer a_indices, ffi::AnyBuffer a_indptr,
                             ffi::AnyBuffer b_indices, ffi::AnyBuffer b_indptr,
                             ffi::Result<ffi::AnyBuffer> data, ffi::Result<ffi::AnyBuffer> indices,
                             ffi::Result<ffi::AnyBuffer> indptr, ffi::ResultBuffer<ffi::S32> count,
                             int64_t n_cols, bool product, bool drop_zeros) {
  const auto type = a_data.element_type();
  const int64_t nse = Count(*indices);
  if (!Agree(a_indices, a_indptr, b_indices, b_indptr, *indices, *indptr) ||
      b_data.element_type() != type || data->element_type() != type ||
      Count(a_data) != Count(a_indices) || Count(b_data) != Count(b_indices) || Count(*data) != nse)
    return ffi::Error::InvalidArgument("csr_combine: operands do not agree");
  PreferHugePages(data->untyped_data(), static_cast<int64_t>(data->size_bytes()));
  PreferHugePages(indices->untyped_data(), static_cast<int64_t>(indices->size_bytes()));
  return SwitchIndex(a_indices.element_type(), [&](auto index) {
    using I = decltype(index);
    const auto a = PlacesOf<I>(a_indices, a_indptr), b = PlacesOf<I>(b_indices, b_indptr);
    I* const starts = Data<I>(*indptr);
    return SwitchExact(type, [&](auto value) {
      using V = decltype(value);
      I* const columns = Data<I>(*indices);
      V *const out = Data<V>(*data), *const x = Data<V>(a_data), *const y = Data<V>(b_data);
      int64_t places = 0;
      if (product) {
        const MergedValues<false, V, I> values{columns, out, x, y};
        places = drop_zeros ? Merge<true, true>(pool, a, b, n_cols, nse, values, starts)
                            : Merge<true, false>(pool, a, b, n_cols, nse, values, starts);
      } else {
        const MergedValues<true, V, I> values{columns, out, x, y};
        places = drop_zeros ? Merge<false, true>(pool, a, b, n_cols, nse, values, starts)
                            : Merge<false, false>(pool, a, b, n_cols, nse, values, starts);
      }
      return Counted(places, count->typed_data());
    });
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

XLA_FFI_DEFINE_HANDLER_SYMBOL(kCsrCombine, CsrCombineHandler,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::Buffer<ffi::S32>>()
                                  .Attr<int64_t>("n_cols")
                                  .Attr<bool>("product")
                                  .Attr<bool>("drop_zeros"));
}  // namespace rarefy
