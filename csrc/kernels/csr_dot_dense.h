// Product of a CSR matrix and a dense matrix.
#pragma once

#include <cstdint>

namespace rarefy {

// out[r, :] = sum over e in [indptr[r], indptr[r+1]) of data[e] * dense[indices[e], :]
// for r in [row_begin, row_end).
//
//   data     (nse)      values; Value float or double (16-bit types use Accumulator float)
//   indices  (nse)      column of each entry; any order, repeats add up; entries with a column
//                       outside [0, n_cols) are padding and are skipped
//   indptr   (m + 1)    non-decreasing
//   dense    (n_cols, k) row-major
//   out      (m, k)     row-major, written for the given rows only; must not alias the inputs
//
// Cost O(entries * k). Entries are added in storage order, so results do not depend on the split.
template <typename Value, typename Index, typename Accumulator>
void CsrDotDenseRows(const Value* data, const Index* indices, const Index* indptr,
                     const Value* dense, int64_t n_cols, int64_t k, int64_t row_begin,
                     int64_t row_end, Value* out) {
  for (int64_t r = row_begin; r < row_end; ++r) {
    Value* o = out + r * k;
    for (int64_t j = 0; j < k; ++j) o[j] = Value(0);
    for (int64_t e = indptr[r]; e < indptr[r + 1]; ++e) {
      const int64_t c = static_cast<int64_t>(indices[e]);
      if (c < 0 || c >= n_cols) continue;
      const Value v = data[e];
      const Value* d = dense + c * k;
      for (int64_t j = 0; j < k; ++j) o[j] += v * d[j];
    }
  }
}

}  // namespace rarefy
