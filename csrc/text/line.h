// One line of LibSVM text to one row. The grammar stands in docs/libsvm.md.
//
// Text handed to these functions obeys one rule that spares every look at its end: its last line
// ends with a newline, and kPadding further bytes may be read.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "text/number.h"

namespace rarefy::text {

// Keeps rare work out of the loops that decide speed: inlined there, it takes their registers.
#if defined(__GNUC__)
#define RAREFY_NOINLINE __attribute__((noinline))
#define RAREFY_LIKELY(condition) __builtin_expect(condition, 1)
#else
#define RAREFY_NOINLINE
#define RAREFY_LIKELY(condition) (condition)
#endif

// The largest index that is accepted: the width, one more, must be a signed 64-bit integer too.
inline constexpr int64_t kMaxIndex = std::numeric_limits<int64_t>::max() - 1;
// The same for 32-bit indices; a padding index, which equals the width, still fits.
inline constexpr int64_t kMaxIndex32 = std::numeric_limits<int32_t>::max() - 1;

// What the lines of an input look like, and what is asked of them.
struct Format {
  bool labelled = true;
  bool multilabel = false;  // the label is a list of integers, possibly empty
  bool weights = false;     // a label may be followed by `:weight`
  bool qid = false;         // every row has `qid:`; otherwise none has
  bool allow_nonfinite = false;
  bool sum_repeats = false;
  int64_t base = 0;    // the index of the first column
  int64_t width = -1;  // the number of columns, -1 if not declared
};

// The largest column, counted from 0, that `format` lets an index of type `I` name.
template <typename I>
int64_t LastColumn(const Format& format) {
  const int64_t last = std::is_same_v<I, int32_t> ? kMaxIndex32 : kMaxIndex - format.base;
  return format.width < 0 ? last : std::min(last, format.width - 1);
}

// Where the rows of a text go. ParseLine advances the pointers and counts with each row and leaves
// alone what the format has no use for. `T` is float or double, `I` int32_t or int64_t.
template <typename T, typename I>
struct Output {
  T* labels = nullptr;            // one a row, unless multilabel
  int64_t* label_ends = nullptr;  // one a row, if multilabel: label ids up to the end of this row
  int64_t* label_ids = nullptr;   // if multilabel: ascending within a row
  T* weights = nullptr;           // one a row, if weights
  int64_t* qid = nullptr;         // one a row, if qid
  int64_t* row_ends = nullptr;    // one a row: entries up to the end of this row
  I* indices = nullptr;           // columns counted from 0, ascending and unique within a row
  T* data = nullptr;
  int64_t rows = 0;
  int64_t entries = 0;
  int64_t label_count = 0;
};

enum class LineResult { kRow, kNoRow, kBad };

inline bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// Whether a token may end before `c`. Control characters pass here; who looks for the next token
// finds that they begin none.
inline bool EndsToken(char c) { return static_cast<unsigned char>(c) <= ' ' || c == '#'; }

inline const char* SkipBlanks(const char* p) {
  while (IsBlank(*p)) ++p;
  return p;
}

inline const char* FindNewline(const char* p) {
  while (*p != '\n') ++p;
  return p;
}

// Whether nothing but blanks and a comment stand between `p` and the newline. Carriage returns
// count as blanks here and nowhere else.
inline bool AtLineEnd(const char* p) {
  if (*p == '#' || *p == '\n') return true;
  while (*p == '\r' || IsBlank(*p)) ++p;
  return *p == '\n';
}

// `inf`, `infinity` or `nan` in any case; null where `p` begins none of them.
template <typename T>
const char* ScanWord(const char* p, T* value) {
  struct Word {
    const char* spelling;
    T value;
  };
  static constexpr Word kWords[] = {
      {"infinity", std::numeric_limits<T>::infinity()},
      {"inf", std::numeric_limits<T>::infinity()},
      {"nan", std::numeric_limits<T>::quiet_NaN()},
  };
  for (const Word& word : kWords) {
    const char* s = word.spelling;
    const char* q = p;
    while (*s != '\0' && (*q | 0x20) == *s) ++s, ++q;
    if (*s == '\0') {
      *value = word.value;
      return q;
    }
  }
  return nullptr;
}

// A number with an optional sign. Returns its end, or null where there is no number, or one that is
// not finite and must be.
template <typename T>
RAREFY_NOINLINE const char* ParseNumber(const char* p, bool allow_nonfinite, T* value) {
  const bool negative = *p == '-';
  p += negative || *p == '+';
  Decimal decimal;
  const char* end = ScanDecimal(p, &decimal);
  T magnitude = 0;
  if (end != nullptr) {
    magnitude = Nearest<T>(decimal);
  } else {
    end = ScanWord(p, &magnitude);
    if (end == nullptr) return nullptr;
  }
  if (!allow_nonfinite && !std::isfinite(magnitude)) return nullptr;
  *value = negative ? -magnitude : magnitude;
  return end;
}

// A signed 64-bit integer. Returns its end, or null where there is none or it does not fit.
inline const char* ParseInteger(const char* p, int64_t* value) {
  const bool negative = *p == '-';
  p += negative || *p == '+';
  uint64_t magnitude = 0;
  bool overflow = false;
  const char* end = ParseDigits(p, &magnitude, &overflow);
  const uint64_t most = (uint64_t{1} << 63) - !negative;
  if (end == p || overflow || magnitude > most) return nullptr;
  *value = static_cast<int64_t>(negative ? ~magnitude + 1 : magnitude);
  return end;
}

inline bool StartsWithQid(const char* p) { return std::memcmp(p, "qid:", 4) == 0; }

// Brings rows whose columns do not ascend into order. Keeps its memory from row to row.
template <typename T, typename I>
class RowSorter {
 public:
  // Sorts `count` entries in place. Repeats are summed in double precision if `sum_repeats`.
  // Returns how many entries are left, or -1 where a repeat is refused or a sum is not finite.
  int64_t Sort(I* indices, T* data, int64_t count, const Format& format) {
    entries_.resize(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) entries_[i] = {indices[i], data[i], i};
    // By position too: sums are then taken in the order of the text.
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return a.index != b.index ? a.index < b.index : a.position < b.position;
    });
    int64_t kept = 0;
    for (int64_t i = 0; i < count;) {
      const I index = entries_[i].index;
      int64_t next = i + 1;
      double sum = entries_[i].value;
      for (; next < count && entries_[next].index == index; ++next) sum += entries_[next].value;
      if (next - i > 1) {
        const bool finite = std::isfinite(static_cast<T>(sum));
        if (!format.sum_repeats || !(finite || format.allow_nonfinite)) return -1;
      }
      indices[kept] = index;
      data[kept++] = static_cast<T>(sum);
      i = next;
    }
    return kept;
  }

 private:
  struct Entry {
    I index;
    T value;
    int64_t position;
  };
  std::vector<Entry> entries_;
};

// The label or labels at the beginning of `line`, whose first token is at `p`, into `out`. Returns
// the end of the token (or `p`, for an empty list of labels), null where it is not as it must be.
template <typename T, typename I>
const char* ParseLabel(const char* line, const char* p, const Format& format, Output<T, I>* out) {
  if (!format.multilabel) {
    p = ParseNumber(p, format.allow_nonfinite, out->labels);
    if (p == nullptr) return nullptr;
  } else {
    int64_t* ids = out->label_ids;
    if (IsBlank(*line)) {
      *out->label_ends = out->label_count;
      if (format.weights) *out->weights = 1;
      return p;
    }
    int64_t count = 0;
    for (;; ++p) {
      p = ParseInteger(p, ids + count);
      if (p == nullptr) return nullptr;
      ++count;
      if (*p != ',') break;
    }
    std::sort(ids, ids + count);
    if (std::adjacent_find(ids, ids + count) != ids + count) return nullptr;
    *out->label_ends = out->label_count + count;
  }
  if (format.weights) {
    *out->weights = 1;
    if (*p == ':') {
      p = ParseNumber(p + 1, false, out->weights);
      if (p == nullptr) return nullptr;
    }
  }
  return EndsToken(*p) ? p : nullptr;
}

template <typename T>
RAREFY_NOINLINE const char* ParseValueSlowly(const char* p, bool allow_nonfinite, T* value) {
  p = ParseNumber(p, allow_nonfinite, value);
  return p != nullptr && EndsToken(*p) ? p : nullptr;
}

// The value of a feature: one number, whatever its form, and nothing behind it. Returns where the
// token ends, or null.
template <typename T>
inline const char* ParseValue(const char* p, bool allow_nonfinite, T* value) {
  // The two forms that make up most files: a single digit, and `[-]d.ddd` with up to seven
  // decimals.
  const bool negative = *p == '-';
  const char* q = p + negative;
  const uint64_t digit = static_cast<unsigned char>(*q - '0');
  if (digit < 10) {
    if (q[1] == '.') {
      const uint64_t x = Load8(q + 2) ^ kZeros;
      const int n = DigitRun(x);
      if (n != 0 && n != 8) {
        const char* const end = q + 2 + n;
        if (!EndsToken(*end)) return ParseValueSlowly(p, allow_nonfinite, value);
        const uint64_t mantissa = digit * kPower10[n] + LeadingDigits(x, n);
        T magnitude;
        if (std::is_same_v<T, double> || mantissa <= uint64_t{1} << 24) {
          // Both operands are exact, so the quotient is rounded once.
          magnitude =
              static_cast<T>(static_cast<int64_t>(mantissa)) / static_cast<T>(kExactPower10[n]);
        } else {
          magnitude = Nearest<T>({mantissa, -n, false, q, end});
        }
        *value = negative ? -magnitude : magnitude;
        return end;
      }
    } else if (EndsToken(q[1])) {
      const T magnitude = static_cast<T>(static_cast<int64_t>(digit));
      *value = negative ? -magnitude : magnitude;
      return q + 1;
    }
  }
  return ParseValueSlowly(p, allow_nonfinite, value);
}

// The features from `p` to the end of the line, `*count` of them, as they stand in the text but for
// the base. Returns where the line's newline or comment begins, or null where something is not as
// it must be; columns below the base or beyond the width are left to the caller.
template <typename T, typename I>
inline const char* ParseFeatures(const char* p, const Format& format, I* indices, T* data,
                                 int64_t* count, bool* ascending) {
  const int64_t most =
      (std::is_same_v<I, int32_t> ? kMaxIndex32 : kMaxIndex - format.base) + format.base;
  int64_t n = 0;
  int64_t previous = -1;
  bool in_order = true;
  for (;;) {
    // A branch, not an addition: the loads that follow then need not wait for this one.
    if (RAREFY_LIKELY(*p == ' ')) ++p;
    const uint64_t x = Load8(p) ^ kZeros;
    const int digits = DigitRun(x);
    int64_t index;
    if (digits == 0) {
      p = SkipBlanks(p);
      if (AtLineEnd(p)) break;
      if (!IsDigit(*p)) return nullptr;
      continue;
    }
    if (digits < 8) {
      index = static_cast<int64_t>(LeadingDigits(x, digits));
      p += digits;
    } else {
      uint64_t value;
      bool overflow;
      p = ParseDigits(p, &value, &overflow);
      if (overflow || value > static_cast<uint64_t>(most)) return nullptr;
      index = static_cast<int64_t>(value);
    }
    if (*p != ':') return nullptr;
    p = ParseValue(p + 1, format.allow_nonfinite, data + n);
    if (p == nullptr) return nullptr;
    in_order &= index > previous;
    previous = index;
    indices[n++] = static_cast<I>(index - format.base);
  }
  *count = n;
  *ascending = in_order;
  return p;
}

// Parses the line at `*p` and moves `*p` to the next one, whatever the line holds. A row goes to
// `out`; a line that is no row, or a bad one, leaves `out` as it was (but may have scribbled on the
// places of the next row). `out` must have room for one row, as many entries as the line has
// colons, and as many label ids as it has commas, and one more.
template <typename T, typename I>
inline LineResult ParseLine(const char** next, const Format& format, RowSorter<T, I>* sorter,
                            Output<T, I>* out) {
  const char* const line = *next;
  const char* p = SkipBlanks(line);
  if (AtLineEnd(p)) {
    *next = FindNewline(p) + 1;
    return LineResult::kNoRow;
  }
  const auto bad = [&] {
    *next = FindNewline(line) + 1;
    return LineResult::kBad;
  };
  if (format.labelled) {
    p = ParseLabel(line, p, format, out);
    if (p == nullptr) return bad();
    p = SkipBlanks(p);
  }
  if (format.qid) {
    if (!StartsWithQid(p)) return bad();
    p = ParseInteger(p + 4, out->qid);
    if (p == nullptr || !EndsToken(*p)) return bad();
  }
  I* const indices = out->indices;
  int64_t count = 0;
  bool ascending = true;
  p = ParseFeatures(p, format, indices, out->data, &count, &ascending);
  if (p == nullptr) return bad();
  if (!ascending) count = sorter->Sort(indices, out->data, count, format);
  if (count < 0) return bad();
  if (count > 0 && (indices[0] < 0 || indices[count - 1] > LastColumn<I>(format))) return bad();

  *next = (*p == '\n' ? p : FindNewline(p)) + 1;
  if (!format.multilabel) {
    out->labels += format.labelled;
  } else {
    const int64_t labels = *out->label_ends++ - out->label_count;
    out->label_ids += labels;
    out->label_count += labels;
  }
  out->weights += format.weights;
  out->qid += format.qid;
  out->indices += count;
  out->data += count;
  out->entries += count;
  ++out->rows;
  *out->row_ends++ = out->entries;
  return LineResult::kRow;
}

}  // namespace rarefy::text
