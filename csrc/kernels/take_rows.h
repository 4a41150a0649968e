// Gather of rows from a table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/simd.h"

namespace rarefy {

// out[i, :] = table[rows[i], :] for i in [begin, end); zero where rows[i] is outside [0, n).
//
//   table  (n, row_bytes)  rows of row_bytes > 0 bytes each
//   rows   (k)             any order, repeats allowed
//   out    (k, row_bytes)  written for the given rows only; must not alias the inputs
//
// kRowBytes is row_bytes where the compiler should know it, and 0 for any other number.
//
// Cost O(rows * row_bytes). Rows are fetched some way ahead, as they lie apart in memory.
template <typename I, int64_t kRowBytes>
struct TakeRows {
  static RAREFY_INLINE void Run(const char* table, const I* rows, int64_t n, int64_t any_row_bytes,
                                int64_t begin, int64_t end, char* out) {
    const int64_t row_bytes = kRowBytes > 0 ? kRowBytes : any_row_bytes;
    // Some 32 cache lines under way, which is about what a core can wait for.
    const int64_t ahead = std::clamp<int64_t>(32 * 64 / row_bytes, 2, 32);
    const int64_t fetched = std::min<int64_t>(row_bytes, 16 * 64);  // the rest streams in by itself
    for (int64_t i = begin; i < end; ++i) {
      if (i + ahead < end) {
        const int64_t offset = static_cast<int64_t>(rows[i + ahead]) * row_bytes;
        for (int64_t byte = 0; byte < fetched; byte += 64) Prefetch(table, offset + byte);
      }
      const int64_t r = static_cast<int64_t>(rows[i]);
      char* to = out + i * row_bytes;
      if (static_cast<uint64_t>(r) < static_cast<uint64_t>(n)) {
        Copy(table + r * row_bytes, row_bytes, to);
      } else {
        std::memset(to, 0, static_cast<size_t>(row_bytes));
      }
    }
  }

 private:
  // Short rows do not repay a call of memcpy.
  static RAREFY_INLINE void Copy(const char* from, int64_t bytes, char* to) {
    if constexpr (kRowBytes > 0) {
      std::memcpy(to, from, static_cast<size_t>(kRowBytes));
    } else if (bytes < kVectorBytes) {
      for (int64_t b = 0; b < bytes; b += 2) std::memcpy(to + b, from + b, 2);  // whole values
    } else if (bytes > 64 * kVectorBytes) {
      std::memcpy(to, from, static_cast<size_t>(bytes));
    } else {
      int64_t b = 0;
      for (; b + kVectorBytes <= bytes; b += kVectorBytes)
        std::memcpy(to + b, from + b, kVectorBytes);
      if (b < bytes) {  // over again what the last whole vector has in common
        std::memcpy(to + bytes - kVectorBytes, from + bytes - kVectorBytes, kVectorBytes);
      }
    }
  }
};

}  // namespace rarefy
