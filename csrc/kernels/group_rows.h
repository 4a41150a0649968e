// Sorted unique row ids with the grouping of the entries that name them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/scratch.h"

namespace rarefy {

// Row ids as keys.
//
//   ids   (nse)       an id outside [0, n_rows) is padding
//   rows  (capacity)  the distinct ids, then n_rows
template <typename Id>
struct RowKeys {
  const Id* ids;
  uint64_t n_rows;
  Id* rows;

  // The key of padding: all others are less.
  uint64_t Limit() const { return n_rows; }
  uint64_t operator()(int64_t entry) const {
    return std::min(static_cast<uint64_t>(static_cast<int64_t>(ids[entry])), n_rows);  // -1: huge
  }
  void Write(int64_t group, uint64_t key, int64_t) const { rows[group] = static_cast<Id>(key); }
  void WritePadding(int64_t group) const { rows[group] = static_cast<Id>(n_rows); }
};

// Cells of a matrix as keys: their row-major numbers.
//
//   cells  (nse, 2)       coordinates; a cell with one out of range is padding
//   found  (capacity, 2)  the distinct cells, then (n_rows, n_cols)
//
// n_rows * n_cols < 2^63.
template <typename Id>
struct CellKeys {
  const Id* cells;
  uint64_t n_rows;
  uint64_t n_cols;
  Id* found;

  uint64_t Limit() const { return n_rows * n_cols; }
  uint64_t operator()(int64_t entry) const {
    const auto row = static_cast<uint64_t>(static_cast<int64_t>(cells[2 * entry]));
    const auto column = static_cast<uint64_t>(static_cast<int64_t>(cells[2 * entry + 1]));
    return row < n_rows && column < n_cols ? row * n_cols + column : Limit();
  }
  void Write(int64_t group, uint64_t, int64_t entry) const {
    found[2 * group] = cells[2 * entry];
    found[2 * group + 1] = cells[2 * entry + 1];
  }
  void WritePadding(int64_t group) const {
    found[2 * group] = static_cast<Id>(n_rows);
    found[2 * group + 1] = static_cast<Id>(n_cols);
  }
};

// Operands and results of GroupRows.
//
//   keys                      RowKeys or CellKeys: what entries are grouped by, any order, repeats
//                             allowed; gets the distinct ones, ascending
//   limit                     an entry at a position >= limit is padding too
//   inverse   (nse)           the group of each entry; capacity for padding
//   order     (nse)           entries sorted by key, those of one key by position, padding last
//   starts    (capacity + 1)  the entries of group i are order[starts[i] .. starts[i + 1])
//   count     (1)             number of distinct keys; those beyond capacity are left out
//
// nse < 2^31, and sizes fit an Id. Nothing may overlap.
template <typename Keys>
struct GroupRowsOperands {
  Keys keys;
  int64_t nse;
  int64_t limit;
  int64_t capacity;
  int32_t* inverse;
  int32_t* order;
  int32_t* starts;
  int32_t* count;
};

namespace group_rows {

// An entry with its key.
struct NarrowRecord {  // keys below 2^32
  static constexpr int kKeyBits = 32;
  static NarrowRecord Make(uint64_t key, int64_t entry) {
    return {(key << 32) | static_cast<uint32_t>(entry)};
  }
  uint64_t Key() const { return bits >> 32; }
  int32_t Entry() const { return static_cast<int32_t>(bits & 0xffffffffu); }
  uint64_t bits;
};
struct WideRecord {
  static constexpr int kKeyBits = 64;
  static WideRecord Make(uint64_t key, int64_t entry) { return {key, entry}; }
  uint64_t Key() const { return key; }
  int32_t Entry() const { return static_cast<int32_t>(entry); }
  uint64_t key;
  int64_t entry;
};

constexpr int kMaxDigitBits = 12;
constexpr int64_t kMaxParts = 16;

// So many int32 stay in a core's cache.
constexpr int64_t kCachedEntries = 1 << 16;

// How the keys are cut into digits.
struct Digits {
  int number;
  int bits;
  int64_t Values() const { return int64_t{1} << bits; }
};

// Takes one digit out of a key. Loops hold these small functions by value: the compiler cannot know
// that what they write is no member of the sorter, and would read members again for every entry.
struct Digit {
  Digit(Digits digits, int which)
      : shift(which * digits.bits), mask(static_cast<uint64_t>(digits.Values()) - 1) {}
  uint64_t operator()(uint64_t key) const { return (key >> shift) & mask; }
  int shift;
  uint64_t mask;
};

// A pass costs about 1.6 ns an entry and 0.7 ns a digit value (benchmarks/test_rows.py).
inline Digits ChooseDigits(uint64_t largest_key, int64_t entries) {
  int key_bits = 1;
  while (key_bits < 64 && (largest_key >> key_bits) != 0) ++key_bits;
  Digits best{0, 0};
  double best_cost = 0;
  for (int bits = 1; bits <= kMaxDigitBits; ++bits) {
    const Digits digits{(key_bits + bits - 1) / bits, bits};
    const double cost = digits.number * (1.6 * static_cast<double>(entries) +
                                         0.7 * static_cast<double>(digits.Values()));
    if (best.number == 0 || cost < best_cost) {
      best = digits;
      best_cost = cost;
    }
  }
  return best;
}

// The work itself, for one kind of record. `Parallel` is called as parallel(parts, body) and calls
// body(part) for each part in [0, parts), on any thread; bodies of one call write to disjoint
// memory.
template <typename Record, typename Keys>
class Sorter {
 public:
  Sorter(const GroupRowsOperands<Keys>& operands, int64_t parts)
      : a_(operands),
        entries_(std::clamp<int64_t>(a_.limit, 0, a_.nse)),
        parts_(std::clamp<int64_t>(parts, 1, kMaxParts)),
        digits_(ChooseDigits(a_.keys.Limit(), entries_)) {}

  // Bytes of scratch that Run needs.
  int64_t ScratchBytes() const {
    return 2 * RecordBytes() + std::max<int64_t>(parts_, digits_.number) * CounterBytes();
  }

  template <typename Parallel>
  void Run(void* scratch, const Parallel& parallel) {
    char* memory = static_cast<char*>(scratch);
    from_ = reinterpret_cast<Record*>(memory);
    to_ = reinterpret_cast<Record*>(memory + RecordBytes());
    counters_ = reinterpret_cast<uint32_t*>(memory + 2 * RecordBytes());
    if (const int64_t run = FirstRun(0); run == entries_ || FirstRun(run) == entries_) {
      Merge(run);
    } else if (parts_ == 1) {
      Sort();
    } else {
      SortInParts(parallel);
    }
    const Record* end = std::partition_point(
        from_, from_ + entries_, [this](const Record& r) { return r.Key() < a_.keys.Limit(); });
    WriteGroups(end - from_, parallel);
  }

 private:
  int64_t RecordBytes() const {
    return (entries_ * static_cast<int64_t>(sizeof(Record)) + 63) / 64 * 64;
  }
  int64_t CounterBytes() const { return digits_.Values() * static_cast<int64_t>(sizeof(uint32_t)); }
  uint32_t* Counters(int64_t i) const { return counters_ + i * digits_.Values(); }

  // The end of the ascending run of keys that begins at `begin`.
  int64_t FirstRun(int64_t begin) const {
    const Keys key_of = a_.keys;
    int64_t e = begin + 1;
    while (e < entries_ && key_of(e - 1) <= key_of(e)) ++e;
    return std::min(e, entries_);
  }

  // Sorts two ascending runs, of entries before `middle` and from there on, as what was sorted
  // before or put together of two sorted parts has.
  void Merge(int64_t middle) {
    const Keys key_of = a_.keys;
    Record* to = from_;
    int64_t i = 0, j = middle;
    while (i < middle && j < entries_) {
      const uint64_t left = key_of(i), right = key_of(j);
      const bool second = right < left;
      *to++ = Record::Make(std::min(left, right), second ? j : i);
      j += second;
      i += !second;
    }
    for (; i < middle; ++i) *to++ = Record::Make(key_of(i), i);
    for (; j < entries_; ++j) *to++ = Record::Make(key_of(j), j);
  }

  // Least significant digit first. One look at the ids counts all digits.
  void Sort() {
    std::memset(counters_, 0, static_cast<size_t>(digits_.number * CounterBytes()));
    if (digits_.number == 2) {
      CountAll<2>();
    } else if (digits_.number == 3) {
      CountAll<3>();
    } else if (digits_.number == 4) {
      CountAll<4>();
    } else {
      for (int digit = 0; digit < digits_.number; ++digit) {
        CountEntries(digit, Counters(digit), 0, entries_);
      }
    }
    bool have_records = false;
    for (int digit = 0; digit < digits_.number; ++digit) {
      uint32_t* counters = Counters(digit);
      const bool last = digit + 1 == digits_.number;
      if (entries_ > 0 && !(last && !have_records) &&
          counters[Digit(digits_, digit)(a_.keys(0))] == entries_) {
        continue;  // all entries have the same digit
      }
      uint32_t sum = 0;
      for (int64_t v = 0; v < digits_.Values(); ++v) {
        const uint32_t here = counters[v];
        counters[v] = sum;
        sum += here;
      }
      if (have_records) {
        MoveRecords(digit, counters, 0, entries_);
      } else {
        MakeRecords(digit, counters, 0, entries_);
        have_records = true;
      }
      std::swap(from_, to_);
    }
  }

  template <int kDigits>
  void CountAll() {
    const Keys key_of = a_.keys;
    const Digit lowest(digits_, 0);
    const int64_t entries = entries_, values = digits_.Values();
    uint32_t* counters = counters_;
    for (int64_t e = 0; e < entries; ++e) {
      uint64_t key = key_of(e);
      for (int d = 0; d < kDigits; ++d) {
        ++counters[d * values + static_cast<int64_t>(lowest(key))];
        key >>= digits_.bits;
      }
    }
  }

  // The same passes, each over `parts_` ranges of entries at a time. A range knows where its
  // entries of a digit go once the earlier ranges are counted, so the result is that of Sort.
  template <typename Parallel>
  void SortInParts(const Parallel& parallel) {
    for (int digit = 0; digit < digits_.number; ++digit) {
      parallel(parts_, [&](int64_t part) {
        uint32_t* counters = Counters(part);
        std::memset(counters, 0, static_cast<size_t>(CounterBytes()));
        const int64_t end = PartBegin(part + 1);
        if (digit == 0) {
          CountEntries(0, counters, PartBegin(part), end);
        } else {
          CountRecords(digit, counters, PartBegin(part), end);
        }
      });
      uint32_t sum = 0;
      for (int64_t v = 0; v < digits_.Values(); ++v) {
        for (int64_t part = 0; part < parts_; ++part) {
          uint32_t& counter = Counters(part)[v];
          const uint32_t here = counter;
          counter = sum;
          sum += here;
        }
      }
      parallel(parts_, [&](int64_t part) {
        if (digit == 0) {
          MakeRecords(0, Counters(part), PartBegin(part), PartBegin(part + 1));
        } else {
          MoveRecords(digit, Counters(part), PartBegin(part), PartBegin(part + 1));
        }
      });
      std::swap(from_, to_);
    }
  }
  int64_t PartBegin(int64_t part) const { return entries_ * part / parts_; }

  void MakeRecords(int digit, uint32_t* next, int64_t begin, int64_t end) {
    const Keys key_of = a_.keys;
    const Digit digit_of(digits_, digit);
    Record* to = to_;
    for (int64_t e = begin; e < end; ++e) {
      const uint64_t key = key_of(e);
      to[next[digit_of(key)]++] = Record::Make(key, e);
    }
  }

  // Entries of one id follow each other here, and so do their digits. A counter that is read right
  // after it was written stalls the processor, so it stays in a register as long as the digit does.
  void MoveRecords(int digit, uint32_t* next, int64_t begin, int64_t end) {
    if (begin == end) return;
    const Digit digit_of(digits_, digit);
    const Record* from = from_;
    Record* to = to_;
    uint64_t current = digit_of(from[begin].Key());
    uint32_t position = next[current];
    for (int64_t j = begin; j < end; ++j) {
      const Record record = from[j];
      const uint64_t value = digit_of(record.Key());
      if (value != current) {
        next[current] = position;
        position = next[value];
        current = value;
      }
      to[position++] = record;
    }
  }
  void CountEntries(int digit, uint32_t* counters, int64_t begin, int64_t end) {
    const Keys key_of = a_.keys;
    const Digit digit_of(digits_, digit);
    for (int64_t e = begin; e < end; ++e) ++counters[digit_of(key_of(e))];
  }
  void CountRecords(int digit, uint32_t* counters, int64_t begin, int64_t end) {
    const Digit digit_of(digits_, digit);
    const Record* from = from_;
    int64_t run = begin;
    for (int64_t j = begin; j < end; ++j) {
      const uint64_t value = digit_of(from[j].Key());
      if (j + 1 < end && digit_of(from[j + 1].Key()) == value) continue;
      counters[value] += static_cast<uint32_t>(j + 1 - run);
      run = j + 1;
    }
  }

  // Writes the results, given the sorted records, the first `real` of which are no padding.
  template <typename Parallel>
  void WriteGroups(int64_t real, const Parallel& parallel) {
    a_.starts[0] = 0;
    int64_t groups = 0;
    if (parts_ == 1) {
      groups = WriteRange(0, real, 0);
    } else {
      // Ranges that begin with a group, and the number of the first one's group.
      int64_t begin[kMaxParts + 1], group[kMaxParts + 1];
      for (int64_t part = 0; part <= parts_; ++part) {
        begin[part] = real * part / parts_;
        if (part > 0) begin[part] = std::max(begin[part], begin[part - 1]);
        while (begin[part] > 0 && begin[part] < real &&
               from_[begin[part]].Key() == from_[begin[part] - 1].Key()) {
          ++begin[part];
        }
      }
      parallel(parts_, [&](int64_t part) {
        int64_t here = begin[part] < begin[part + 1] ? 1 : 0;
        for (int64_t j = begin[part] + 1; j < begin[part + 1]; ++j) {
          here += from_[j].Key() != from_[j - 1].Key();
        }
        group[part + 1] = here;
      });
      group[0] = 0;
      for (int64_t part = 0; part < parts_; ++part) group[part + 1] += group[part];
      parallel(parts_,
               [&](int64_t part) { WriteRange(begin[part], begin[part + 1], group[part]); });
      groups = group[parts_];
    }
    const int64_t kept = std::min(groups, a_.capacity);
    const int32_t end = a_.starts[kept];
    for (int64_t i = kept; i < a_.capacity; ++i) {
      a_.keys.WritePadding(i);
      a_.starts[i + 1] = end;
    }
    for (int64_t j = real; j < entries_; ++j) WritePadding(j, from_[j].Entry());
    for (int64_t j = entries_; j < a_.nse; ++j) WritePadding(j, static_cast<int32_t>(j));
    *a_.count = static_cast<int32_t>(groups);
  }
  void WritePadding(int64_t j, int32_t entry) {
    a_.order[j] = entry;
    a_.inverse[entry] = static_cast<int32_t>(a_.capacity);
  }

  // Writes the records [begin, end), the first of which begins group `group`. Returns the number
  // of the group after the last. Every record writes its group's row and end, which costs less than
  // to foresee which one is the last.
  int64_t WriteRange(int64_t begin, int64_t end, int64_t group) {
    constexpr int64_t kAhead = 32;
    const GroupRowsOperands<Keys> a = a_;
    const int64_t fetched = a.nse > kCachedEntries ? end - kAhead : 0;
    const Record* from = from_;
    int64_t g = group - 1;
    uint64_t previous = ~uint64_t{0};  // no key, as keys fit a signed type
    int64_t j = begin;
    for (; j < end; ++j) {
      if (j < fetched) __builtin_prefetch(a.inverse + from[j + kAhead].Entry(), 1);
      const uint64_t key = from[j].Key();
      const int32_t entry = from[j].Entry();
      g += key != previous;
      previous = key;
      if (g >= a.capacity) break;
      a.keys.Write(g, key, entry);
      a.starts[g + 1] = static_cast<int32_t>(j + 1);
      a.order[j] = entry;
      a.inverse[entry] = static_cast<int32_t>(g);
    }
    if (j == end) return g + 1;
    --g;  // the record at j is looked at again
    previous = j > begin ? from[j - 1].Key() : ~uint64_t{0};
    for (; j < end; ++j) {
      g += from[j].Key() != previous;
      previous = from[j].Key();
      WritePadding(j, from[j].Entry());
    }
    return g + 1;
  }

  GroupRowsOperands<Keys> a_;
  int64_t entries_;
  int64_t parts_;
  Digits digits_;
  Record* from_ = nullptr;
  Record* to_ = nullptr;
  uint32_t* counters_ = nullptr;
};

}  // namespace group_rows

// Sorts the entries by key (least significant digit first; Knuth, The Art of Computer Programming
// 3, 5.2.5; or by merging, where they are one or two ascending runs) and writes down the groups.
// False if there is no memory.
//
// Cost O(nse + capacity) for a bounded width of keys: a pass over the entries for about every
// eleven bits of it, and 16 bytes of scratch an entry (32 from 2^32 keys on), which `scratch`
// keeps. `parts` ranges of entries are worked on at a time, by parallel(parts, body); the results
// do not depend on it.
template <typename Keys, typename Parallel>
bool GroupRows(const GroupRowsOperands<Keys>& operands, int64_t parts, Scratch& scratch,
               const Parallel& parallel) {
  const auto run = [&](auto sorter) {
    void* memory = scratch.Get(sorter.ScratchBytes());
    if (memory == nullptr) return false;
    sorter.Run(memory, parallel);
    scratch.Trim();
    return true;
  };
  if (operands.keys.Limit() >> group_rows::NarrowRecord::kKeyBits == 0) {
    return run(group_rows::Sorter<group_rows::NarrowRecord, Keys>(operands, parts));
  }
  return run(group_rows::Sorter<group_rows::WideRecord, Keys>(operands, parts));
}

}  // namespace rarefy
