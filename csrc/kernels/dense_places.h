// Where a dense matrix is not zero.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/float16.h"

namespace rarefy {

template <typename V>
inline bool IsNonzero(V value) {
  return value != V{};
}
inline bool IsNonzero(Half value) { return Widen(value) != 0.0f; }
inline bool IsNonzero(BFloat16 value) { return Widen(value) != 0.0f; }

// How many of `n` values are not zero.
template <typename V>
int64_t CountNonzero(const V* values, int64_t n) {
  int64_t count = 0;
  for (int64_t begin = 0; begin < n; begin += 4096) {
    int32_t here = 0;  // as wide as the values, so that the loop fills vectors
    const int64_t end = std::min(begin + 4096, n);
    for (int64_t j = begin; j < end; ++j) here += IsNonzero(values[j]);
    count += here;
  }
  return count;
}

// Writes the positions of the first `room` of `n` values that are not zero, ascending.
//
//   out  (room)
//
// Cost O(n): blocks of zeros are skipped whole.
template <typename V, typename I>
void WriteNonzero(const V* values, int64_t n, int64_t room, I* out) {
  constexpr int64_t kBlock = 16;
  int64_t k = 0;
  for (int64_t begin = 0; begin < n && k < room; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, n);
    bool any = false;
    if (end - begin == kBlock) {
      for (int64_t j = 0; j < kBlock; ++j) any |= IsNonzero(values[begin + j]);
      if (!any) continue;
    }
    for (int64_t j = begin; j < end && k < room; ++j) {
      out[k] = static_cast<I>(j);
      k += IsNonzero(values[j]);
    }
  }
}

}  // namespace rarefy
