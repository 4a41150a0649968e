// The 16-bit floats as storage: two bytes in memory, float in arithmetic.
//
// Plain integer arithmetic, so that every compiler vectorises it and no instruction set is
// required. Nothing here relies on subnormal floats: XLA runs its threads with flush-to-zero
// switched on.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/simd.h"

namespace rarefy {

// IEEE binary16.
struct Half {
  uint16_t bits;
};

// The upper half of an IEEE binary32.
struct BFloat16 {
  uint16_t bits;
};

// The type that values of type T are summed in.
template <typename T>
using Accumulator = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <typename To, typename From>
RAREFY_INLINE To BitCast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

// The bits of a binary16, in the low half of a word, as those of the equal binary32. Word is
// uint32_t or a vector of them, Real the float type of its size.
//
// Normal numbers only change their exponent's bias. A subnormal is m * 2^-24: as the last bits of a
// float in [2^-14, 2^-13) it is exact, and taking 2^-14 away leaves it.
template <typename Word, typename Real>
RAREFY_INLINE Real WidenHalf(const Word& half) {
  const Word magnitude = half & 0x7fffu;
  const Word fraction = magnitude << 13;
  const Word normal = fraction + ((127u - 15u) << 23);
  const Real small = BitCast<Real>(fraction + ((127u - 14u) << 23)) - 0x1p-14f;
  const Word subnormal = BitCast<Word>(small);
  const Word special = fraction | (255u << 23);  // infinity and NaN
  const Word is_subnormal = Word{} - ((magnitude - 0x0400u) >> 31);
  const Word is_special = Word{} - ((0x7bffu - magnitude) >> 31);
  const Word bits =
      (subnormal & is_subnormal) | (special & is_special) | (normal & ~(is_subnormal | is_special));
  return BitCast<Real>(bits | ((half & 0x8000u) << 16));
}

RAREFY_INLINE float Widen(float x) { return x; }
RAREFY_INLINE double Widen(double x) { return x; }
RAREFY_INLINE float Widen(BFloat16 x) {
  return BitCast<float>(static_cast<uint32_t>(x.bits) << 16);
}
RAREFY_INLINE float Widen(Half x) { return WidenHalf<uint32_t, float>(x.bits); }

// Rounds to nearest, ties to even; NaN stays NaN.
template <typename T>
RAREFY_INLINE T Narrow(Accumulator<T> x) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    const uint32_t bits = BitCast<uint32_t>(x);
    const uint32_t nan = (bits >> 16) | 0x0040u;
    const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    return {static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded)};
  } else if constexpr (std::is_same_v<T, Half>) {
    const uint32_t bits = BitCast<uint32_t>(x);
    const uint32_t magnitude = bits & 0x7fffffffu;
    uint32_t half;
    if (magnitude > 0x7f800000u) {
      half = 0x7e00u;
    } else if (magnitude >= (127u + 16u) << 23) {  // 2^16 and more: infinity
      half = 0x7c00u;
    } else if (magnitude < (127u - 14u) << 23) {  // below the normal halves
      // The sum has the value in units of 2^-24 as its last bits, rounded by the addition.
      half = BitCast<uint32_t>(BitCast<float>(magnitude) + 0.5f) - BitCast<uint32_t>(0.5f);
    } else {
      // A carry out of the fraction raises the exponent, up to infinity, as rounding should.
      half = (magnitude - ((127u - 15u) << 23) + 0x0fffu + ((magnitude >> 13) & 1u)) >> 13;
    }
    return {static_cast<uint16_t>(((bits >> 16) & 0x8000u) | half)};
  } else {
    return x;
  }
}

// The kLanes<Accumulator<T>> values from p on, not aligned, as a vector of accumulators.
template <typename T>
RAREFY_INLINE Vector<Accumulator<T>> LoadVector(const T* p) {
  if constexpr (std::is_same_v<T, Accumulator<T>>) {
    Vector<T> v;
    std::memcpy(&v, p, sizeof(v));
    return v;
  } else {
    typedef uint16_t Packed __attribute__((vector_size(kVectorBytes / 2)));
    Packed packed;
    std::memcpy(&packed, p, sizeof(packed));
    const auto words = __builtin_convertvector(packed, Vector<uint32_t>);
    if constexpr (std::is_same_v<T, Half>) {
      return WidenHalf<Vector<uint32_t>, Vector<float>>(words);
    } else {
      return BitCast<Vector<float>>(words << 16);
    }
  }
}

// The first `count` of them, zeros after; reads no further.
template <typename T>
RAREFY_INLINE Vector<Accumulator<T>> LoadVector(const T* p, int64_t count) {
  Vector<Accumulator<T>> v{};
  for (int64_t i = 0; i < count; ++i) v[i] = Widen(p[i]);
  return v;
}

// Writes all lanes of v to p, not aligned.
template <typename T>
RAREFY_INLINE void StoreVector(const Vector<T>& v, T* p) {
  std::memcpy(p, &v, sizeof(v));
}

}  // namespace rarefy
