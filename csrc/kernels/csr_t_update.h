// Optimizer updates of the rows that the gradient csr.T @ dense has, without that gradient.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "kernels/rows_update.h"
#include "kernels/scratch.h"

namespace rarefy {

// The tables and the factors of their gradient.
//
//   tables   1 + Rule::kStates of (n, k), row-major: the weight and the states
//   data     (nse)    values
//   indices  (nse)    the table row of each entry; one outside [0, n) is padding and is skipped
//   indptr   (m + 1)  non-decreasing; positions are cut to [0, nse]
//   dense    (m, k)   row-major
//
// m and nse are less than 2^31. No two of them may overlap.
template <typename Rule, typename V, typename I>
struct CsrTUpdateOperands {
  V* tables[1 + Rule::kStates];
  const V* data;
  const I* indices;
  const I* indptr;
  const V* dense;
  int64_t nse;
  int64_t m;
  int64_t n;
  int64_t k;
};

namespace csr_t_update {

constexpr int64_t kMaxParts = 16;
constexpr int64_t kMaxBuckets = 1 << 11;
// Entries of a bucket: what is known of their rows stays in the first-level cache.
constexpr int64_t kBucketEntries = 256;
// Slots for each record of a bucket, at least.
constexpr int64_t kSlots = 8;

// Applies a rule to elements that lie side by side.
template <typename Rule, typename V>
struct ApplyRule {
  static constexpr int kTables = 1 + Rule::kStates;
  static RAREFY_INLINE void Run(Rule rule, V* values, const V* grad, int64_t size, int64_t stride) {
    RAREFY_INDEPENDENT
    for (int64_t j = 0; j < size; ++j) {
      V x[kTables + 1];  // one more than needed: s may not point past the end
      for (int t = 0; t < kTables; ++t) x[t] = values[t * stride + j];
      rule.Apply(grad[j], x[0], x + 1);
      for (int t = 0; t < kTables; ++t) values[t * stride + j] = x[t];
    }
  }
};

}  // namespace csr_t_update

// For each row that an entry names: g = the sum, in the order of the entries, of value * dense[row
// of the entry, :], and the rule with g, in place.
//
// The entries are dealt into buckets by a hash of their table row (Fibonacci hashing; Knuth, The
// Art of Computer Programming 3, 6.4). A bucket's rows are found by linear probing and summed; then
// they are read from the tables, moved side by side and written back.
//
// Cost O(nse * k), whatever n. A bucket is one thread's, so the bits do not depend on the threads.
template <typename Rule, typename V, typename I>
class CsrTUpdate {
 public:
  CsrTUpdate(const CsrTUpdateOperands<Rule, V, I>& operands, Rule rule, int64_t parts)
      : a_(operands), rule_(rule), parts_(std::clamp<int64_t>(parts, 1, csr_t_update::kMaxParts)) {
    // By parts, as they are going to be dealt: an indptr that decreases must not end beyond memory.
    for (int64_t part = 0; part < parts_; ++part)
      entries_ += std::max<int64_t>(EntryBegin(RowBegin(part + 1)) - EntryBegin(RowBegin(part)), 0);
    while (Buckets() < csr_t_update::kMaxBuckets &&
           Buckets() * csr_t_update::kBucketEntries < entries_)
      ++bits_;
  }

  // `Parallel` is called as parallel(parts, body) and calls body(part) for each part in [0, parts),
  // on any thread; `ThreadScratch` gives the Scratch of the thread that it is called on, another
  // one than `scratch`. False if there is no memory: then nothing has been updated, or some buckets
  // have.
  template <typename Parallel, typename ThreadScratch>
  bool Run(Scratch& scratch, const Parallel& parallel, const ThreadScratch& of_thread) {
    const int64_t counters = parts_ * Buckets();
    auto* memory = static_cast<char*>(scratch.Get(entries_ * int64_t{sizeof(Record)} +
                                                  (counters + 1) * int64_t{sizeof(int64_t)}));
    if (memory == nullptr) return false;
    ends_ = reinterpret_cast<int64_t*>(memory);
    records_ = reinterpret_cast<Record*>(memory + (counters + 1) * int64_t{sizeof(int64_t)});
    std::memset(ends_, 0, static_cast<size_t>(counters) * sizeof(int64_t));
    parallel(parts_, [&](int64_t part) { Count(part); });
    int64_t sum = 0, largest = 0;
    for (int64_t b = 0; b < Buckets(); ++b) {
      const int64_t begin = sum;
      for (int64_t part = 0; part < parts_; ++part) {
        int64_t& end = ends_[part * Buckets() + b];
        const int64_t here = end;
        end = sum;
        sum += here;
      }
      largest = std::max(largest, sum - begin);
    }
    parallel(parts_, [&](int64_t part) { Deal(part); });
    // A place of the last part is now where its bucket ends, and the next one begins.
    std::atomic<bool> enough{true};
    const int64_t runs = parts_ == 1 ? 1 : std::min<int64_t>(Buckets(), 4 * parts_);
    parallel(runs, [&](int64_t run) {
      Scratch& mine = of_thread();
      Bucket bucket;
      if (!bucket.Make(mine, largest, a_.k)) {
        enough.store(false);
        return;
      }
      const int64_t* ends = ends_ + (parts_ - 1) * Buckets();
      for (int64_t b = Buckets() * run / runs; b < Buckets() * (run + 1) / runs; ++b) {
        Update(bucket, records_ + (b == 0 ? 0 : ends[b - 1]), records_ + ends[b]);
      }
      mine.Trim();
    });
    return enough.load();
  }

 private:
  static constexpr int kTables = 1 + Rule::kStates;
  struct Record {
    I row;      // of the tables
    int32_t r;  // of `dense`
    V value;
  };

  // Working memory for a bucket of at most `entries` records.
  struct Bucket {
    bool Make(Scratch& scratch, int64_t entries, int64_t k) {
      stride = entries * k;
      const int64_t n_slots = int64_t{1} << SlotBits(entries);
      const int64_t values = (stride * (kTables + 1) * int64_t{sizeof(V)} + 7) / 8 * 8;
      const int64_t names = (entries + 1) * int64_t{sizeof(I)};
      auto* memory =
          static_cast<char*>(scratch.Get(values + names + n_slots * int64_t{sizeof(int32_t)}));
      if (memory == nullptr) return false;
      tables = reinterpret_cast<V*>(memory);
      grad = tables + kTables * stride;
      rows = reinterpret_cast<I*>(memory + values);
      slots = reinterpret_cast<int32_t*>(memory + values + names);
      return true;
    }
    V* tables;       // kTables of (rows, k), `stride` apart
    V* grad;         // (rows, k)
    I* rows;         // from 1 on
    int32_t* slots;  // numbers in `rows`, or 0
    int64_t stride;
  };
  static int SlotBits(int64_t entries) {
    int bits = 1;
    while ((int64_t{1} << bits) < csr_t_update::kSlots * entries) ++bits;
    return bits;
  }

  int64_t Buckets() const { return int64_t{1} << bits_; }
  static uint64_t Hash(I row) {
    return static_cast<uint64_t>(static_cast<int64_t>(row)) * 0x9e3779b97f4a7c15u;
  }
  // The highest `bits` bits.
  static int64_t Top(uint64_t hash, int bits) {
    return static_cast<int64_t>((hash >> 1) >> (63 - bits));
  }
  int64_t RowBegin(int64_t part) const { return a_.m * part / parts_; }
  int64_t EntryBegin(int64_t row) const {
    return std::clamp<int64_t>(static_cast<int64_t>(a_.indptr[row]), 0, a_.nse);
  }
  static bool IsRow(I row, int64_t n) {
    return static_cast<uint64_t>(static_cast<int64_t>(row)) < static_cast<uint64_t>(n);
  }

  void Count(int64_t part) {
    const I* indices = a_.indices;
    const int64_t n = a_.n, end = EntryBegin(RowBegin(part + 1));
    const int bits = bits_;
    int64_t* count = ends_ + part * Buckets();
    for (int64_t e = EntryBegin(RowBegin(part)); e < end; ++e) {
      if (IsRow(indices[e], n)) ++count[Top(Hash(indices[e]), bits)];
    }
  }

  void Deal(int64_t part) {
    const CsrTUpdateOperands<Rule, V, I> a = a_;
    const int bits = bits_;
    int64_t* next = ends_ + part * Buckets();
    Record* records = records_;
    const int64_t last = EntryBegin(RowBegin(part + 1));
    int64_t e = EntryBegin(RowBegin(part));
    for (int64_t r = RowBegin(part); r < RowBegin(part + 1); ++r) {
      const int64_t end = std::min(EntryBegin(r + 1), last);
      for (; e < end; ++e) {
        const I row = a.indices[e];
        if (IsRow(row, a.n)) {
          records[next[Top(Hash(row), bits)]++] = {row, static_cast<int32_t>(r), a.data[e]};
        }
      }
    }
  }

  void Update(const Bucket& bucket, const Record* begin, const Record* end) {
    switch (a_.k) {
      case 1:
        return UpdateRows<1>(bucket, begin, end);
      case 2:
        return UpdateRows<2>(bucket, begin, end);
      case 4:
        return UpdateRows<4>(bucket, begin, end);
      case 8:
        return UpdateRows<8>(bucket, begin, end);
      default:
        return UpdateRows<0>(bucket, begin, end);
    }
  }

  // kColumns is k, or 0.
  template <int kColumns>
  void UpdateRows(const Bucket& bucket, const Record* begin, const Record* end) {
    const int64_t k = kColumns > 0 ? kColumns : a_.k;
    const int64_t rows = Sum<kColumns>(bucket, begin, end);
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t from = static_cast<int64_t>(bucket.rows[i + 1]) * k;
      for (int t = 0; t < kTables; ++t)
        for (int64_t j = 0; j < k; ++j)
          bucket.tables[t * bucket.stride + i * k + j] = a_.tables[t][from + j];
    }
    RunBest<csr_t_update::ApplyRule<Rule, V>>(
        rule_, bucket.tables, static_cast<const V*>(bucket.grad), rows * k, bucket.stride);
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t to = static_cast<int64_t>(bucket.rows[i + 1]) * k;
      for (int t = 0; t < kTables; ++t)
        for (int64_t j = 0; j < k; ++j)
          a_.tables[t][to + j] = bucket.tables[t * bucket.stride + i * k + j];
    }
  }

  // Finds the rows of a bucket, in the order in which they appear, and sums their gradients.
  // Returns how many there are.
  template <int kColumns>
  int64_t Sum(const Bucket& into, const Record* begin, const Record* end) {
    const Bucket bucket = into;
    const CsrTUpdateOperands<Rule, V, I> a = a_;
    const int64_t k = kColumns > 0 ? kColumns : a.k;
    const int bits = bits_, slot_bits = SlotBits(end - begin);
    const int64_t mask = (int64_t{1} << slot_bits) - 1;
    std::memset(bucket.slots, 0, static_cast<size_t>(mask + 1) * sizeof(int32_t));
    int32_t rows = 0;
    for (const Record* record = begin; record < end; ++record) {
      const I row = record->row;
      int64_t slot = Top(Hash(row) << bits, slot_bits);
      int32_t found = bucket.slots[slot];
      while (found != 0 && bucket.rows[found] != row) {
        slot = (slot + 1) & mask;
        found = bucket.slots[slot];
      }
      const V value = record->value;
      const V* factor = a.dense + record->r * k;
      if (found != 0) {
        V* grad = bucket.grad + (found - 1) * k;
        for (int64_t j = 0; j < k; ++j) grad[j] += value * factor[j];
      } else {
        V* grad = bucket.grad + rows * k;
        bucket.slots[slot] = ++rows;
        bucket.rows[rows] = row;
        for (int64_t j = 0; j < k; ++j) grad[j] = value * factor[j];
        for (int t = 0; t < kTables; ++t)
          __builtin_prefetch(a.tables[t] + static_cast<int64_t>(row) * k, 1);
      }
    }
    return rows;
  }

  CsrTUpdateOperands<Rule, V, I> a_;
  Rule rule_;
  int64_t parts_;
  int64_t entries_ = 0;
  int bits_ = 0;
  int64_t* ends_ = nullptr;
  Record* records_ = nullptr;
};

}  // namespace rarefy
