// Sums of the rows of a CSR matrix.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "kernels/csr_dot_dense.h"
#include "kernels/float16.h"
#include "kernels/simd.h"

namespace rarefy {

// The sum of data[e] for e in [begin, end) whose column indices[e] is inside [0, n_cols): lane l
// has the entries begin + l, begin + l + kSumLanes, ..., and the lanes are added in pairs. So
// compilers make vectors of it, and where a row lies does not change its bits.
constexpr int64_t kSumLanes = 16;

template <typename V, typename I>
RAREFY_INLINE Accumulator<V> SumOfEntries(const V* data, const I* indices, int64_t n_cols,
                                          int64_t begin, int64_t end) {
  using A = Accumulator<V>;
  using U = std::make_unsigned_t<I>;
  const auto width = static_cast<U>(n_cols);
  A sum[kSumLanes] = {};
  const auto add = [&](int64_t lane, int64_t e) RAREFY_LAMBDA_INLINE {
    const A x = Widen(data[e]);
    sum[lane] += static_cast<U>(indices[e]) < width ? x : A{0};
  };
  int64_t e = begin;
  for (; e + kSumLanes <= end; e += kSumLanes)
    for (int64_t lane = 0; lane < kSumLanes; ++lane) add(lane, e + lane);
  for (int64_t lane = 0; e < end; ++e, ++lane) add(lane, e);
  for (int64_t half = kSumLanes / 2; half > 0; half /= 2)
    for (int64_t lane = 0; lane < half; ++lane) sum[lane] += sum[lane + half];
  return sum[0];
}

// out[r] = the sum of the entries of row r, for r in [row_begin, row_end).
//
//   data     (nse)        values
//   indices  (nse)        columns; an entry with one outside [0, n_cols) is padding
//   indptr   (rows + 1)   non-decreasing; positions are cut to [0, nse]
//   out                   written for the given rows only; must not alias the inputs
//   skipped               set to 1 when a row has more than kSegment entries: such rows are left
//   out
//
// Cost O(entries of the rows).
template <typename V, typename I>
struct CsrSumRows {
  static RAREFY_INLINE void Run(const V* data, const I* indices, int64_t nse, int64_t n_cols,
                                const I* indptr, int64_t row_begin, int64_t row_end, V* out,
                                std::atomic<int>* skipped) {
    for (int64_t r = row_begin; r < row_end; ++r) {
      const int64_t begin = std::max<int64_t>(static_cast<int64_t>(indptr[r]), 0);
      const int64_t end = std::min<int64_t>(static_cast<int64_t>(indptr[r + 1]), nse);
      if (end - begin > kSegment) {
        skipped->store(1, std::memory_order_relaxed);
      } else {
        out[r] = Narrow<V>(SumOfEntries(data, indices, n_cols, begin, end));
      }
    }
  }
};

// *out = the sum of the entries [begin, end).
template <typename V, typename I>
struct CsrSumSegment {
  static RAREFY_INLINE void Run(const V* data, const I* indices, int64_t n_cols, int64_t begin,
                                int64_t end, Accumulator<V>* out) {
    *out = SumOfEntries(data, indices, n_cols, begin, end);
  }
};

}  // namespace rarefy
