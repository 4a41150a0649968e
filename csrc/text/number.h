// Decimal numbers to binary ones: exact integers, and floats rounded to nearest, ties to even.
//
// All functions read ahead: kPadding bytes after the end of the text must be readable. What they
// hold does not matter, because a newline ends every number (see line.h).
#pragma once

#include <cfloat>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <system_error>
#include <type_traits>

// Without a floating std::from_chars (it came with GCC 11 and LLVM 20) the C library does the rare
// numbers that the short way cannot.
#if !defined(__cpp_lib_to_chars) && !(defined(_GLIBCXX_RELEASE) && _GLIBCXX_RELEASE >= 11)
#include <locale.h>
#include <stdlib.h>

#include <string>
#define RAREFY_NO_FLOAT_FROM_CHARS 1
#endif

namespace rarefy::text {

static_assert(FLT_EVAL_METHOD == 0, "products of doubles must round once");

inline constexpr int64_t kPadding = 64;

inline bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// Eight bytes as an integer whose lowest byte is the first one.
inline uint64_t Load8(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

inline constexpr uint64_t kZeros = 0x3030303030303030;  // "00000000"

// How many of the eight bytes of `word ^ kZeros` are digits before the first that is not. The sum
// may carry, but only from a byte that is no digit into later ones, which do not count any more.
inline int DigitRun(uint64_t x) {
  const uint64_t other = ((x + 0x7676767676767676) | x) & 0x8080808080808080;
  return other == 0 ? 8 : __builtin_ctzll(other) >> 3;
}

// The number that eight digits make; each byte of `x` is a digit's value, the first in the lowest
// byte. Neighbours are joined three times: to two, four and eight digits.
inline uint64_t EightDigits(uint64_t x) {
  x = x * 10 + (x >> 8);
  return (((x & 0x000000FF000000FF) * 0x000F424000000064) +
          (((x >> 16) & 0x000000FF000000FF) * 0x0000271000000001)) >>
         32;
}

// The number that the first `n` (1 to 8) of the eight bytes make.
inline uint64_t LeadingDigits(uint64_t x, int n) { return EightDigits(x << (64 - 8 * n)); }

inline constexpr uint64_t kPower10[] = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
};

// Powers of ten that a double holds exactly.
inline constexpr double kExactPower10[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                           1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                           1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline constexpr int64_t kMaxExactPower = 22;
inline constexpr int kMaxDigits = 19;  // any 19 digits fit in 64 bits

// A run of digits, of any length. Sets `value` (meaningless where `overflow`) and returns the first
// byte that is no digit.
inline const char* ParseDigits(const char* p, uint64_t* value, bool* overflow) {
  uint64_t v = 0;
  bool over = false;
  for (;;) {
    const uint64_t x = Load8(p) ^ kZeros;
    const int n = DigitRun(x);
    if (n == 0) break;
    uint64_t scaled = 0;
    over |= __builtin_mul_overflow(v, kPower10[n], &scaled);
    over |= __builtin_add_overflow(scaled, LeadingDigits(x, n), &v);
    p += n;
    if (n < 8) break;
  }
  *value = v;
  *overflow = over;
  return p;
}

// An unsigned decimal as it stands in the text: `mantissa * 10^exponent`, to which the digits after
// the nineteenth significant one may add less than one unit of the mantissa (`truncated`).
struct Decimal {
  uint64_t mantissa = 0;
  int64_t exponent = 0;
  bool truncated = false;
  const char* first = nullptr;
  const char* last = nullptr;
};

// Digits one by one, from `p`, which must be at the number's first byte: leading zeros do not use
// up the nineteen. Returns null unless there is a digit before the exponent.
inline const char* ScanDigitsSlowly(const char* p, Decimal* d) {
  int significant = 0;
  bool any = false;
  bool fraction = false;
  for (;; ++p) {
    if (*p == '.' && !fraction) {
      fraction = true;
      continue;
    }
    if (!IsDigit(*p)) break;
    any = true;
    if (significant < kMaxDigits) {
      d->mantissa = d->mantissa * 10 + static_cast<uint64_t>(*p - '0');
      significant += d->mantissa != 0;
      d->exponent -= fraction;
    } else {
      d->truncated |= *p != '0';
      d->exponent += !fraction;
    }
  }
  return any ? p : nullptr;
}

// `digits [. digits] [e [sign] digits]` or `. digits [...]`; returns its end, or null where there
// is no number. What follows the end is the caller's business.
inline const char* ScanDecimal(const char* p, Decimal* d) {
  d->first = p;
  int digits = 0;
  bool fraction = false;
  for (;;) {
    const uint64_t x = Load8(p) ^ kZeros;
    const int n = DigitRun(x);
    digits += n;
    if (digits > kMaxDigits) {
      *d = Decimal{0, 0, false, d->first, nullptr};
      p = ScanDigitsSlowly(d->first, d);
      break;
    }
    if (n != 0) d->mantissa = d->mantissa * kPower10[n] + LeadingDigits(x, n);
    if (fraction) d->exponent -= n;
    p += n;
    if (n == 8) continue;
    if (fraction || *p != '.') break;
    fraction = true;
    ++p;
  }
  if (digits == 0 || p == nullptr) return nullptr;
  if ((*p | 0x20) == 'e') {
    const char* q = p + 1;
    const bool negative = *q == '-';
    q += negative || *q == '+';
    if (!IsDigit(*q)) return nullptr;
    int64_t power = 0;
    for (; IsDigit(*q); ++q) {
      if (power < int64_t{1} << 56) power = power * 10 + (*q - '0');
    }
    d->exponent += negative ? -power : power;
    p = q;
  }
  d->last = p;
  return p;
}

// Rounds by the library. `d` must have been scanned.
template <typename T>
T NearestByLibrary(const Decimal& d) {
  // Far out of range; a library might take long over such exponents.
  constexpr int64_t kFar = 400;
  if (d.exponent > kFar) return std::numeric_limits<T>::infinity();
  if (d.exponent + kMaxDigits < -kFar) return T{0};
#ifdef RAREFY_NO_FLOAT_FROM_CHARS
  static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
  const std::string copy(d.first, d.last);
  if constexpr (std::is_same_v<T, float>) return strtof_l(copy.c_str(), nullptr, c_locale);
  return static_cast<T>(strtod_l(copy.c_str(), nullptr, c_locale));
#else
  T value = 0;
  const auto result = std::from_chars(d.first, d.last, value);
  if (result.ec == std::errc::result_out_of_range) {
    // The mantissa lies between 1 and 10^19, far from either end of the range of T.
    return d.exponent > 0 ? std::numeric_limits<T>::infinity() : T{0};
  }
  return value;
#endif
}

// The T nearest to `mantissa * 10^exponent`, by one rounded operation where that is enough
// (W. D. Clinger, "How to read floating point numbers accurately", 1990).
inline double NearestDouble(const Decimal& d) {
  if (d.mantissa == 0) return 0;
  if (d.mantissa <= uint64_t{1} << 53 && !d.truncated && d.exponent >= -kMaxExactPower &&
      d.exponent <= kMaxExactPower) {
    const double m = static_cast<double>(static_cast<int64_t>(d.mantissa));
    return d.exponent < 0 ? m / kExactPower10[-d.exponent] : m * kExactPower10[d.exponent];
  }
  return NearestByLibrary<double>(d);
}

// Whether rounding `approximation` to float gives the float nearest to a number that lies within
// kUlps of it. It may not where `approximation` is that close to the middle between two floats;
// subnormal floats have their middles elsewhere and are not looked at.
inline bool RoundsToNearestFloat(double approximation) {
  constexpr uint64_t kUlps = 8;
  constexpr uint64_t kMiddle = uint64_t{1} << 28;  // a double has 29 bits more than a float
  uint64_t bits;
  std::memcpy(&bits, &approximation, sizeof bits);
  const uint64_t below = bits & ((uint64_t{1} << 29) - 1);
  return below - (kMiddle - kUlps) > 2 * kUlps && approximation >= FLT_MIN;
}

inline float NearestFloat(const Decimal& d) {
  if (d.mantissa == 0) return 0;
  if (d.exponent >= -kMaxExactPower && d.exponent <= kMaxExactPower) {
    // Three roundings (mantissa, quotient, digits left out) of at most one ulp each.
    const double m = static_cast<double>(d.mantissa);
    const double approximation =
        d.exponent < 0 ? m / kExactPower10[-d.exponent] : m * kExactPower10[d.exponent];
    if (RoundsToNearestFloat(approximation)) return static_cast<float>(approximation);
  }
  return NearestByLibrary<float>(d);
}

template <typename T>
T Nearest(const Decimal& d) {
  if constexpr (std::is_same_v<T, float>) {
    return NearestFloat(d);
  } else {
    return NearestDouble(d);
  }
}

}  // namespace rarefy::text
