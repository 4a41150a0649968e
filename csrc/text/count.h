// Counting bytes, which bounds what a text holds before it is parsed.
#pragma once

#include <algorithm>
#include <cstdint>

namespace rarefy::text {

struct ByteCounts {
  int64_t newlines = 0;
  int64_t colons = 0;
  int64_t commas = 0;   // only if asked for
  int64_t returns = 0;  // only if asked for
};

// How often the bytes stand in [begin, end). Cost: about a tenth of parsing; the inner loop is
// written so that compilers turn it into byte-wide vector compares.
template <bool all>
inline ByteCounts CountBytes(const char* begin, const char* end) {
  constexpr int kLanes = 32;
  constexpr int64_t kRounds = 255;  // as many as a lane of eight bits can count
  ByteCounts counts;
  const char* p = begin;
  while (end - p >= kLanes) {
    uint8_t newlines[kLanes] = {}, colons[kLanes] = {}, commas[kLanes] = {}, returns[kLanes] = {};
    const int64_t rounds = std::min(kRounds, (end - p) / kLanes);
    for (int64_t round = 0; round < rounds; ++round, p += kLanes) {
      for (int lane = 0; lane < kLanes; ++lane) {
        newlines[lane] = static_cast<uint8_t>(newlines[lane] + (p[lane] == '\n'));
        colons[lane] = static_cast<uint8_t>(colons[lane] + (p[lane] == ':'));
        if (all) commas[lane] = static_cast<uint8_t>(commas[lane] + (p[lane] == ','));
        if (all) returns[lane] = static_cast<uint8_t>(returns[lane] + (p[lane] == '\r'));
      }
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      counts.newlines += newlines[lane];
      counts.colons += colons[lane];
      counts.commas += commas[lane];
      counts.returns += returns[lane];
    }
  }
  for (; p != end; ++p) {
    counts.newlines += *p == '\n';
    counts.colons += *p == ':';
    counts.commas += all && *p == ',';
    counts.returns += all && *p == '\r';
  }
  return counts;
}

}  // namespace rarefy::text
