// Between coordinates and compressed rows, and from rows to columns.
#pragma once

#include <algorithm>
#include <cstdint>

namespace rarefy {

// Columns and row starts of coordinates that are sorted by row.
//
//   indices  (nse, 2)    coordinates; `row_axis` tells which of the two is the row. Rows ascend;
//                        an entry with a coordinate out of range is padding
//   columns  (nse)       written for the entries [begin, end); n_cols for padding
//   indptr   (rows + 1)  where each row begins: written for the rows after that of entry begin - 1,
//                        up to that of entry end - 1, and to the last one where end == nse
//
// Memory is safe, but indptr wrong, where rows do not ascend. Cost O(end - begin + rows written).
template <typename I>
void CooToCsr(const I* indices, int64_t nse, int64_t row_axis, int64_t rows, int64_t n_cols,
              int64_t begin, int64_t end, I* columns, I* indptr) {
  const auto row_of = [=](int64_t e) {
    return std::clamp<int64_t>(static_cast<int64_t>(indices[2 * e + row_axis]), 0, rows);
  };
  int64_t next = begin == 0 ? 0 : row_of(begin - 1) + 1;
  for (int64_t e = begin; e < end; ++e) {
    const auto row = static_cast<int64_t>(indices[2 * e + row_axis]);
    const auto column = static_cast<int64_t>(indices[2 * e + 1 - row_axis]);
    const bool real = static_cast<uint64_t>(row) < static_cast<uint64_t>(rows) &&
                      static_cast<uint64_t>(column) < static_cast<uint64_t>(n_cols);
    columns[e] = static_cast<I>(real ? column : n_cols);
    for (const int64_t here = std::clamp<int64_t>(row, 0, rows); next <= here; ++next)
      indptr[next] = static_cast<I>(e);
  }
  if (end == nse)
    for (; next <= rows; ++next) indptr[next] = static_cast<I>(nse);
}

// Coordinates of the slots [begin, end) of a CSR matrix.
//
//   indices  (nse)       columns; one outside [0, n_cols) is padding and becomes n_cols
//   indptr   (rows + 1)  non-decreasing; slots that belong to no row get row `rows`, column n_cols
//   out      (nse, 2)    written for the given slots
//
// Cost O(end - begin + rows among them).
template <typename I>
void CsrToCoo(const I* indices, const I* indptr, int64_t rows, int64_t n_cols, int64_t begin,
              int64_t end, I* out) {
  const auto first = static_cast<int64_t>(indptr[0]), last = static_cast<int64_t>(indptr[rows]);
  const auto pad = [=](int64_t from, int64_t to) {
    for (int64_t s = from; s < to; ++s) {
      out[2 * s] = static_cast<I>(rows);
      out[2 * s + 1] = static_cast<I>(n_cols);
    }
  };
  int64_t s = std::max(begin, std::min(first, end));
  pad(begin, s);
  const int64_t stop = std::max(s, std::min(last, end));
  int64_t row = std::upper_bound(indptr + 1, indptr + rows + 1, static_cast<I>(s)) - (indptr + 1);
  for (; s < stop && row < rows; ++row) {
    const int64_t till = std::min(static_cast<int64_t>(indptr[row + 1]), stop);
    for (; s < till; ++s) {
      const auto column = static_cast<int64_t>(indices[s]);
      const bool real = static_cast<uint64_t>(column) < static_cast<uint64_t>(n_cols);
      out[2 * s] = static_cast<I>(row);
      out[2 * s + 1] = static_cast<I>(real ? column : n_cols);
    }
  }
  pad(s, end);
}

// The transpose of a CSR matrix: its entries by column, those of a column in their order.
//
//   indices  (nse)          columns; any order, repeats allowed; one outside [0, n_cols) is padding
//   indptr   (rows + 1)     non-decreasing; slots that belong to no row are padding
//   out_rows (nse)          the row of each entry of the result; `rows` for padding, which is last
//   order    (nse)          the slot that each entry comes from: a permutation
//   starts   (n_cols + 1)   where each column begins in the result
//
// Cost O(nse + rows + n_cols): a counting sort. nse < 2^31.
template <typename I>
void CsrTranspose(const I* indices, const I* indptr, int64_t rows, int64_t nse, int64_t n_cols,
                  I* out_rows, int32_t* order, I* starts) {
  const auto real = [=](int64_t e) {
    return static_cast<uint64_t>(static_cast<int64_t>(indices[e])) < static_cast<uint64_t>(n_cols);
  };
  // Bounds that never overlap, whatever indptr holds, so that no slot counts twice.
  const int64_t first = std::clamp<int64_t>(static_cast<int64_t>(indptr[0]), 0, nse);
  const int64_t last = std::clamp<int64_t>(static_cast<int64_t>(indptr[rows]), first, nse);
  std::fill(starts, starts + n_cols + 1, I{0});
  for (int64_t e = first; e < last; ++e)
    if (real(e)) ++starts[indices[e] + 1];
  for (int64_t c = 0; c < n_cols; ++c) starts[c + 1] = static_cast<I>(starts[c + 1] + starts[c]);
  auto tail = static_cast<int64_t>(starts[n_cols]);
  const auto pad = [&](int64_t e) {
    out_rows[tail] = static_cast<I>(rows);
    order[tail++] = static_cast<int32_t>(e);
  };
  for (int64_t e = 0; e < first; ++e) pad(e);
  int64_t e = first;
  for (int64_t r = 0; r < rows && e < last; ++r) {
    // The last row takes what a falling indptr would leave over.
    const int64_t end =
        r + 1 == rows ? last : std::min<int64_t>(static_cast<int64_t>(indptr[r + 1]), last);
    for (; e < end; ++e) {
      if (!real(e)) {
        pad(e);
        continue;
      }
      const I to = starts[indices[e]]++;
      out_rows[to] = static_cast<I>(r);
      order[to] = static_cast<int32_t>(e);
    }
  }
  for (; e < nse; ++e) pad(e);
  // Each start has moved to the next one's place.
  std::copy_backward(starts, starts + n_cols, starts + n_cols + 1);
  starts[0] = 0;
}

// A transpose in chunks of rows: each counts its entries by column, then moves them where the
// counts of all say. Several chunks may run at once, and their number does not change the result.
//
//   data     (nse)        values, moved as bits
//   indices, indptr       as of CsrTranspose; entries of a chunk are those of its rows
template <typename V, typename I>
struct CsrTurn {
  const V* data;
  const I* indices;
  const I* indptr;
  int64_t nse;
  int64_t n_cols;

  int64_t Position(int64_t row) const {
    return std::clamp<int64_t>(static_cast<int64_t>(indptr[row]), 0, nse);
  }
  bool IsReal(int64_t e) const {
    return static_cast<uint64_t>(static_cast<int64_t>(indices[e])) < static_cast<uint64_t>(n_cols);
  }

  // counts[c] = the number of entries with column c in the rows [first, last). Cost O(entries +
  // n_cols).
  void Count(int64_t first, int64_t last, I* counts) const {
    std::fill(counts, counts + n_cols, I{0});
    const int64_t end = Position(last);
    for (int64_t e = Position(first); e < end; ++e)
      if (IsReal(e)) ++counts[indices[e]];
  }
  // counts (chunks, n_cols): the numbers of entries become the places of the first ones. Cost
  // O(chunks * n_cols).
  void Place(int64_t chunks, I* counts, I* starts) const {
    I at = 0;
    for (int64_t c = 0; c < n_cols; ++c) {
      starts[c] = at;
      for (int64_t chunk = 0; chunk < chunks; ++chunk) {
        I& here = counts[chunk * n_cols + c];
        at = static_cast<I>(at + here);
        here = static_cast<I>(at - here);
      }
    }
    starts[n_cols] = at;
  }
  // next (n_cols): where the next entry of each column belongs; counts on. Cost O(entries).
  void Move(int64_t first, int64_t last, I* next, V* values, I* rows) const {
    // The entries that Count saw, whatever indptr holds.
    int64_t e = Position(first);
    const int64_t stop = Position(last);
    for (int64_t r = first; r < last; ++r) {
      const int64_t end = r + 1 == last ? stop : std::min(Position(r + 1), stop);
      for (; e < end; ++e) {
        if (!IsReal(e)) continue;
        const I to = next[indices[e]]++;
        values[to] = data[e];
        rows[to] = static_cast<I>(r);
      }
    }
  }
};

}  // namespace rarefy
