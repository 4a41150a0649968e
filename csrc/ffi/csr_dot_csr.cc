// XLA FFI entries of the product of two csr matrices: its places, and its values and derivatives.
#include "kernels/csr_dot_csr.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <memory>
#include <utility>

#include "ffi/dispatch.h"
#include "ffi/parallel.h"
#include "ffi/row_sums.h"
#include "ffi/targets.h"
#include "kernels/scratch.h"

namespace rarefy {
namespace {

namespace ffi = xla::ffi;

// A pair costs one or two nanoseconds, an entry of a some pairs.
constexpr Cost kEntryCost{5.0, 12.0};

template <typename I>
CsrPlaces<I> PlacesOf(ffi::AnyBuffer indices, ffi::AnyBuffer indptr) {
  return {Data<I>(indices), Data<I>(indptr), Count(indptr) - 1, Count(indices)};
}

// Into how many parts the rows are split. Each clears working memory of a row, `columns` long:
// there are more parts than threads only where that is little.
template <typename I>
int64_t PartsOf(ffi::ThreadPool& pool, const CsrPlaces<I>& a, int64_t columns) {
  const double work =
      kEntryCost.row * static_cast<double>(a.rows) + kEntryCost.entry * static_cast<double>(a.nse);
  const int64_t threads = pool.num_threads() * (columns < a.nse / 16 ? 4 : 1);
  return std::min<int64_t>({PartsFor(pool, work), threads, std::max<int64_t>(a.rows, 1)});
}

template <typename I, typename Body>
void SplitRows(ffi::ThreadPool& pool, const CsrPlaces<I>& a, int64_t columns, const Body& body) {
  const int64_t parts = PartsOf(pool, a, columns);
  const auto bound = [&](int64_t part) {
    if (part == 0) return int64_t{0};
    if (part == parts) return a.rows;
    const auto at = static_cast<I>(a.nse * part / parts);
    const int64_t row = std::upper_bound(a.indptr, a.indptr + a.rows + 1, at) - a.indptr - 1;
    return std::min(std::max<int64_t>(row, 0), a.rows);
  };
  ParallelParts(pool, parts, [&](int64_t part) { body(bound(part), bound(part + 1)); });
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

// Memory that costs nothing until it is written to.
template <typename T>
std::unique_ptr<T[], Free> Zeros(int64_t n) {
  const auto size = static_cast<size_t>(std::max<int64_t>(n, 1));
  return std::unique_ptr<T[], Free>(static_cast<T*>(std::calloc(size, sizeof(T))));
}

// Row starts of rows of these sizes, those beyond nse set to it. Gives the number of elements.
template <typename I>
int64_t StartsOf(const I* sizes, int64_t rows, int64_t nse, I* indptr) {
  int64_t sum = 0;
  indptr[0] = 0;
  for (int64_t r = 0; r < rows; ++r) {
    sum += std::max<int64_t>(static_cast<int64_t>(sizes[r]), 0);
    indptr[r + 1] = static_cast<I>(std::min(sum, nse));
  }
  return sum;
}

// The sizes of the rows of the product; false where memory does not suffice.
template <typename I>
bool CountRows(ffi::ThreadPool& pool, const CsrPair<I>& p, I* sizes) {
  std::atomic<bool> failed{false};
  SplitRows(pool, p.a, p.columns, [&](int64_t begin, int64_t end) {
    const auto seen = Zeros<I>(p.columns);
    if (!seen) return failed.store(true);
    CsrDotCsrCount(p, begin, end, seen.get(), sizes);
  });
  return !failed.load();
}

template <typename I>
ffi::Error FindPlaces(ffi::ThreadPool& pool, const CsrPair<I>& p, int64_t nse, I* indices,
                      I* indptr, int32_t* total, I* sizes) {
  std::atomic<bool> failed{false};
  if (!CountRows(pool, p, sizes)) return OutOfMemory();
  const int64_t sum = StartsOf(sizes, p.a.rows, nse, indptr);
  *total = static_cast<int32_t>(std::min<int64_t>(sum, std::numeric_limits<int32_t>::max()));
  if (nse == 0) return ffi::Error::Success();
  SplitRows(pool, p.a, p.columns, [&](int64_t begin, int64_t end) {
    const auto seen = Zeros<I>(p.columns), row = Zeros<I>(p.columns + 1);
    const auto bits = Zeros<uint64_t>(BitWords(p.columns));
    if (!seen || !row || !bits) return failed.store(true);
    CsrDotCsrFill(p, begin, end, seen.get(), row.get(), bits.get(), indptr, indices);
  });
  if (failed.load()) return OutOfMemory();
  std::fill(indices + std::min(sum, nse), indices + nse, static_cast<I>(p.columns));
  return ffi::Error::Success();
}

ffi::Error PlacesHandler(ffi::ThreadPool pool, ffi::AnyBuffer a_indices, ffi::AnyBuffer a_indptr,
                         ffi::AnyBuffer b_indices, ffi::AnyBuffer b_indptr,
                         ffi::Result<ffi::AnyBuffer> indices, ffi::Result<ffi::AnyBuffer> indptr,
                         ffi::ResultBuffer<ffi::S32> total, ffi::Result<ffi::AnyBuffer> sizes,
                         int64_t n_cols) {
  const auto type = a_indices.element_type();
  if (sizes->element_type() != type || Count(*sizes) != Count(a_indptr) - 1 ||
      a_indptr.element_type() != type || b_indices.element_type() != type ||
      b_indptr.element_type() != type || indices->element_type() != type ||
      indptr->element_type() != type || Count(a_indptr) < 1 || Count(b_indptr) < 1 ||
      Count(*indptr) != Count(a_indptr))
    return ffi::Error::InvalidArgument("csr_dot_csr_places: operands do not agree");
  return SwitchIndex(type, [&](auto index) {
    using I = decltype(index);
    const CsrPair<I> p{PlacesOf<I>(a_indices, a_indptr), PlacesOf<I>(b_indices, b_indptr), n_cols};
    return FindPlaces<I>(pool, p, Count(*indices), Data<I>(*indices), Data<I>(*indptr),
                         total->typed_data(), Data<I>(*sizes));
  });
}

// The whole product. One part writes rows as they come; several must know first where theirs begin:
// from `known`, the sizes of the rows, or, where that is null, by counting.
template <typename V, typename I>
ffi::Error MatmulParts(ffi::ThreadPool& pool, const CsrPair<I>& p, const V* a, const V* b,
                       const I* known, int64_t nse, int64_t stride, V* data, I* indices, I* indptr,
                       int32_t* total) {
  std::atomic<bool> failed{false};
  int64_t sum = 0;
  const bool alone = PartsOf(pool, p.a, p.columns) == 1;
  if (!alone) {
    // The row starts have room for the sizes that they are made of.
    if (known == nullptr && !CountRows(pool, p, indptr + 1)) return OutOfMemory();
    sum = StartsOf(known ? known : indptr + 1, p.a.rows, nse, indptr);
  }
  const auto work = [&](int64_t begin, int64_t end, const auto& place) {
    static thread_local Scratch scratch;
    const int64_t n = (p.columns + 64) / 64 * 64;  // so that each array is aligned
    auto* const memory =
        static_cast<char*>(scratch.Get(n / 8 + n * (int64_t{sizeof(V)} + 2 * int64_t{sizeof(I)})));
    if (memory == nullptr) return failed.store(true);
    auto* const sums = reinterpret_cast<V*>(memory);
    auto* const seen = reinterpret_cast<I*>(memory + n * int64_t{sizeof(V)});
    auto* const bits = reinterpret_cast<uint64_t*>(seen + 2 * n);
    const auto clear = [&] {
      std::fill(seen, seen + n, I{0});
      std::fill(bits, bits + BitWords(p.columns), uint64_t{0});
    };
    CsrDotCsrRows(p, a, b, begin, end, sums, seen, seen + n, bits, clear, place, stride, data,
                  indices);
    scratch.Trim();
  };
  if (alone) {
    indptr[0] = 0;
    work(0, p.a.rows, [&](int64_t r, int64_t count) {
      const int64_t first = std::min(sum, nse);
      sum += count;
      indptr[r + 1] = static_cast<I>(std::min(sum, nse));
      return std::pair<int64_t, int64_t>(first, std::min(sum, nse) - first);
    });
  } else {
    SplitRows(pool, p.a, p.columns, [&](int64_t begin, int64_t end) {
      work(begin, end, [&](int64_t r, int64_t) {
        const auto first = static_cast<int64_t>(indptr[r]);
        return std::pair<int64_t, int64_t>(first, static_cast<int64_t>(indptr[r + 1]) - first);
      });
    });
  }
  if (failed.load()) return OutOfMemory();
  *total = static_cast<int32_t>(std::min<int64_t>(sum, std::numeric_limits<int32_t>::max()));
  const int64_t used = std::min(sum, nse);
  std::fill(data + used, data + nse, V{});
  if (stride == 1) {
    std::fill(indices + used, indices + nse, static_cast<I>(p.columns));
  } else {
    for (int64_t g = used; g < nse; ++g) {
      indices[2 * g] = static_cast<I>(p.a.rows);
      indices[2 * g + 1] = static_cast<I>(p.columns);
    }
  }
  return ffi::Error::Success();
}

ffi::Error MatmulHandler(ffi::ThreadPool pool, ffi::AnyBuffer a, ffi::AnyBuffer b,
                         ffi::AnyBuffer a_indices, ffi::AnyBuffer a_indptr,
                         ffi::AnyBuffer b_indices, ffi::AnyBuffer b_indptr, ffi::AnyBuffer sizes,
                         ffi::Result<ffi::AnyBuffer> data, ffi::Result<ffi::AnyBuffer> indices,
                         ffi::Result<ffi::AnyBuffer> indptr, ffi::ResultBuffer<ffi::S32> total,
                         int64_t n_cols) {
  const auto type = a_indices.element_type();
  const int64_t nse = Count(*data), stride = RowSize(*indices);
  if (a_indptr.element_type() != type || b_indices.element_type() != type ||
      b_indptr.element_type() != type || indices->element_type() != type ||
      indptr->element_type() != type || Count(a_indptr) < 1 || Count(b_indptr) < 1 ||
      Count(*indptr) != Count(a_indptr) || Count(a) != Count(a_indices) ||
      Count(b) != Count(b_indices) || b.element_type() != a.element_type() ||
      data->element_type() != a.element_type() || indices->dimensions()[0] != nse || stride < 1 ||
      stride > 2 || sizes.element_type() != type ||
      (Count(sizes) != 0 && Count(sizes) != Count(a_indptr) - 1))
    return ffi::Error::InvalidArgument("csr_matmul: operands do not agree");
  return SwitchIndex(type, [&](auto index) {
    using I = decltype(index);
    const CsrPair<I> p{PlacesOf<I>(a_indices, a_indptr), PlacesOf<I>(b_indices, b_indptr), n_cols};
    return SwitchExact(a.element_type(), [&](auto value) {
      using V = decltype(value);
      return MatmulParts<V, I>(
          pool, p, Data<V>(a), Data<V>(b), Count(sizes) > 0 ? Data<I>(sizes) : nullptr, nse, stride,
          Data<V>(*data), Data<I>(*indices), Data<I>(*indptr), total->typed_data());
    });
  });
}

template <typename V, typename I>
ffi::Error Multiply(ffi::ThreadPool& pool, const CsrPair<I>& p, const CsrPlaces<I>& c,
                    const V* first, const V* second, int64_t wanted, V* out, int64_t size) {
  std::atomic<bool> failed{false};
  std::fill(out, out + size, V{});
  const auto by_rows = wanted == 1 ? p.b : p.a;
  SplitRows(pool, by_rows, p.columns, [&](int64_t begin, int64_t end) {
    const auto row = Zeros<V>(p.columns);
    if (!row) return failed.store(true);
    if (wanted == 2) {
      CsrDotCsrValues(p, first, second, c, begin, end, row.get(), out);
    } else if (wanted == 0) {
      CsrDotCsrLeft(p, first, c, second, begin, end, row.get(), out);
    } else {
      CsrDotCsrRight(p, first, c, second, begin, end, row.get(), out);
    }
  });
  return failed.load() ? OutOfMemory() : ffi::Error::Success();
}

ffi::Error ValuesHandler(ffi::ThreadPool pool, ffi::AnyBuffer first, ffi::AnyBuffer second,
                         ffi::AnyBuffer a_indices, ffi::AnyBuffer a_indptr,
                         ffi::AnyBuffer b_indices, ffi::AnyBuffer b_indptr,
                         ffi::AnyBuffer c_indices, ffi::AnyBuffer c_indptr,
                         ffi::Result<ffi::AnyBuffer> out, int64_t n_cols, int64_t wanted) {
  const auto type = a_indices.element_type();
  const int64_t sizes[3] = {Count(a_indices), Count(b_indices), Count(c_indices)};
  if (wanted < 0 || wanted > 2 || a_indptr.element_type() != type ||
      b_indices.element_type() != type || b_indptr.element_type() != type ||
      c_indices.element_type() != type || c_indptr.element_type() != type || Count(a_indptr) < 1 ||
      Count(b_indptr) < 1 || Count(c_indptr) != Count(a_indptr) ||
      Count(first) != sizes[wanted == 0 ? 1 : 0] || Count(second) != sizes[wanted == 2 ? 1 : 2] ||
      Count(*out) != sizes[wanted] || first.element_type() != second.element_type() ||
      out->element_type() != first.element_type())
    return ffi::Error::InvalidArgument("csr_dot_csr: operands do not agree");
  return SwitchIndex(type, [&](auto index) {
    using I = decltype(index);
    const CsrPair<I> p{PlacesOf<I>(a_indices, a_indptr), PlacesOf<I>(b_indices, b_indptr), n_cols};
    const CsrPlaces<I> c = PlacesOf<I>(c_indices, c_indptr);
    return SwitchExact(first.element_type(), [&](auto value) {
      using V = decltype(value);
      return Multiply<V, I>(pool, p, c, Data<V>(first), Data<V>(second), wanted, Data<V>(*out),
                            sizes[wanted]);
    });
  });
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(kCsrDotCsrPlaces, PlacesHandler,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::Buffer<ffi::S32>>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<int64_t>("n_cols"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(kCsrMatmul, MatmulHandler,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
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
                                  .Attr<int64_t>("n_cols"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(kCsrDotCsr, ValuesHandler,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<int64_t>("n_cols")
                                  .Attr<int64_t>("wanted"));
}  // namespace rarefy
