// Product of a transposed CSR matrix and a dense matrix or vector.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/float16.h"
#include "kernels/simd.h"

namespace rarefy {

// The operands of the product.
//
//   data     (nse)      values
//   indices  (nse)      the column of each entry; any order, repeats add up; an entry with a column
//                       outside [0, n_cols) is padding and is skipped
//   indptr   (m + 1)    non-decreasing; positions are cut to [0, nse]
//   dense    (m, k)     row-major
template <typename V, typename I>
struct CsrTDense {
  const V* data;
  const I* indices;
  const I* indptr;
  int64_t nse;
  const V* dense;
  int64_t n_cols;
  int64_t k;

  RAREFY_INLINE int64_t Begin(int64_t row) const {
    return std::max<int64_t>(static_cast<int64_t>(indptr[row]), 0);
  }
  RAREFY_INLINE int64_t End(int64_t row) const {
    return std::min<int64_t>(static_cast<int64_t>(indptr[row + 1]), nse);
  }
  RAREFY_INLINE bool IsReal(int64_t column) const {
    return static_cast<uint64_t>(column) < static_cast<uint64_t>(n_cols);
  }
};

// out[indices[e], :] += data[e] * dense[r, :] for the entries e of the rows r in [row_begin,
// row_end), in storage order.
//
//   out  (n_cols, k) accumulators, row-major; must not alias the inputs
//
// Cost O(entries * k).
template <typename V, typename I>
struct ScatterRows {
  static RAREFY_INLINE void Run(const CsrTDense<V, I>& a, int64_t row_begin, int64_t row_end,
                                Accumulator<V>* out) {
    using A = Accumulator<V>;
    constexpr int64_t lanes = kLanes<A>;
    constexpr int64_t ahead = 16;
    for (int64_t r = row_begin; r < row_end; ++r) {
      const V* d = a.dense + r * a.k;
      const int64_t end = a.End(r);
      if (a.k == 1) {
        const A x = Widen(d[0]);
        for (int64_t e = a.Begin(r); e < end; ++e) {
          const int64_t c = static_cast<int64_t>(a.indices[e]);
          if (a.IsReal(c)) out[c] += Widen(a.data[e]) * x;
        }
        continue;
      }
      for (int64_t e = a.Begin(r); e < end; ++e) {
        if (e + ahead < a.nse)
          Prefetch(out, static_cast<int64_t>(a.indices[e + ahead]) * a.k * int64_t{sizeof(A)});
        const int64_t c = static_cast<int64_t>(a.indices[e]);
        if (!a.IsReal(c)) continue;
        const A weight = Widen(a.data[e]);
        A* o = out + c * a.k;
        int64_t j = 0;
        for (; j + lanes <= a.k; j += lanes)
          StoreVector<A>(LoadVector<A>(o + j) + weight * LoadVector(d + j), o + j);
        for (; j < a.k; ++j) o[j] += weight * Widen(d[j]);
      }
    }
  }
};

// counts[c] += the number of entries with column c in the rows [row_begin, row_end).
//
//   counts  (n_cols)
template <typename V, typename I>
void CountColumns(const CsrTDense<V, I>& a, int64_t row_begin, int64_t row_end, I* counts) {
  for (int64_t r = row_begin; r < row_end; ++r) {
    const int64_t end = a.End(r);
    for (int64_t e = a.Begin(r); e < end; ++e) {
      const int64_t c = static_cast<int64_t>(a.indices[e]);
      if (a.IsReal(c)) ++counts[c];
    }
  }
}

// From counts to positions: entries are sorted by column, those of a column by chunk.
//
//   counts  (chunks, n_cols)  how many entries of each column a chunk has; becomes where the first
//                             of them belongs
//   starts  (n_cols + 1)      where each column begins
template <typename I>
void PlaceColumns(int64_t chunks, int64_t n_cols, I* counts, I* starts) {
  I position = 0;
  for (int64_t c = 0; c < n_cols; ++c) {
    starts[c] = position;
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      const I count = counts[chunk * n_cols + c];
      counts[chunk * n_cols + c] = position;
      position = static_cast<I>(static_cast<uint64_t>(position) + static_cast<uint64_t>(count));
    }
  }
  starts[n_cols] = position;
}

// Writes the entries of the rows [row_begin, row_end) to their places in the transposed matrix.
//
//   next     (n_cols)  where the next entry of each column belongs; counts on
//   weights  (nse)     the values by column
//   rows     (nse)     their rows
template <typename V, typename I>
void MoveToColumns(const CsrTDense<V, I>& a, int64_t row_begin, int64_t row_end, I* next,
                   V* weights, I* rows) {
  for (int64_t r = row_begin; r < row_end; ++r) {
    const int64_t end = a.End(r);
    for (int64_t e = a.Begin(r); e < end; ++e) {
      const int64_t c = static_cast<int64_t>(a.indices[e]);
      if (!a.IsReal(c)) continue;
      const I to = next[c]++;
      // Fails only where rows overlap, as those of a csr matrix cannot.
      if (static_cast<uint64_t>(to) >= static_cast<uint64_t>(a.nse)) continue;
      weights[to] = a.data[e];
      rows[to] = static_cast<I>(r);
    }
  }
}

}  // namespace rarefy
