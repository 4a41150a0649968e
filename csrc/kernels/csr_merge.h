// The places that either of two CSR matrices has, or both of them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/csr_dot_csr.h"

namespace rarefy {

// What CsrMerge writes.
//
//   indices  (nse)       columns, ascending in each row; n_cols for padding, which is last
//   indptr   (rows + 1)
//   from_a   (nse)       the entry of a in this place; a.nse where there is none
//   from_b   (nse)       likewise of b
template <typename I>
struct CsrMerged {
  I* indices;
  I* indptr;
  int32_t* from_a;
  int32_t* from_b;
  int64_t nse;
};

// How many places the merged row `row` has at most.
template <bool kBoth, typename I>
int64_t MostPlaces(const CsrPlaces<I>& a, const CsrPlaces<I>& b, int64_t row) {
  const int64_t in_a = std::max<int64_t>(a.End(row) - a.Begin(row), 0);
  const int64_t in_b = std::max<int64_t>(b.End(row) - b.Begin(row), 0);
  return kBoth ? std::min(in_a, in_b) : in_a + in_b;
}

// Merges the rows from `first` to `last` of two matrices of equally many rows, whose columns ascend
// in each row without repeats; a column outside [0, n_cols) is padding, which comes last in its row
// or, if negative, first.
//
// kBoth: whether a place must be in both. The places are written from slot `begin` of `out` on and
// before slot `end`; out.indptr[row + 1] gets the number of places from `first` to the end of each
// row, those that are left out included. Returns their number. Cost O(entries of the rows).
template <bool kBoth, typename I>
int64_t CsrMergeRows(const CsrPlaces<I>& a, const CsrPlaces<I>& b, int64_t n_cols, int64_t first,
                     int64_t last, int64_t begin, int64_t end, const CsrMerged<I>& out) {
  // By value: what is written cannot be these then.
  const CsrMerged<I> o = out;
  const I* const a_columns = a.indices;
  const I* const b_columns = b.indices;
  const auto no_a = static_cast<int32_t>(a.nse), no_b = static_cast<int32_t>(b.nse);
  int64_t k = begin;
  for (int64_t r = first; r < last; ++r) {
    int64_t i = a.Begin(r), j = b.Begin(r), a_end = a.End(r), b_end = b.End(r);
    while (i < a_end && a_columns[i] < 0) ++i;
    while (j < b_end && b_columns[j] < 0) ++j;
    while (i < a_end && static_cast<int64_t>(a_columns[a_end - 1]) >= n_cols) --a_end;
    while (j < b_end && static_cast<int64_t>(b_columns[b_end - 1]) >= n_cols) --b_end;
    // Every step writes, which costs less than to foresee which column is less.
    const int64_t most = kBoth ? std::min(a_end - i, b_end - j) + 1 : a_end - i + b_end - j;
    const bool fits = k + most <= end;
    const auto put = [&](int64_t column, int64_t from_a, int64_t from_b) {
      if (!fits && k >= end) return;
      o.indices[k] = static_cast<I>(column);
      o.from_a[k] = static_cast<int32_t>(from_a);
      o.from_b[k] = static_cast<int32_t>(from_b);
    };
    while (i < a_end && j < b_end) {
      const I left = a_columns[i], right = b_columns[j];
      const bool in_a = left <= right, in_b = right <= left;
      put(std::min(left, right), in_a ? i : no_a, in_b ? j : no_b);
      k += kBoth ? in_a && in_b : 1;
      i += in_a;
      j += in_b;
    }
    if (!kBoth) {
      for (; i < a_end; ++i, ++k) put(a_columns[i], i, no_b);
      for (; j < b_end; ++j, ++k) put(b_columns[j], no_a, j);
    }
    o.indptr[r + 1] = static_cast<I>(k - begin);
  }
  return k - begin;
}

// Fills the slots from `used` on with padding.
template <typename I>
void PadMerged(const CsrPlaces<I>& a, const CsrPlaces<I>& b, int64_t n_cols, int64_t used,
               const CsrMerged<I>& out) {
  std::fill(out.indices + used, out.indices + out.nse, static_cast<I>(n_cols));
  std::fill(out.from_a + used, out.from_a + out.nse, static_cast<int32_t>(a.nse));
  std::fill(out.from_b + used, out.from_b + out.nse, static_cast<int32_t>(b.nse));
}

}  // namespace rarefy
