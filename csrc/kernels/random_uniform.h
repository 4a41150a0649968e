// Uniform random numbers, each a function of a key and of its place.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/float16.h"
#include "kernels/simd.h"

namespace rarefy {

// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3; SC 2011):
// four words for a counter of four words, of which two are used here, and a key of two.
//
// Computes the blocks with the counters (first + l, 0, 0, 0) for l in [0, kBlocks) at a time: so
// many that the compiler makes vector loops of it, and few enough to stay in the first-level cache.
constexpr int64_t kBlocks = 32;

RAREFY_INLINE void Philox(uint32_t key0, uint32_t key1, uint32_t first,
                          uint32_t (&word)[4][kBlocks]) {
  uint32_t high0[kBlocks], high2[kBlocks];
  for (uint32_t l = 0; l < kBlocks; ++l) {
    word[0][l] = first + l;
    word[1][l] = word[2][l] = word[3][l] = 0;
  }
  for (int round = 0; round < 10; ++round) {
    for (int64_t l = 0; l < kBlocks; ++l)
      high0[l] = static_cast<uint32_t>((uint64_t{0xd2511f53u} * word[0][l]) >> 32);
    for (int64_t l = 0; l < kBlocks; ++l)
      high2[l] = static_cast<uint32_t>((uint64_t{0xcd9e8d57u} * word[2][l]) >> 32);
    for (int64_t l = 0; l < kBlocks; ++l) {
      const uint32_t low0 = 0xd2511f53u * word[0][l], low2 = 0xcd9e8d57u * word[2][l];
      word[0][l] = high2[l] ^ word[1][l] ^ key0;
      word[1][l] = low2;
      word[2][l] = high0[l] ^ word[3][l] ^ key1;
      word[3][l] = low0;
    }
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
}

// Elements of type V that kBlocks blocks make: one for each word, or for two words where V has 53
// bits.
template <typename V>
constexpr int64_t kUniformChunk = kBlocks * 16 / static_cast<int64_t>(sizeof(Accumulator<V>));

// Writes elements [begin, end), begin a multiple of kUniformChunk<V>: u * scale + low, at most
// `top`, where u in [0, 1) has the leading 24 (double: 53) bits of its word (two words).
//
//   out  from element 0 on
//
// Element kUniformChunk * c + kBlocks * w + l comes from word w (double: words 2w and 2w + 1) of
// block kBlocks * c + l. Cost O(end - begin).
template <typename V>
struct RandomUniform {
  static RAREFY_INLINE void Run(uint32_t key0, uint32_t key1, Accumulator<V> low,
                                Accumulator<V> scale, Accumulator<V> top, int64_t begin,
                                int64_t end, V* out) {
    using A = Accumulator<V>;
    constexpr int64_t chunk = kUniformChunk<V>;
    for (int64_t e = begin; e < end; e += chunk) {
      uint32_t word[4][kBlocks];
      Philox(key0, key1, static_cast<uint32_t>(e / chunk * kBlocks), word);
      A u[chunk];
      if constexpr (sizeof(A) == 4) {
        for (int64_t i = 0; i < chunk; ++i)
          u[i] = static_cast<A>(static_cast<int32_t>(word[i / kBlocks][i % kBlocks] >> 8)) *
                 A(0x1p-24);
      } else {
        for (int64_t w = 0; w < 2; ++w) {
          for (int64_t l = 0; l < kBlocks; ++l)
            u[w * kBlocks + l] = static_cast<A>(word[2 * w][l]) * A(0x1p-32) +
                                 static_cast<A>(word[2 * w + 1][l] >> 11) * A(0x1p-53);
        }
      }
      if (e + chunk <= end) {
        for (int64_t i = 0; i < chunk; ++i)
          out[e + i] = Narrow<V>(std::min(u[i] * scale + low, top));
      } else {
        for (int64_t i = 0; i < end - e; ++i)
          out[e + i] = Narrow<V>(std::min(u[i] * scale + low, top));
      }
    }
  }
};

}  // namespace rarefy
