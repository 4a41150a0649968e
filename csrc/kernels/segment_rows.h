// Sums of rows by group.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "kernels/csr_dot_dense.h"

namespace rarefy {

// The number one, kSegment times.
template <typename V>
const V* Ones() {
  struct Array {
    Array() { std::fill(values, values + kSegment, Narrow<V>(1)); }
    V values[kSegment];
  };
  static const Array ones;
  return ones.values;
}

// The rows that are summed, as a matrix of ones times the values.
//
//   order   (nse)     entries by group; a number outside [0, nse) is padding
//   values  (nse, d)  row-major
template <typename V>
struct GroupedRows {
  const int32_t* order;
  const V* values;
  int64_t nse;
  int64_t d;
  CsrDense<V, int32_t> Entries(int64_t begin, int64_t end) const {
    return {Ones<V>(), order + begin, end - begin, values, nse, d};
  }
};

// out[i, :] = sum over j in [starts[i], starts[i + 1]) of values[order[j], :] for i in
// [group_begin, group_end).
//
//   starts   (groups + 1)  non-decreasing; positions are cut to [0, nse]
//   out      (groups, d)   row-major, written for the given groups only; must not alias the inputs
//   skipped                set to 1 when a group has more than kSegment entries: those are left out
//
// Cost O(entries * d). A group's entries are added as csr_dot_dense.h adds those of a row, so
// results do not depend on the split.
template <typename V>
void SegmentRows(const GroupedRows<V>& a, const int32_t* starts, int64_t group_begin,
                 int64_t group_end, V* out, std::atomic<int>* skipped) {
  int64_t group = group_begin;
  while (group < group_end) {
    const int64_t begin = std::max<int64_t>(starts[group], 0);
    int64_t next = group, end = begin;
    for (; next < group_end; ++next) {
      const int64_t stop = std::min<int64_t>(starts[next + 1], a.nse);
      if (stop - begin > kSegment) break;
      end = std::max(end, stop);
    }
    if (next == group) {
      skipped->store(1, std::memory_order_relaxed);
      ++group;
      continue;
    }
    CsrDotDenseRows(a.Entries(begin, end), starts, begin, group, next, SumsOut<V>{out}, skipped);
    group = next;
  }
}

// partial[:] = the same sum over j in [begin, end), at most kSegment entries.
template <typename V>
void SegmentRowsPart(const GroupedRows<V>& a, int64_t begin, int64_t end, Accumulator<V>* partial) {
  const int32_t segment[2] = {0, static_cast<int32_t>(end - begin)};
  CsrDotDenseRows(a.Entries(begin, end), segment, 0, 0, 1, Exactly<V>(partial), nullptr);
}

}  // namespace rarefy
