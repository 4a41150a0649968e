// Product of a transposed CSR matrix and a dense matrix, whose entries are grouped by column.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "kernels/csr_dot_dense.h"
#include "kernels/float16.h"

namespace rarefy {

// An entry with its row: side by side, so that reading entries out of order misses the cache once.
template <typename V>
struct Entry {
  V value;
  int32_t row;
};

// Writes the entries of the rows [row_begin, row_end).
//
//   data     (nse)    values
//   indptr   (m + 1)  non-decreasing; positions are cut to [0, nse]
//   entries  (nse)    entries of other rows, or of none, are left as they are
template <typename V, typename I>
void FillEntries(const V* data, const I* indptr, int64_t nse, int64_t row_begin, int64_t row_end,
                 Entry<V>* entries) {
  for (int64_t r = row_begin; r < row_end; ++r) {
    const int64_t begin = std::max<int64_t>(static_cast<int64_t>(indptr[r]), 0);
    const int64_t end = std::min<int64_t>(static_cast<int64_t>(indptr[r + 1]), nse);
    for (int64_t e = begin; e < end; ++e) entries[e] = {data[e], static_cast<int32_t>(r)};
  }
}

// Entries in the order of their groups; m is less than 2^31.
//
//   entries  (nse)  those of no row say row m
//   order    (nse)  the entries, group by group; a number outside [0, nse) is padding
//   dense    (m, k) row-major
template <typename V>
struct GroupedEntries {
  const Entry<V>* entries;
  const int32_t* order;
  int64_t nse;
  const V* dense;
  int64_t m;
  int64_t k;
};

// At most kSegment consecutive entries of `order` as the entries of a CSR matrix.
template <typename V>
class Tile {
 public:
  CsrDense<V, int32_t> Fill(const GroupedEntries<V>& a, int64_t begin, int64_t end) {
    const Entry<V> padding{V{}, static_cast<int32_t>(a.m)};
    for (int64_t j = begin; j < end; ++j) {
      const int64_t e = a.order[j];
      const bool real = static_cast<uint64_t>(e) < static_cast<uint64_t>(a.nse);
      const Entry<V> entry = real ? a.entries[e] : padding;
      values_[j - begin] = entry.value;
      rows_[j - begin] = entry.row;
    }
    return {values_, rows_, end - begin, a.dense, a.m, a.k};
  }

 private:
  // 24 to 48 KiB on the stack, in the second-level cache: the entries are gathered here with many
  // loads in flight and read again at once. The pool's threads have stacks of megabytes.
  V values_[kSegment];
  int32_t rows_[kSegment];
};

// out[i, :] = sum over j in [starts[i], starts[i + 1]) of value * dense[row, :] of the entry
// order[j], for i in [group_begin, group_end).
//
//   starts   (groups + 1)  non-decreasing; positions are cut to [0, nse]
//   out      (groups, k)   row-major, written for the given groups only
//   skipped                set to 1 when a group has more than kSegment entries: those are left out
//
// Cost O(entries * k). The bits of a row are those of csr_dot_dense on the transposed matrix.
template <typename V>
void CsrTDotRows(const GroupedEntries<V>& a, const int32_t* starts, int64_t group_begin,
                 int64_t group_end, V* out, std::atomic<int>* skipped) {
  Tile<V> tile;
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
    CsrDotDenseRows(tile.Fill(a, begin, end), starts, begin, group, next, SumsOut<V>{out}, skipped);
    group = next;
  }
}

// partial[:] = the same sum over j in [begin, end), at most kSegment entries.
template <typename V>
void CsrTDotSegment(const GroupedEntries<V>& a, int64_t begin, int64_t end,
                    Accumulator<V>* partial) {
  Tile<V> tile;
  const int32_t segment[2] = {0, static_cast<int32_t>(end - begin)};
  CsrDotDenseRows(tile.Fill(a, begin, end), segment, 0, 0, 1, Exactly<V>(partial), nullptr);
}

}  // namespace rarefy
