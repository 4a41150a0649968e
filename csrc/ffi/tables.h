// Adding up where the results fall, on the thread pool: the same bits for any number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "ffi/parallel.h"
#include "ffi/row_sums.h"
#include "kernels/pages.h"
#include "kernels/scratch.h"

namespace rarefy {

// Calls body(begin, end) for ranges that cover [0, size), `nanoseconds` in all.
template <typename Body>
void ParallelRanges(xla::ffi::ThreadPool& pool, int64_t size, double nanoseconds,
                    const Body& body) {
  const int64_t parts = std::min(size, PartsFor(pool, nanoseconds));
  if (parts <= 1) return body(int64_t{0}, size);
  ParallelParts(pool, parts, [&](int64_t p) { body(size * p / parts, size * (p + 1) / parts); });
}

// Into how many tables of so many `bytes` the sums of `entries` that make `rows` rows are best
// split. It follows from the sizes alone, and with it the bits. A table costs a pass to clear and
// one to add, about half a random addition per place; and what leaves the third-level cache, more.
inline int64_t TablesFor(int64_t entries, int64_t rows, int64_t bytes) {
  if (entries < (1 << 15)) return 1;
  const int64_t fit = (int64_t{32} << 20) / std::max<int64_t>(bytes, 1);
  return std::clamp<int64_t>(entries / (2 * std::max<int64_t>(rows, 1)), 1,
                             std::clamp<int64_t>(fit, 2, 8));
}

// out = the sum, in order, of tables of accumulators that scatter(t, table) adds to: a part of the
// entries each.
//
//   out  (size)
//
// Returns whether memory sufficed; `out` is complete then.
template <typename V, typename Scatter>
bool SumTables(xla::ffi::ThreadPool& pool, int64_t tables, int64_t size, V* out, Scratch& scratch,
               const Scatter& scatter) {
  using A = Accumulator<V>;
  constexpr bool in_place = std::is_same_v<A, V>;
  const int64_t extra = in_place ? tables - 1 : tables;
  auto* const own = static_cast<A*>(scratch.Get(extra * size * int64_t{sizeof(A)}));
  if (extra > 0 && own == nullptr) return false;
  const auto table = [&](int64_t t) -> A* {
    if constexpr (in_place) {
      if (t == 0) return out;
      --t;
    }
    return own + t * size;
  };
  PreferHugePages(out, size * int64_t{sizeof(V)});
  const double clear = 0.1 * static_cast<double>(sizeof(A)) * static_cast<double>(size);
  if (tables == 1) {
    ParallelRanges(pool, size, clear, [&](int64_t begin, int64_t end) {
      std::fill(table(0) + begin, table(0) + end, A{0});
    });
    scatter(int64_t{0}, table(0));
  } else {
    ParallelParts(pool, tables, [&](int64_t t) {
      std::fill(table(t), table(t) + size, A{0});
      scatter(t, table(t));
    });
  }
  if (tables == 1 && in_place) return true;
  ParallelRanges(pool, size, clear * static_cast<double>(tables), [&](int64_t begin, int64_t end) {
    const A* first = table(0);
    for (int64_t i = begin; i < end; ++i) {
      A sum = first[i];
      for (int64_t t = 1; t < tables; ++t) sum += table(t)[i];
      out[i] = Narrow<V>(sum);
    }
  });
  return true;
}

}  // namespace rarefy
