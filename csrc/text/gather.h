// A random order, and rows of a ragged array in another order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace rarefy::text {

// The numbers [0, count) in an order that `seed` determines for all time: Fisher and Yates's
// shuffle driven by SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom
// number generators", 2014). Every order is as likely as any other, as far as 64 bits of seed go.
inline void Permutation(int64_t count, uint64_t seed, int64_t* order) {
  const auto next = [&seed] {
    uint64_t z = seed += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  };
  for (int64_t i = 0; i < count; ++i) order[i] = i;
  for (int64_t i = count; i > 1; --i) {
    // Numbers that would make the small remainders likelier are drawn again.
    const uint64_t bound = static_cast<uint64_t>(i);
    const uint64_t excess = (0 - bound) % bound;
    uint64_t random = next();
    while (random < excess) random = next();
    std::swap(order[i - 1], order[random % bound]);
  }
}

// Copies the segments `order[0..count)` of `values` to `out`, one after the other.
//
// Args:
//   starts: segment s is values[starts[s] .. starts[s + 1]), non-decreasing.
//   order: `count` segment numbers, all in range; repeats are fine.
//   ends: `count` numbers: where each segment ends in `out`. Written here.
//   out: room for all of them; must not overlap `values`.
//
// Cost: O(what is copied), at the speed of memory: later segments are fetched ahead.
template <typename T>
void GatherSegments(const int64_t* starts, const T* values, const int64_t* order, int64_t count,
                    int64_t* ends, T* out) {
  constexpr int64_t kAhead = 8;
  constexpr int64_t kLine = 64 / sizeof(T);  // elements of a cache line
  int64_t filled = 0;
  for (int64_t i = 0; i < count; ++i) {
#if defined(__GNUC__)
    if (i + kAhead < count) {
      const int64_t ahead = order[i + kAhead];
      const int64_t last = std::min(starts[ahead + 1], starts[ahead] + 4 * kLine);
      for (int64_t j = starts[ahead]; j < last; j += kLine) __builtin_prefetch(values + j);
    }
#endif
    const int64_t begin = starts[order[i]];
    const int64_t length = starts[order[i] + 1] - begin;
    if (length > 0)
      std::memcpy(out + filled, values + begin, static_cast<size_t>(length) * sizeof(T));
    filled += length;
    ends[i] = filled;
  }
}

}  // namespace rarefy::text
