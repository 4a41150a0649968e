// Product of a matrix of coordinates and a dense matrix or vector.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/float16.h"
#include "kernels/simd.h"

namespace rarefy {

// The operands of the product.
//
//   data      (nse)        values
//   indices   (nse, 2)     coordinates, `row_axis` tells which of the two is the row; any order,
//                          repeats add up; an entry with one out of range is padding
//   dense     (n_cols, k)  row-major
template <typename V, typename I>
struct CooDense {
  const V* data;
  const I* indices;
  int64_t nse;
  int64_t row_axis;
  const V* dense;
  int64_t n_rows;
  int64_t n_cols;
  int64_t k;

  RAREFY_INLINE int64_t Row(int64_t e) const {
    return static_cast<int64_t>(indices[2 * e + row_axis]);
  }
  RAREFY_INLINE int64_t Column(int64_t e) const {
    return static_cast<int64_t>(indices[2 * e + 1 - row_axis]);
  }
  // The row that an entry stands at among entries in order; n_rows behind the last.
  RAREFY_INLINE int64_t Place(int64_t row) const { return std::clamp<int64_t>(row, 0, n_rows); }
  RAREFY_INLINE bool IsRow(int64_t row) const {
    return static_cast<uint64_t>(row) < static_cast<uint64_t>(n_rows);
  }
  RAREFY_INLINE bool IsColumn(int64_t column) const {
    return static_cast<uint64_t>(column) < static_cast<uint64_t>(n_cols);
  }
  // Whether a table of so many rows exceeds the second-level cache: below, prefetching only costs
  // instructions.
  RAREFY_INLINE bool IsFar(int64_t rows, int64_t size) const {
    return rows * k * size > (int64_t{1} << 19);
  }
};

// The sum of one row of the result: kColumns = k columns in registers, or with kColumns = 0 any
// number of them in memory.
template <int kColumns, typename V>
class RowSum {
  using A = Accumulator<V>;

 public:
  RAREFY_INLINE RowSum(A*, int64_t) {}
  RAREFY_INLINE void Clear() {
    RAREFY_UNROLL
    for (int j = 0; j < kColumns; ++j) sum_[j] = A{0};
  }
  RAREFY_INLINE void Add(A weight, const V* row) {
    RAREFY_UNROLL
    for (int j = 0; j < kColumns; ++j) sum_[j] += weight * Widen(row[j]);
  }
  RAREFY_INLINE void Load(A* from) {
    RAREFY_UNROLL
    for (int j = 0; j < kColumns; ++j) sum_[j] = from[j];
  }
  RAREFY_INLINE void Store(A* to) const {
    RAREFY_UNROLL
    for (int j = 0; j < kColumns; ++j) to[j] = sum_[j];
  }
  RAREFY_INLINE void Round(V* to) const {
    RAREFY_UNROLL
    for (int j = 0; j < kColumns; ++j) to[j] = Narrow<V>(sum_[j]);
  }

 private:
  A sum_[kColumns] = {};
};

template <typename V>
class RowSum<0, V> {
  using A = Accumulator<V>;

 public:
  RAREFY_INLINE RowSum(A* memory, int64_t k) : sum_(memory), k_(k) {}
  RAREFY_INLINE void Clear() { std::fill(sum_, sum_ + k_, A{0}); }
  RAREFY_INLINE void Add(A weight, const V* row) {
    constexpr int64_t lanes = kLanes<A>;
    int64_t j = 0;
    for (; j + lanes <= k_; j += lanes)
      StoreVector<A>(LoadVector<A>(sum_ + j) + weight * LoadVector(row + j), sum_ + j);
    for (; j < k_; ++j) sum_[j] += weight * Widen(row[j]);
  }
  RAREFY_INLINE void Load(A* from) { sum_ = from; }  // adds up in place
  RAREFY_INLINE void Store(A* to) const {
    if (to != sum_) std::copy(sum_, sum_ + k_, to);
  }
  RAREFY_INLINE void Round(V* to) const {
    for (int64_t j = 0; j < k_; ++j) to[j] = Narrow<V>(sum_[j]);
  }

 private:
  A* sum_;
  int64_t k_;
};

// How many entries ahead the rows that they need are fetched.
constexpr int64_t kAhead = 32;

template <typename V, typename I>
RAREFY_INLINE void FetchAhead(const CooDense<V, I>& a, int64_t e, int64_t end) {
  if (e + kAhead < end) Prefetch(a.dense, a.Column(e + kAhead) * a.k * int64_t{sizeof(V)});
}

// out[row(e), :] += data[e] * dense[column(e), :] for the entries [begin, end), in storage order.
//
//   out  (n_rows, k)  accumulators, row-major; must not alias the inputs
//
// Cost O(entries * k).
template <int kColumns, typename V, typename I>
struct CooScatter {
  static RAREFY_INLINE void Run(const CooDense<V, I>& a, int64_t begin, int64_t end,
                                Accumulator<V>* out) {
    const int64_t k = kColumns ? kColumns : a.k;
    const bool fetch = a.IsFar(a.n_cols, sizeof(V));
    const bool fetch_out = a.IsFar(a.n_rows, sizeof(Accumulator<V>));
    RowSum<kColumns, V> sum(out, k);
    for (int64_t e = begin; e < end; ++e) {
      if (fetch) FetchAhead(a, e, end);
      if (fetch_out && e + kAhead < end)
        Prefetch(out, a.Row(e + kAhead) * k * int64_t{sizeof(Accumulator<V>)});
      const int64_t r = a.Row(e), c = a.Column(e);
      if (!a.IsRow(r) || !a.IsColumn(c)) continue;
      sum.Load(out + r * k);
      sum.Add(Widen(a.data[e]), a.dense + c * k);
      sum.Store(out + r * k);
    }
  }
};

// What a chunk of entries in order leaves to be joined with its neighbours: the sum over those of
// its entries that belong to the row `first`, in which the chunk before it ends (-1: there is
// none), and, if it ends in another row, `last`, the sum so far of that.
struct CooEnds {
  int64_t first;
  int64_t last;
};

// Sums the rows of entries [begin, end) whose rows ascend; padding counts at the row it names.
//
//   out   (n_rows, k)  rows between those of `ends`, also empty ones, are written
//   head  (k)          the sum for row ends.first
//   tail  (k)          the sum for row ends.last, where that is another
//
// Memory is safe, but `out` wrong, where rows do not ascend. Cost O(entries * k + rows * k).
template <int kColumns, typename V, typename I>
struct CooSumRows {
  static RAREFY_INLINE void Run(const CooDense<V, I>& a, int64_t begin, int64_t end, V* out,
                                Accumulator<V>* head, Accumulator<V>* tail, CooEnds* ends) {
    const int64_t k = kColumns ? kColumns : a.k;
    const bool fetch = a.IsFar(a.n_cols, sizeof(V));
    const int64_t first = begin == 0 ? -1 : a.Place(a.Row(begin - 1));
    int64_t row = first;
    RowSum<kColumns, V> sum(tail, k);
    sum.Clear();
    for (int64_t e = begin; e < end;) {
      const int64_t r = a.Row(e);
      if (const int64_t place = a.Place(r); place > row) {
        if (row == first) {
          sum.Store(head);
        } else {
          sum.Round(out + row * k);
        }
        if (place > row + 1) std::fill(out + (row + 1) * k, out + place * k, V{});
        sum.Clear();
        row = place;
      }
      const bool real = a.IsRow(r);
      do {
        if (fetch) FetchAhead(a, e, end);
        const int64_t c = a.Column(e);
        if (real && a.IsColumn(c)) sum.Add(Widen(a.data[e]), a.dense + c * k);
      } while (++e < end && a.Row(e) == r);
    }
    sum.Store(row == first ? head : tail);
    if (end == a.nse && row + 1 < a.n_rows) std::fill(out + (row + 1) * k, out + a.n_rows * k, V{});
    *ends = {first, row};
  }
};

// Joins the sums that chunks leave, in their order.
//
//   ends   (chunks)
//   sums   (chunks, 2, k)  head and tail of each
//   total  (k)             working memory
//   out    (n_rows, k)     the rows that chunks end in are written
template <typename V>
void CooJoinEnds(const CooEnds* ends, int64_t chunks, const Accumulator<V>* sums, int64_t n_rows,
                 int64_t k, Accumulator<V>* total, V* out) {
  int64_t row = -1;
  const auto put = [&] {
    if (row < 0 || row >= n_rows) return;
    for (int64_t j = 0; j < k; ++j) out[row * k + j] = Narrow<V>(total[j]);
  };
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const Accumulator<V>* head = sums + 2 * chunk * k;
    if (row >= 0)
      for (int64_t j = 0; j < k; ++j) total[j] += head[j];
    if (ends[chunk].last == ends[chunk].first) continue;
    put();
    row = ends[chunk].last;
    std::copy(head + k, head + 2 * k, total);
  }
  put();
}

}  // namespace rarefy
