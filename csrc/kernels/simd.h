// Portable vectors, and hot loops compiled for more than one instruction set.
//
// A hot loop is the static function Run of a struct, marked RAREFY_INLINE like everything it calls.
// RunBest<Struct>(args...) then holds one copy compiled for the baseline and one for the wider
// instructions that the machine is asked for once. The loops use the vector types of GCC and Clang,
// which become as many instructions as the target needs, so the same source serves every machine.
#pragma once

#include <cstdint>
#include <cstring>

#if !defined(__GNUC__)
#error "rarefy's kernels use the vector extensions of GCC and Clang (clang-cl on Windows)"
#endif

// Must be inlined: a function that is called from a copy for wider instructions, but not inlined
// into it, would be compiled for the baseline.
#define RAREFY_INLINE inline __attribute__((always_inline))
#define RAREFY_LAMBDA_INLINE __attribute__((always_inline))

#if defined(__clang__)
#define RAREFY_UNROLL _Pragma("clang loop unroll(full)")
#else
#define RAREFY_UNROLL _Pragma("GCC unroll 16")
#endif

// How a vector wider than the baseline's registers is passed to a function depends on the target;
// here none is, as they are all inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace rarefy {

// 32 bytes: the widest register of AVX2, and two of SSE2 or NEON.
constexpr int64_t kVectorBytes = 32;

template <typename T>
struct VectorOf {
  typedef T Type __attribute__((vector_size(kVectorBytes)));
};
template <typename T>
using Vector = typename VectorOf<T>::Type;
template <typename T>
constexpr int64_t kLanes = kVectorBytes / static_cast<int64_t>(sizeof(T));

// Brings the cache line of `base + offset` bytes closer; any offset is harmless.
RAREFY_INLINE void Prefetch(const void* base, int64_t offset) {
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(base) +
                                                   static_cast<uintptr_t>(offset)));
}

#if defined(__x86_64__)
// Haswell and Zen or later. AVX-512 has no copy of its own: these loops wait for memory, not for
// arithmetic, and wider registers would only lower the clock.
#define RAREFY_WIDE __attribute__((target("avx2,fma,bmi,bmi2")))

inline bool HasWide() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                          __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  return has;
}

template <typename Loop, typename... Args>
RAREFY_WIDE __attribute__((noinline)) void RunWide(Args... args) {
  Loop::Run(args...);
}
#endif

template <typename Loop, typename... Args>
__attribute__((noinline)) void RunBaseline(Args... args) {
  Loop::Run(args...);
}

// Calls Loop::Run(args...) in the copy that suits this machine. Arguments are passed by value:
// pointers and extents.
template <typename Loop, typename... Args>
void RunBest(Args... args) {
#if defined(__x86_64__)
  if (HasWide()) return RunWide<Loop>(args...);
#endif
  RunBaseline<Loop>(args...);
}

}  // namespace rarefy
