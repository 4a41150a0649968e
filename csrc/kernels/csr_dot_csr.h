// The product of two CSR matrices: where its elements are, what they are, and its derivatives.
#pragma once

#include <algorithm>
#include <cstdint>

namespace rarefy {

// The places of a CSR matrix.
//
//   indices  (nse)       the column of each entry; any order, repeats allowed
//   indptr   (rows + 1)  non-decreasing; positions are cut to [0, nse]
template <typename I>
struct CsrPlaces {
  const I* indices;
  const I* indptr;
  int64_t rows;
  int64_t nse;

  int64_t Begin(int64_t row) const {
    return std::min(std::max<int64_t>(static_cast<int64_t>(indptr[row]), 0), nse);
  }
  int64_t End(int64_t row) const {
    return std::min(std::max<int64_t>(static_cast<int64_t>(indptr[row + 1]), 0), nse);
  }
};

// Both operands; an entry of a whose column is outside [0, b.rows) and one of b whose column is
// outside [0, columns) is padding.
template <typename I>
struct CsrPair {
  CsrPlaces<I> a;
  CsrPlaces<I> b;
  int64_t columns;

  // The row of b that an entry of a names, or another one for padding; 0 if b has none.
  int64_t Row(int64_t e) const {
    return std::clamp<int64_t>(static_cast<int64_t>(a.indices[e]), 0,
                               std::max<int64_t>(b.rows - 1, 0));
  }

  // Calls f(entry of a, entry of b, column) for every pair that meets in `row` of the product.
  template <typename F>
  void ForRow(int64_t row, const F& f) const {
    const int64_t end = a.End(row);
    for (int64_t e = a.Begin(row); e < end; ++e) {
      const auto k = static_cast<int64_t>(a.indices[e]);
      if (static_cast<uint64_t>(k) >= static_cast<uint64_t>(b.rows)) continue;
      const int64_t stop = b.End(k);
      for (int64_t g = b.Begin(k); g < stop; ++g) {
        const auto j = static_cast<int64_t>(b.indices[g]);
        if (static_cast<uint64_t>(j) < static_cast<uint64_t>(columns)) f(e, g, j);
      }
    }
  }
};

// How many pairs meet in row r of the product, padding included. Cost O(entries of the row).
//
// The rows of b lie anywhere, so those of later entries of a, and their `values`, are fetched
// ahead.
template <typename I, typename V = char>
int64_t PairsOf(const CsrPair<I>& p, int64_t r, const V* values = nullptr) {
  constexpr int64_t kAhead = 12;
  int64_t pairs = 0;
  for (int64_t e = p.a.Begin(r), end = p.a.End(r); e < end; ++e) {
    if (e + 2 * kAhead < p.a.nse) {
      __builtin_prefetch(p.b.indptr + p.Row(e + 2 * kAhead));
      const int64_t first = p.b.Begin(p.Row(e + kAhead));
      __builtin_prefetch(p.b.indices + first);
      if (values != nullptr) __builtin_prefetch(values + first);
    }
    const auto k = static_cast<int64_t>(p.a.indices[e]);
    if (static_cast<uint64_t>(k) < static_cast<uint64_t>(p.b.rows))
      pairs += std::max<int64_t>(p.b.End(k) - p.b.Begin(k), 0);
  }
  return pairs;
}

// Whether so many pairs make a row of the product in which a pass over all columns pays.
inline bool IsWide(int64_t pairs, int64_t columns) { return 4 * pairs >= columns; }

// Up to so many pairs to a row are put in order at once, which reads nothing as long as the
// columns.
constexpr int64_t kFewPairs = 16;

// A row of few pairs: its elements, ascending.
template <typename V, typename I>
struct FewElements {
  I columns[kFewPairs];
  V values[kFewPairs];
  int64_t count = 0;

  void Add(I column, V value) {
    int64_t at = count;
    while (at > 0 && columns[at - 1] > column) --at;
    if (at > 0 && columns[at - 1] == column) {
      values[at - 1] += value;
      return;
    }
    for (int64_t i = count++; i > at; --i) {
      columns[i] = columns[i - 1];
      values[i] = values[i - 1];
    }
    columns[at] = column;
    values[at] = V{} + value;
  }
};

// How many columns have the mark. Cost O(columns), some to an instruction.
template <typename I>
int64_t Marked(const I* seen, I mark, int64_t columns) {
  int64_t count = 0;
  for (int64_t first = 0; first < columns; first += 4096) {
    int32_t here = 0;
    for (int64_t j = first, end = std::min(first + 4096, columns); j < end; ++j)
      here += seen[j] == mark;
    count += here;
  }
  return count;
}

// counts[r] = how many distinct columns row r of the product has, for r in [begin, end).
//
//   seen    (columns)  working memory; each value must differ from all r + 1
//
// Cost O(pairs). Source: Gustavson, Two Fast Algorithms for Sparse Matrices (1978).
template <typename I>
void CsrDotCsrCount(const CsrPair<I>& p, int64_t begin, int64_t end, I* seen, I* counts) {
  for (int64_t r = begin; r < end; ++r) {
    const I mark = static_cast<I>(r + 1);
    const int64_t pairs = PairsOf(p, r);
    int64_t count = 0;
    if (pairs <= 1) {
      p.ForRow(r, [&](int64_t, int64_t, int64_t) { ++count; });
    } else if (pairs <= kFewPairs) {
      FewElements<int8_t, I> few;
      p.ForRow(r, [&](int64_t, int64_t, int64_t j) { few.Add(static_cast<I>(j), int8_t{0}); });
      count = few.count;
    } else if (IsWide(pairs, p.columns)) {
      p.ForRow(r, [&](int64_t, int64_t, int64_t j) { seen[j] = mark; });
      count = Marked(seen, mark, p.columns);
    } else {
      p.ForRow(r, [&](int64_t, int64_t, int64_t j) {
        count += seen[j] != mark;
        seen[j] = mark;
      });
    }
    counts[r] = static_cast<I>(count);
  }
}

// How many words hold a bit for each column.
inline int64_t BitWords(int64_t columns) { return columns / 64 + 1; }

// Sorts `count` distinct columns of a row.
//
//   bits  (BitWords(columns))  working memory, zeros; zeros again afterwards
//
// Cost O(count + columns / 64) or O(count * log(count)), whichever is less.
template <typename I>
void SortRow(I* row, int64_t count, uint64_t* bits, int64_t columns) {
  if (count < 8) {
    for (int64_t i = 1; i < count; ++i) {
      const I column = row[i];
      int64_t j = i;
      for (; j > 0 && row[j - 1] > column; --j) row[j] = row[j - 1];
      row[j] = column;
    }
  } else if (count * 512 > columns) {
    for (int64_t i = 0; i < count; ++i) bits[row[i] / 64] |= uint64_t{1} << (row[i] % 64);
    for (int64_t w = 0, n = 0; n < count; ++w) {
      for (uint64_t word = bits[w]; word != 0; word &= word - 1)
        row[n++] = static_cast<I>(64 * w + __builtin_ctzll(word));
      bits[w] = 0;
    }
  } else {
    std::sort(row, row + count);
  }
}

// Writes the distinct columns of row r of the product, ascending, for r in [begin, end).
//
//   seen     (columns)  working memory; each value must differ from all -(r + 1)
//   row      (columns + 1)  working memory
//   bits     (BitWords(columns))  working memory, zeros; zeros again afterwards
//   indptr   (rows + 1) of the product; a row gets what is between, its first columns
//   indices             of the product
//
// Cost O(pairs + elements * log of those in a row).
template <typename I>
void CsrDotCsrFill(const CsrPair<I>& p, int64_t begin, int64_t end, I* seen, I* row, uint64_t* bits,
                   const I* indptr, I* indices) {
  for (int64_t r = begin; r < end; ++r) {
    const auto first = static_cast<int64_t>(indptr[r]), last = static_cast<int64_t>(indptr[r + 1]);
    if (first == last) continue;
    const I mark = static_cast<I>(-(r + 1));
    int64_t count = 0;
    p.ForRow(r, [&](int64_t, int64_t, int64_t j) {
      row[count] = static_cast<I>(j);
      count += seen[j] != mark;
      seen[j] = mark;
    });
    SortRow(row, count, bits, p.columns);
    std::copy(row, row + std::min(count, last - first), indices + first);
  }
}

// The rows [begin, end) of the product, places and values at once.
//
//   a (a.nse), b (b.nse)  values
//   sums, seen, row  (columns), (columns), (columns + 1)  working memory
//   bits     (BitWords(columns))  working memory
//   clear    clear() makes zeros of `seen` and `bits`, which not all matrices need
//   place    place(r, count) tells where the `count` elements of row r go and how many there is
//            room for: a pair (first, room)
//   data, indices    of the product; `stride` numbers an element: its column, or, if it is 2, its
//            row and column
//
// Cost O(pairs + elements * log of those in a row). Sums run in the order of a's entries.
// Source: Gustavson, Two Fast Algorithms for Sparse Matrices (1978).
template <typename V, typename I, typename Place, typename Clear>
void CsrDotCsrRows(const CsrPair<I>& p, const V* a, const V* b, int64_t begin, int64_t end, V* sums,
                   I* seen, I* row, uint64_t* bits, const Clear& clear, const Place& place,
                   int64_t stride, V* data, I* indices) {
  bool is_clear = false;
  for (int64_t r = begin; r < end; ++r) {
    const I mark = static_cast<I>(r + 1);
    const int64_t pairs = PairsOf(p, r, b);
    if (pairs <= kFewPairs) {
      FewElements<V, I> few;
      p.ForRow(r,
               [&](int64_t e, int64_t f, int64_t j) { few.Add(static_cast<I>(j), a[e] * b[f]); });
      const auto [first, room] = place(r, few.count);
      for (int64_t i = 0; i < room; ++i) {
        data[first + i] = few.values[i];
        if (stride == 2) indices[2 * (first + i)] = static_cast<I>(r);
        indices[stride * (first + i) + stride - 1] = few.columns[i];
      }
      continue;
    }
    if (!is_clear) clear();
    is_clear = true;
    int64_t count = 0;
    if (IsWide(pairs, p.columns)) {
      std::fill(sums, sums + p.columns, V{});
      p.ForRow(r, [&](int64_t e, int64_t f, int64_t j) {
        sums[j] += a[e] * b[f];
        seen[j] = mark;
      });
      const auto [first, room] = place(r, Marked(seen, mark, p.columns));
      // Every step writes, which costs less than to foresee which columns there are.
      for (int64_t j = 0, g = first; g < first + room; ++j) {
        data[g] = sums[j];
        if (stride == 2) indices[2 * g] = static_cast<I>(r);
        indices[stride * g + stride - 1] = static_cast<I>(j);
        g += seen[j] == mark;
      }
      continue;
    }
    p.ForRow(r, [&](int64_t e, int64_t f, int64_t j) {
      const bool known = seen[j] == mark;
      sums[j] = (known ? sums[j] : V{}) + a[e] * b[f];
      row[count] = static_cast<I>(j);
      count += !known;
      seen[j] = mark;
    });
    const auto [first, room] = place(r, count);
    if (room > 0) SortRow(row, count, bits, p.columns);
    for (int64_t i = 0; i < room; ++i) {
      const int64_t g = first + i;
      data[g] = sums[row[i]];
      if (stride == 2) indices[2 * g] = static_cast<I>(r);
      indices[stride * g + stride - 1] = row[i];
    }
  }
}

// c[g] = sum over the pairs that meet in the place of g, for g in the rows [begin, end) of c.
//
//   a (a.nse), b (b.nse)  values
//   c        places of the product, without repeats; pairs that meet elsewhere are left out
//   sums     (columns)  working memory
//   out      (c.nse)    written for the entries of the given rows
//
// Cost O(pairs + elements). Sums run in the order of a's entries.
template <typename V, typename I>
void CsrDotCsrValues(const CsrPair<I>& p, const V* a, const V* b, const CsrPlaces<I>& c,
                     int64_t begin, int64_t end, V* sums, V* out) {
  for (int64_t r = begin; r < end; ++r) {
    const int64_t first = c.Begin(r), last = c.End(r);
    for (int64_t g = first; g < last; ++g) sums[c.indices[g]] = V{};
    p.ForRow(r, [&](int64_t e, int64_t f, int64_t j) { sums[j] += a[e] * b[f]; });
    for (int64_t g = first; g < last; ++g) out[g] = sums[c.indices[g]];
  }
}

// out[e] = sum of b * c over the pairs of the entry e of a, for the rows [begin, end) of a.
//
//   b (b.nse), c (c.nse)  values
//   row      (columns)  working memory, zeros; zeros again afterwards
//   out      (a.nse)    must be zero where e belongs to no row; written for the given rows
//
// Cost O(pairs + elements).
template <typename V, typename I>
void CsrDotCsrLeft(const CsrPair<I>& p, const V* b, const CsrPlaces<I>& places, const V* c,
                   int64_t begin, int64_t end, V* row, V* out) {
  for (int64_t r = begin; r < end; ++r) {
    const int64_t first = places.Begin(r), last = places.End(r);
    for (int64_t g = first; g < last; ++g) row[places.indices[g]] = c[g];
    for (int64_t e = p.a.Begin(r); e < p.a.End(r); ++e) out[e] = V{};
    p.ForRow(r, [&](int64_t e, int64_t f, int64_t j) { out[e] += b[f] * row[j]; });
    for (int64_t g = first; g < last; ++g) row[places.indices[g]] = V{};
  }
}

// out[f] += sum of a * c over the pairs of the entry f of b, for the rows [begin, end) of b.
//
//   a (a.nse), c (c.nse)  values
//   row      (columns)  working memory, zeros; zeros again afterwards
//   out      (b.nse)    zeros; written for the entries of the given rows
//
// Cost O(pairs of these rows + entries of a + elements). Sums run in the order of a's entries.
template <typename V, typename I>
void CsrDotCsrRight(const CsrPair<I>& p, const V* a, const CsrPlaces<I>& places, const V* c,
                    int64_t begin, int64_t end, V* row, V* out) {
  for (int64_t r = 0; r < p.a.rows; ++r) {
    const int64_t first = places.Begin(r), last = places.End(r);
    bool filled = false;
    for (int64_t e = p.a.Begin(r), stop = p.a.End(r); e < stop; ++e) {
      const auto k = static_cast<int64_t>(p.a.indices[e]);
      if (k < begin || k >= end) continue;
      if (!filled)
        for (int64_t g = first; g < last; ++g) row[places.indices[g]] = c[g];
      filled = true;
      for (int64_t f = p.b.Begin(k), till = p.b.End(k); f < till; ++f) {
        const auto j = static_cast<int64_t>(p.b.indices[f]);
        if (static_cast<uint64_t>(j) < static_cast<uint64_t>(p.columns)) out[f] += a[e] * row[j];
      }
    }
    if (filled)
      for (int64_t g = first; g < last; ++g) row[places.indices[g]] = V{};
  }
}

}  // namespace rarefy
