// Product of a CSR matrix and a dense matrix or vector.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "kernels/float16.h"
#include "kernels/simd.h"

namespace rarefy {

// A row with more entries than this is the sum of its segments of this many entries, each summed
// from zero and added in order. So segments can run on several threads, and as they follow from the
// row alone, neither threads nor the other rows of a matrix change the bits of a row.
constexpr int64_t kSegment = 4096;

// The operands of the product.
//
//   data     (nse)        values
//   indices  (nse)        the column of each entry; any order, repeats add up; an entry with a
//                         column outside [0, n_cols) is padding and is skipped
//   dense    (n_cols, k)  row-major
template <typename V, typename I>
struct CsrDense {
  const V* data;
  const I* indices;
  int64_t nse;
  const V* dense;
  int64_t n_cols;
  int64_t k;
};

// How many entries ahead a row of `dense` of so many vectors is fetched: as many as make some 32
// cache lines. On Zen 4, 8 were a quarter slower at 8 columns and 32 no faster at 64; none were 20%
// slower.
constexpr int64_t Ahead(int vectors) { return vectors <= 1 ? 32 : vectors == 2 ? 16 : 8; }

// Adds data[e] * dense[indices[e], column + :] to `sum` for the entries [begin, end), where ':' is
// kVectors vectors of columns. The last vector begins `last` columns after `column` and may overlap
// the one before it, so that any k of at least one vector is covered without a scalar rest. With
// kPartial there is one vector, of all k < kLanes columns.
template <int kVectors, bool kPartial, typename V, typename I>
RAREFY_INLINE void AddEntries(const CsrDense<V, I>& a, int64_t begin, int64_t end, int64_t column,
                              int64_t last, Vector<Accumulator<V>> (&sum)[kVectors]) {
  constexpr int64_t lanes = kLanes<Accumulator<V>>;
  constexpr int64_t size = sizeof(V), ahead = Ahead(kVectors);
  for (int64_t e = begin; e < end; ++e) {
    if (e + ahead < a.nse) {
      const int64_t row = static_cast<int64_t>(a.indices[e + ahead]);
      RAREFY_UNROLL
      for (int64_t byte = 0; byte < kVectors * lanes * size; byte += 64)
        Prefetch(a.dense, (row * a.k + column) * size + byte);
    }
    const int64_t c = static_cast<int64_t>(a.indices[e]);
    if (static_cast<uint64_t>(c) >= static_cast<uint64_t>(a.n_cols)) continue;
    const Accumulator<V> weight = Widen(a.data[e]);
    const V* d = a.dense + c * a.k + column;
    if constexpr (kPartial) {
      // A whole vector reads into the next row, which only the last rows of `dense` forbid.
      const bool whole = c * a.k + lanes <= a.n_cols * a.k;
      sum[0] += weight * (whole ? LoadVector(d) : LoadVector(d, a.k));
    } else {
      RAREFY_UNROLL
      for (int v = 0; v + 1 < kVectors; ++v) sum[v] += weight * LoadVector(d + v * lanes);
      sum[kVectors - 1] += weight * LoadVector(d + last);
    }
  }
}

// Where sums go: rounded to V, or, where `exact` is given, as they are, to be added to others.
template <typename V>
struct SumsOut {
  V* rounded;
  Accumulator<V>* exact = nullptr;

  RAREFY_INLINE SumsOut Row(int64_t row, int64_t k) const {
    return exact ? SumsOut{rounded, exact + row * k} : SumsOut{rounded + row * k};
  }
  RAREFY_INLINE void Put(int64_t j, Accumulator<V> sum) const {
    if (exact) {
      exact[j] = sum;
    } else {
      rounded[j] = Narrow<V>(sum);
    }
  }
};

template <typename V>
SumsOut<V> Exactly(Accumulator<V>* sums) {
  if constexpr (std::is_same_v<V, Accumulator<V>>) {
    return {sums};  // nothing to round
  } else {
    return {nullptr, sums};
  }
}

// out[column + :] = the sum that AddEntries adds up.
template <int kVectors, bool kPartial, typename V, typename I>
RAREFY_INLINE void SumEntries(const CsrDense<V, I>& a, int64_t begin, int64_t end, int64_t column,
                              int64_t last, const SumsOut<V>& out) {
  using A = Accumulator<V>;
  constexpr int64_t lanes = kLanes<A>;
  Vector<A> sum[kVectors] = {};
  AddEntries<kVectors, kPartial>(a, begin, end, column, last, sum);
  if constexpr (std::is_same_v<V, A> && !kPartial) {
    RAREFY_UNROLL
    for (int v = 0; v + 1 < kVectors; ++v) StoreVector<A>(sum[v], out.rounded + column + v * lanes);
    StoreVector<A>(sum[kVectors - 1], out.rounded + column + last);
  } else {
    A sums[kVectors * lanes];
    RAREFY_UNROLL
    for (int v = 0; v < kVectors; ++v) StoreVector<A>(sum[v], sums + v * lanes);
    const int64_t tail = (kVectors - 1) * lanes;
    for (int64_t j = 0; j < tail; ++j) out.Put(column + j, sums[j]);
    const int64_t count = kPartial ? a.k : lanes;
    for (int64_t j = 0; j < count; ++j) out.Put(column + last + j, sums[tail + j]);
  }
}

// The sum of data[e] * dense[indices[e]] over [begin, end) for a vector `dense`. Four sums in turn:
// one would wait for each addition before the next.
template <bool kFetch, typename V, typename I>
RAREFY_INLINE Accumulator<V> SumScalars(const CsrDense<V, I>& a, int64_t begin, int64_t end) {
  constexpr int64_t ahead = 32;
  Accumulator<V> sum[4] = {};
  const auto add = [&](int64_t e, Accumulator<V>& to) RAREFY_LAMBDA_INLINE {
    const int64_t c = static_cast<int64_t>(a.indices[e]);
    if (static_cast<uint64_t>(c) < static_cast<uint64_t>(a.n_cols))
      to += Widen(a.data[e]) * Widen(a.dense[c]);
  };
  int64_t e = begin;
  for (; e + 4 <= end; e += 4) {
    if (kFetch && e + ahead + 4 <= a.nse) {
      RAREFY_UNROLL
      for (int64_t i = 0; i < 4; ++i)
        Prefetch(a.dense, static_cast<int64_t>(a.indices[e + ahead + i]) * int64_t{sizeof(V)});
    }
    add(e, sum[0]);
    add(e + 1, sum[1]);
    add(e + 2, sum[2]);
    add(e + 3, sum[3]);
  }
  for (; e < end; ++e) add(e, sum[0]);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// out[:] = the sum of data[e] * dense[indices[e], :] over [begin, end) for kColumns = k columns,
// fewer than a vector has: they are kept one by one.
template <int kColumns, typename V, typename I>
RAREFY_INLINE void SumFew(const CsrDense<V, I>& a, int64_t begin, int64_t end,
                          const SumsOut<V>& out) {
  constexpr int64_t ahead = Ahead(1);
  Accumulator<V> sum[kColumns] = {};
  for (int64_t e = begin; e < end; ++e) {
    if (e + ahead < a.nse) {
      Prefetch(a.dense, static_cast<int64_t>(a.indices[e + ahead]) * kColumns * int64_t{sizeof(V)});
    }
    const int64_t c = static_cast<int64_t>(a.indices[e]);
    if (static_cast<uint64_t>(c) >= static_cast<uint64_t>(a.n_cols)) continue;
    const Accumulator<V> weight = Widen(a.data[e]);
    RAREFY_UNROLL
    for (int j = 0; j < kColumns; ++j) sum[j] += weight * Widen(a.dense[c * kColumns + j]);
  }
  RAREFY_UNROLL
  for (int j = 0; j < kColumns; ++j) out.Put(j, sum[j]);
}

// out[r, :] = sum over e in [indptr[r], indptr[r + 1]) of
//             data[e - base] * dense[indices[e - base], :]
// for r in [row_begin, row_end).
//
//   indptr  (rows + 1)  non-decreasing; positions are cut to [base, base + nse]
//   base                the position that data[0] stands for
//   out     (rows, k)   row-major, written for the given rows only; must not alias the inputs
//   skipped             set to 1 when a row has more than kSegment entries: such rows are left out
//
// Cost O(entries * k). Entries of a row are added in storage order (for a vector in four sums in
// turn), so neither the range nor other rows change a row's bits.
template <typename V, typename I>
struct CsrDotDense {
  static RAREFY_INLINE void Run(const CsrDense<V, I>& a, const I* indptr, int64_t base,
                                int64_t row_begin, int64_t row_end, const SumsOut<V>& out,
                                std::atomic<int>* skipped) {
    // Where `dense` exceeds the second-level cache; below, prefetching only costs instructions.
    const bool fetch = a.n_cols * int64_t{sizeof(V)} > (int64_t{1} << 19);
    for (int64_t r = row_begin; r < row_end; ++r) {
      const int64_t begin = std::max<int64_t>(static_cast<int64_t>(indptr[r]) - base, 0);
      const int64_t end = std::min<int64_t>(static_cast<int64_t>(indptr[r + 1]) - base, a.nse);
      if (end - begin > kSegment) {
        skipped->store(1, std::memory_order_relaxed);
      } else if (a.k != 1) {
        SumRow(a, begin, end, out.Row(r, a.k));
      } else if (fetch) {
        out.Put(r, SumScalars<true>(a, begin, end));
      } else {
        out.Put(r, SumScalars<false>(a, begin, end));
      }
    }
  }

 private:
  static RAREFY_INLINE void SumRow(const CsrDense<V, I>& a, int64_t begin, int64_t end,
                                   const SumsOut<V>& out) {
    constexpr int64_t lanes = kLanes<Accumulator<V>>;
    if (a.k == 2) return SumFew<2>(a, begin, end, out);
    if (a.k == 3) return SumFew<3>(a, begin, end, out);
    if (a.k == 4 && lanes > 4) return SumFew<4>(a, begin, end, out);
    if (a.k < lanes) return SumEntries<1, true>(a, begin, end, 0, 0, out);
    int64_t column = 0;
    for (; a.k - column > 8 * lanes; column += 8 * lanes)
      SumEntries<8, false>(a, begin, end, column, 7 * lanes, out);
    if constexpr (sizeof(V) == 2) {  // fewer loops for the compiler, up to one more pass
      if (a.k - column == 8 * lanes)
        return SumEntries<8, false>(a, begin, end, column, 7 * lanes, out);
      for (; a.k - column > 4 * lanes; column += 4 * lanes)
        SumEntries<4, false>(a, begin, end, column, 3 * lanes, out);
    }
    const int64_t rest = a.k - column, last = rest - lanes;
    switch ((rest + lanes - 1) / lanes) {
      case 1:
        // Where there is less than a vector left, it reaches back over finished columns.
        return SumEntries<1, false>(a, begin, end, column + last, 0, out);
      case 2:
        return SumEntries<2, false>(a, begin, end, column, last, out);
      case 3:
        return SumEntries<3, false>(a, begin, end, column, last, out);
      case 4:
        return SumEntries<4, false>(a, begin, end, column, last, out);
      default:
        break;
    }
    if constexpr (sizeof(V) > 2) {
      switch ((rest + lanes - 1) / lanes) {
        case 5:
          return SumEntries<5, false>(a, begin, end, column, last, out);
        case 6:
          return SumEntries<6, false>(a, begin, end, column, last, out);
        case 7:
          return SumEntries<7, false>(a, begin, end, column, last, out);
        default:
          return SumEntries<8, false>(a, begin, end, column, last, out);
      }
    }
  }
};

// The loop above, compiled once for each pair of types in ffi/csr_dot_dense.cc.
template <typename V, typename I>
void CsrDotDenseRows(const CsrDense<V, I>& a, const I* indptr, int64_t base, int64_t row_begin,
                     int64_t row_end, const SumsOut<V>& out, std::atomic<int>* skipped);

}  // namespace rarefy
