// Pages of large buffers.
#pragma once

#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace rarefy {

constexpr int64_t kHugePage = int64_t{2} << 20;

// Asks for huge pages under `bytes` bytes from `begin` on, which are about to be written first. A
// fault then serves 2 MB instead of 4 KB: fresh memory costs about a sixth
// (benchmarks/test_rows.py), and rows read from it later miss the TLB less. Nothing happens to
// memory that is in use already, or where the system has no such pages.
inline void PreferHugePages(void* begin, int64_t bytes) {
#if defined(__linux__)
  const auto first = (reinterpret_cast<uintptr_t>(begin) + kHugePage - 1) / kHugePage * kHugePage;
  const auto last =
      (reinterpret_cast<uintptr_t>(begin) + static_cast<uintptr_t>(bytes)) / kHugePage * kHugePage;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#else
  static_cast<void>(begin);
  static_cast<void>(bytes);
#endif
}

}  // namespace rarefy
