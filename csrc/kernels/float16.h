// The 16-bit floats as storage: two bytes in memory, float in arithmetic.
//
// Plain integer arithmetic, so that every compiler vectorises it and no instruction set is required.
// Nothing here relies on subnormal floats: XLA runs its threads with flush-to-zero switched on.
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

RAREFY_INLINE uint32_t FloatBits(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}

RAREFY_INLINE float FloatFromBits(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

RAREFY_INLINE float Widen(float x) { return x; }
RAREFY_INLINE double Widen(double x) { return x; }
RAREFY_INLINE float Widen(BFloat16 x) {
  return FloatFromBits(static_cast<uint32_t>(x.bits) << 16);
}
RAREFY_INLINE float Widen(Half x) {
  const uint32_t magnitude = x.bits & 0x7fffu;
  const uint32_t sign = static_cast<uint32_t>(x.bits & 0x8000u) << 16;
  const uint32_t shifted = magnitude << 13;
  // Normal numbers only change their exponent's bias. A subnormal is m * 2^-24: as the last bits of
  // a float in [2^-14, 2^-13) it is exact, and taking 2^-14 away leaves it.
  const uint32_t normal = shifted + ((127 - 15) << 23);
  const uint32_t subnormal =
      FloatBits(FloatFromBits(shifted + ((127 - 14) << 23)) - FloatFromBits((127 - 14) << 23));
  const uint32_t special = shifted | (255u << 23);  // infinity and NaN
  const uint32_t finite = magnitude < 0x0400u ? subnormal : normal;
  return FloatFromBits(sign | (magnitude >= 0x7c00u ? special : finite));
}

// Rounds to nearest, ties to even; NaN stays NaN.
template <typename T>
T Narrow(float x);
template <>
RAREFY_INLINE float Narrow<float>(float x) {
  return x;
}
template <>
RAREFY_INLINE BFloat16 Narrow<BFloat16>(float x) {
  const uint32_t bits = FloatBits(x);
  const uint32_t nan = (bits >> 16) | 0x0040u;
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return {static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded)};
}
template <>
RAREFY_INLINE Half Narrow<Half>(float x) {
  const uint32_t bits = FloatBits(x);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t out;
  if (magnitude > 0x7f800000u) {
    out = 0x7e00u;
  } else if (magnitude >= (127u + 16u) << 23) {  // 2^16 and more: infinity
    out = 0x7c00u;
  } else if (magnitude < (127u - 14u) << 23) {  // below the normal halves
    // Adding 0.5 leaves the value in units of 2^-24 in the last bits, rounded by the addition.
    out = FloatBits(FloatFromBits(magnitude) + 0.5f) - FloatBits(0.5f);
  } else {
    // The carry out of the fraction may raise the exponent, up to infinity: that is the rounding.
    out = (magnitude - ((127u - 15u) << 23) + 0x0fffu + ((magnitude >> 13) & 1u)) >> 13;
  }
  return {static_cast<uint16_t>(sign | out)};
}
template <typename T>
double Narrow(double x);
template <>
RAREFY_INLINE double Narrow<double>(double x) {
  return x;
}

}  // namespace rarefy
