// Products of rows of two dense matrices at the stored places of a CSR pattern.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/float16.h"
#include "kernels/simd.h"

namespace rarefy {

template <typename T>
RAREFY_INLINE T SumLanes(const Vector<T>& v) {
  T half[kLanes<T> / 2];
  for (int64_t i = 0; i < kLanes<T> / 2; ++i) half[i] = v[i] + v[i + kLanes<T> / 2];
  if constexpr (kLanes<T> == 4) return half[0] + half[1];
  return (half[0] + half[2]) + (half[1] + half[3]);
}

// The inner product of x and y, k values each. Four vectors of sums in turn: one would wait for
// each addition before the next.
template <typename V>
RAREFY_INLINE Accumulator<V> Dot(const V* x, const V* y, int64_t k) {
  using A = Accumulator<V>;
  constexpr int64_t lanes = kLanes<A>;
  int64_t j = 0;
  A total = 0;
  if (k >= lanes) {
    Vector<A> sum[4] = {};
    for (; j + 4 * lanes <= k; j += 4 * lanes) {
      RAREFY_UNROLL
      for (int v = 0; v < 4; ++v)
        sum[v] += LoadVector(x + j + v * lanes) * LoadVector(y + j + v * lanes);
    }
    for (; j + lanes <= k; j += lanes) sum[0] += LoadVector(x + j) * LoadVector(y + j);
    total = SumLanes<A>((sum[0] + sum[1]) + (sum[2] + sum[3]));
  }
  for (; j < k; ++j) total += Widen(x[j]) * Widen(y[j]);
  return total;
}

// out[e] = lhs[r, :] . rhs[indices[e], :] for the entries e in [begin, end), where r is the row of
// e. Entries before indptr[0] or from indptr[m] on, and those with a column outside [0, n), are
// padding and give zero.
//
//   indices  (nse)     the column of each entry; any order, repeats allowed
//   indptr   (m + 1)   non-decreasing
//   lhs      (m, k)    row-major
//   rhs      (n, k)    row-major
//   out      (nse)     written for the given entries only; must not alias the inputs
//
// Cost O((end - begin) * k + log m), and a pass over the rows between. Each entry is computed by
// itself, so results do not depend on the split.
template <typename V, typename I>
struct CsrSampleDot {
  static RAREFY_INLINE void Run(const I* indices, const I* indptr, int64_t m, int64_t nse,
                                const V* lhs, const V* rhs, int64_t n, int64_t k, int64_t begin,
                                int64_t end, V* out) {
    constexpr int64_t ahead = 8;
    const int64_t row_bytes = k * int64_t{sizeof(V)};
    // The row that holds `begin`, or m: the last whose start is not behind it.
    int64_t r = std::upper_bound(indptr, indptr + m + 1, static_cast<I>(begin)) - indptr - 1;
    for (int64_t e = begin; e < end; ++e) {
      while (r < m && static_cast<int64_t>(indptr[r + 1]) <= e) ++r;
      if (e + ahead < nse) {
        const int64_t to = static_cast<int64_t>(indices[e + ahead]) * row_bytes;
        for (int64_t byte = 0; byte < std::min<int64_t>(row_bytes, 512); byte += 64)
          Prefetch(rhs, to + byte);
      }
      const int64_t c = static_cast<int64_t>(indices[e]);
      const bool real = r >= 0 && r < m && static_cast<uint64_t>(c) < static_cast<uint64_t>(n);
      out[e] = real ? Narrow<V>(Dot(lhs + r * k, rhs + c * k, k)) : V{};
    }
  }
};

}  // namespace rarefy
