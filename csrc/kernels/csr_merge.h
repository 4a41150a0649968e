// The elements that either of two CSR matrices has, or both of them: places, or values too.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/csr_dot_csr.h"
#include "kernels/simd.h"

namespace rarefy {

// What a merge writes when it looks for places.
//
//   indices  (nse)  columns, ascending in each row; n_cols for padding, which is last
//   from_a   (nse)  the entry of a in this place; a.nse where there is none
//   from_b   (nse)  likewise of b
template <typename I>
struct MergedPlaces {
  I* indices;
  int32_t* from_a;
  int32_t* from_b;
  int32_t no_a;
  int32_t no_b;

  static constexpr int64_t kSlotBytes = sizeof(I) + 2 * sizeof(int32_t);

  // The same with room for `room` slots in `memory`.
  MergedPlaces In(char* memory, int64_t room) const {
    auto* const columns = reinterpret_cast<I*>(memory);
    auto* const entries = reinterpret_cast<int32_t*>(columns + room);
    return {columns, entries, entries + room, no_a, no_b};
  }
  // Writes the place of entry i of a and entry j of b.
  RAREFY_INLINE void Put(int64_t k, I column, int64_t i, int64_t j) const {
    indices[k] = column;
    from_a[k] = static_cast<int32_t>(i);
    from_b[k] = static_cast<int32_t>(j);
  }
  // Writes the place of one of them alone.
  RAREFY_INLINE void PutOne(int64_t k, I column, bool of_a, int64_t i, int64_t j) const {
    const int32_t mask = -static_cast<int32_t>(of_a);  // compilers would branch, which is slower
    indices[k] = column;
    from_a[k] = no_a ^ ((no_a ^ static_cast<int32_t>(i)) & mask);
    from_b[k] = no_b ^ ((no_b ^ static_cast<int32_t>(j)) & ~mask);
  }
  // Takes `n` slots of `source`, which may be the same; moves are towards the front.
  void Take(const MergedPlaces& source, int64_t from, int64_t to, int64_t n) const {
    std::copy(source.indices + from, source.indices + from + n, indices + to);
    std::copy(source.from_a + from, source.from_a + from + n, from_a + to);
    std::copy(source.from_b + from, source.from_b + from + n, from_b + to);
  }
  void Pad(int64_t n_cols, int64_t used, int64_t nse) const {
    std::fill(indices + used, indices + nse, static_cast<I>(n_cols));
    std::fill(from_a + used, from_a + nse, no_a);
    std::fill(from_b + used, from_b + nse, no_b);
  }
};

// What a merge writes when it computes a sum or a product.
//
//   indices  (nse)  as of MergedPlaces
//   data     (nse)  the values; zero for padding
//   a, b            the values of both matrices
template <bool kSum, typename V, typename I>
struct MergedValues {
  I* indices;
  V* data;
  const V* a;
  const V* b;

  static constexpr int64_t kSlotBytes = sizeof(I) + sizeof(V);

  MergedValues In(char* memory, int64_t room) const {
    // The wider ones first, so that all are aligned.
    constexpr bool wide = sizeof(V) >= sizeof(I);
    char* const rest = memory + room * static_cast<int64_t>(wide ? sizeof(V) : sizeof(I));
    return {reinterpret_cast<I*>(wide ? rest : memory), reinterpret_cast<V*>(wide ? memory : rest),
            a, b};
  }
  RAREFY_INLINE void Put(int64_t k, I column, int64_t i, int64_t j) const {
    indices[k] = column;
    data[k] = kSum ? a[i] + b[j] : a[i] * b[j];
  }
  RAREFY_INLINE void PutOne(int64_t k, I column, bool of_a, int64_t i, int64_t j) const {
    indices[k] = column;
    data[k] = *(of_a ? a + i : b + j);
  }
  void Take(const MergedValues& source, int64_t from, int64_t to, int64_t n) const {
    std::copy(source.indices + from, source.indices + from + n, indices + to);
    std::copy(source.data + from, source.data + from + n, data + to);
  }
  void Pad(int64_t n_cols, int64_t used, int64_t nse) const {
    std::fill(indices + used, indices + nse, static_cast<I>(n_cols));
    std::fill(data + used, data + nse, V{});
  }
};

// How many elements the merged row `row` has at most.
template <bool kBoth, typename I>
int64_t MostPlaces(const CsrPlaces<I>& a, const CsrPlaces<I>& b, int64_t row) {
  const int64_t in_a = std::max<int64_t>(a.End(row) - a.Begin(row), 0);
  const int64_t in_b = std::max<int64_t>(b.End(row) - b.Begin(row), 0);
  return kBoth ? std::min(in_a, in_b) : in_a + in_b;
}

// The merge of one row, under way: entries i of a and j of b come next, and slot k.
template <bool kBoth, typename I>
struct RowMerge {
  const I* a_columns;
  const I* b_columns;
  int64_t i, a_end, j, b_end, k;

  // Leaves out the padding, which comes last in a row or, if negative, first.
  RAREFY_INLINE RowMerge(const CsrPlaces<I>& a, const CsrPlaces<I>& b, int64_t n_cols, int64_t row,
                         int64_t slot)
      : a_columns(a.indices),
        b_columns(b.indices),
        i(a.Begin(row)),
        a_end(a.End(row)),
        j(b.Begin(row)),
        b_end(b.End(row)),
        k(slot) {
    while (i < a_end && a_columns[i] < 0) ++i;
    while (j < b_end && b_columns[j] < 0) ++j;
    while (i < a_end && static_cast<int64_t>(a_columns[a_end - 1]) >= n_cols) --a_end;
    while (j < b_end && static_cast<int64_t>(b_columns[b_end - 1]) >= n_cols) --b_end;
  }
  RAREFY_INLINE bool Runs() const { return i < a_end && j < b_end; }

  // Which column is less nobody could foresee, so that must not be a branch; whether they are equal
  // mostly can be.
  template <typename Sink>
  RAREFY_INLINE void Step(const Sink& out) {
    const I left = a_columns[i], right = b_columns[j];
    if (left == right) {
      out.Put(k++, left, i++, j++);
      return;
    }
    const bool of_a = left < right;
    if constexpr (!kBoth) out.PutOne(k++, of_a ? left : right, of_a, i, j);
    i += of_a;
    j += !of_a;
  }
  template <typename Sink>
  RAREFY_INLINE void Finish(const Sink& out) {
    while (Runs()) Step(out);
    if constexpr (kBoth) return;
    for (; i < a_end; ++i) out.PutOne(k++, a_columns[i], true, i, 0);
    for (; j < b_end; ++j) out.PutOne(k++, b_columns[j], false, 0, j);
  }
};

// A sink that has room before slot `end` only.
template <typename Sink>
struct UpTo {
  const Sink& out;
  int64_t end;

  template <typename I>
  void Put(int64_t k, I column, int64_t i, int64_t j) const {
    if (k < end) out.Put(k, column, i, j);
  }
  template <typename I>
  void PutOne(int64_t k, I column, bool of_a, int64_t i, int64_t j) const {
    if (k < end) out.PutOne(k, column, of_a, i, j);
  }
};

// Merges the rows from `first` to `last` of two matrices of equally many rows, whose columns ascend
// in each row without repeats; a column outside [0, n_cols) is padding, which comes last in its row
// or, if negative, first.
//
// kBoth: whether a place must be in both. The elements are written from slot `begin` of `out` on
// and before slot `end`; indptr[row + 1] gets the number of elements from `first` to the end of
// each row, those that are left out included. Returns their number. Cost O(entries of the rows).
template <bool kBoth, typename I, typename Sink>
int64_t CsrMergeRows(const CsrPlaces<I>& a, const CsrPlaces<I>& b, int64_t n_cols, int64_t first,
                     int64_t last, int64_t begin, int64_t end, const Sink& out, I* indptr) {
  const Sink o = out;  // by value: what is written cannot be it then
  int64_t k = begin;
  for (int64_t r = first; r < last; ++r) {
    const int64_t most = MostPlaces<kBoth>(a, b, r);
    RowMerge<kBoth, I> row(a, b, n_cols, r, k);
    if (k + most > end) {
      row.Finish(UpTo<Sink>{o, end});
    } else if (r + 1 < last && most >= 32 && k + most + MostPlaces<kBoth>(a, b, r + 1) <= end) {
      // A step waits for the one before it, but not for one of another row.
      RowMerge<kBoth, I> next(a, b, n_cols, r + 1, k + most);
      while (row.Runs() && next.Runs()) {
        row.Step(o);
        next.Step(o);
      }
      row.Finish(o);
      next.Finish(o);
      indptr[++r] = static_cast<I>(row.k - begin);
      const int64_t count = next.k - (k + most);
      o.Take(o, k + most, row.k, count);
      row.k += count;
    } else {
      row.Finish(o);
    }
    k = row.k;
    indptr[r + 1] = static_cast<I>(k - begin);
  }
  return k - begin;
}

// Leaves out the elements that are zero of what CsrMergeRows wrote for these rows, all of it;
// returns how many are left. Cost O(elements).
template <bool kSum, typename V, typename I>
int64_t DropZeros(const MergedValues<kSum, V, I>& out, int64_t first, int64_t last, int64_t begin,
                  int64_t count, I* indptr) {
  bool any = false;
  for (int64_t k = begin; k < begin + count; ++k) any |= out.data[k] == V{};
  if (!any) return count;
  int64_t k = begin, kept = begin;
  for (int64_t r = first; r < last; ++r) {
    for (const int64_t end = begin + static_cast<int64_t>(indptr[r + 1]); k < end; ++k) {
      if (out.data[k] == V{}) continue;
      out.indices[kept] = out.indices[k];
      out.data[kept++] = out.data[k];
    }
    indptr[r + 1] = static_cast<I>(kept - begin);
  }
  return kept - begin;
}

}  // namespace rarefy
