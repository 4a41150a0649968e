// Gather of rows from a table.
#pragma once

#include <cstdint>
#include <cstring>

namespace rarefy {

// out[i, :] = table[rows[i], :] for i in [begin, end); zero where rows[i] is outside [0, n).
//
//   table  (n, row_bytes)  rows of row_bytes bytes each
//   rows   (k)             any order, repeats allowed
//   out    (k, row_bytes)  must not alias the table
//
// Cost O(rows * row_bytes).
template <typename Index>
void TakeRows(const char* table, const Index* rows, int64_t n, int64_t row_bytes, int64_t begin,
              int64_t end, char* out) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t r = rows[i];
    char* o = out + i * row_bytes;
    if (r < 0 || r >= n) {
      std::memset(o, 0, row_bytes);
    } else {
      std::memcpy(o, table + r * row_bytes, row_bytes);
    }
  }
}

}  // namespace rarefy
