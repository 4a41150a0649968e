// Sums of rows on the thread pool: balanced by entries, the same bits for any number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>

#include "ffi/parallel.h"
#include "kernels/csr_dot_dense.h"
#include "kernels/pages.h"

namespace rarefy {

// Nanoseconds that one row and one entry cost, to balance parts and to leave small work on one
// thread.
struct Cost {
  double row;
  double entry;
};

// Gathering and adding `bytes` bytes for each entry, writing as many for each row. Measured on
// Zen 3 with tables in the third-level cache; a factor of two either way does not matter.
inline Cost GatherCost(int64_t bytes) {
  return {2.0 + 0.04 * static_cast<double>(bytes), 0.5 + 0.04 * static_cast<double>(bytes)};
}

// Handing a part to a pool thread and waiting for it takes 5 to 20 us.
constexpr double kPartNanoseconds = 40e3;

// Into how many parts work of `nanoseconds` is best cut: 1 where the pool would cost more than it
// gives, and some more than there are threads, since threads are not equally fast.
inline int64_t PartsFor(const xla::ffi::ThreadPool& pool, double nanoseconds) {
  const int64_t threads = pool.num_threads();
  if (threads < 2 || nanoseconds < 2 * kPartNanoseconds) return 1;
  return std::min<int64_t>(8 * threads, static_cast<int64_t>(nanoseconds / kPartNanoseconds));
}

// Calls body(row_begin, row_end) for ranges that cover [0, rows) and take about equal time.
//
//   indptr  (rows + 1)  non-decreasing; the cost of row r is cost.row + its entries * cost.entry
template <typename P, typename Body>
void ParallelRows(xla::ffi::ThreadPool& pool, const P* indptr, int64_t rows, Cost cost,
                  const Body& body) {
  const auto before = [&](int64_t row) {
    return cost.row * static_cast<double>(row) +
           cost.entry * (static_cast<double>(indptr[row]) - static_cast<double>(indptr[0]));
  };
  const double total = before(rows);
  const int64_t parts = std::min(rows, PartsFor(pool, total));
  if (parts <= 1) return body(int64_t{0}, rows);
  const auto bound = [&](int64_t part) {
    const double target = total * static_cast<double>(part) / static_cast<double>(parts);
    int64_t low = 0, high = rows;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (before(middle) < target) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return part == parts ? rows : low;
  };
  ParallelParts(pool, parts, [&](int64_t part) { body(bound(part), bound(part + 1)); });
}

// Computes rows of sums over entries, whose rows of more than kSegment entries run on several
// threads too.
//
//   indptr   (rows + 1)  of entries; positions are cut to [0, nse]
//   sum_rows(row_begin, row_end, out, skipped)  writes rows of at most kSegment entries and sets
//            *skipped when there are others
//   sum_segment(begin, end, partial)  writes the sum of a segment, (k) accumulators
//   out      (rows, k)
//
// Returns whether memory sufficed; `out` is complete then.
template <typename V, typename P, typename SumRows, typename SumSegment>
bool ParallelRowSums(xla::ffi::ThreadPool& pool, const P* indptr, int64_t rows, int64_t nse,
                     int64_t k, Cost cost, V* out, const SumRows& sum_rows,
                     const SumSegment& sum_segment) {
  using A = Accumulator<V>;
  PreferHugePages(out, rows * k * int64_t{sizeof(V)});
  std::atomic<int> skipped{0};
  ParallelRows(pool, indptr, rows, cost,
               [&](int64_t begin, int64_t end) { sum_rows(begin, end, out, &skipped); });
  if (!skipped.load()) return true;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t begin = std::max<int64_t>(static_cast<int64_t>(indptr[r]), 0);
    const int64_t end = std::min<int64_t>(static_cast<int64_t>(indptr[r + 1]), nse);
    if (end - begin <= kSegment) continue;
    const int64_t segments = (end - begin + kSegment - 1) / kSegment;
    const std::unique_ptr<A[]> sums(new (std::nothrow) A[segments * k]);
    if (!sums) return false;
    const double total = cost.entry * static_cast<double>(end - begin);
    const int64_t parts = std::min(segments, PartsFor(pool, total));
    ParallelParts(pool, parts, [&](int64_t part) {
      for (int64_t s = segments * part / parts; s < segments * (part + 1) / parts; ++s) {
        const int64_t first = begin + s * kSegment;
        sum_segment(first, std::min(first + kSegment, end), sums.get() + s * k);
      }
    });
    for (int64_t j = 0; j < k; ++j) {
      A total_j = sums[j];
      for (int64_t s = 1; s < segments; ++s) total_j += sums[s * k + j];
      out[r * k + j] = Narrow<V>(total_j);
    }
  }
  return true;
}

// The whole product of csr_dot_dense.h on the pool. Returns whether memory sufficed.
template <typename V, typename I>
bool ParallelCsrDotDense(xla::ffi::ThreadPool& pool, const CsrDense<V, I>& a, const I* indptr,
                         int64_t rows, V* out) {
  return ParallelRowSums<V>(
      pool, indptr, rows, a.nse, a.k, GatherCost(a.k * int64_t{sizeof(V)}), out,
      [&](int64_t begin, int64_t end, V* to, std::atomic<int>* skipped) {
        CsrDotDenseRows(a, indptr, 0, begin, end, SumsOut<V>{to}, skipped);
      },
      [&](int64_t begin, int64_t end, Accumulator<V>* partial) {
        const I segment[2] = {static_cast<I>(begin), static_cast<I>(end)};
        CsrDotDenseRows(a, segment, 0, 0, 1, Exactly<V>(partial), nullptr);
      });
}

}  // namespace rarefy
