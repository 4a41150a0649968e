#include "text/diagnose.h"

#include <map>
#include <vector>

namespace rarefy::text {
namespace {

struct Token {
  const char* begin;
  const char* end;
  bool Has(char c) const { return Find(c) != end; }
  const char* Find(char c) const { return std::find(begin, end, c); }
};

Token TokenAt(const char* p) {
  const char* end = p;
  while (!EndsToken(*end)) ++end;
  return {p, end == p ? p + 1 : end};  // a control character is a token of its own
}

bool AllDigits(const char* begin, const char* end) {
  return begin != end && std::all_of(begin, end, IsDigit);
}

// `first` if `[begin, end)` is no number, `second` if it is one that must be finite and is not.
ErrorKind NumberFault(const char* begin, const char* end, bool narrow, bool allow_nonfinite,
                      ErrorKind first, ErrorKind second) {
  float narrow_value = 0;
  double value = 0;
  const char* stop =
      narrow ? ParseNumber(begin, true, &narrow_value) : ParseNumber(begin, true, &value);
  if (stop != end) return first;
  if (!allow_nonfinite && !std::isfinite(narrow ? narrow_value : value)) return second;
  return ErrorKind::kNone;
}

bool IsInteger(const char* begin, const char* end) {
  begin += begin != end && (*begin == '-' || *begin == '+');
  return AllDigits(begin, end);
}

class Diagnosis {
 public:
  Diagnosis(const Format& format, bool narrow_values, bool narrow_indices)
      : format_(format), narrow_values_(narrow_values), narrow_indices_(narrow_indices) {}

  LineError Of(const char* line) {
    const char* p = SkipBlanks(line);
    Token bad{p, p};
    ErrorKind kind = ErrorKind::kNone;
    if (!AtLineEnd(p)) kind = Row(line, p, &bad);
    return {0, bad.begin - line, bad.end - line, kind};
  }

 private:
  ErrorKind Row(const char* line, const char* p, Token* bad) {
    if (format_.labelled && !(format_.multilabel && IsBlank(*line))) {
      *bad = TokenAt(p);
      const ErrorKind kind = Label(*bad);
      if (kind != ErrorKind::kNone) return kind;
      p = SkipBlanks(bad->end);
    }
    if (format_.qid) {
      *bad = AtLineEnd(p) ? Token{p, p} : TokenAt(p);
      const ErrorKind kind = Qid(*bad);
      if (kind != ErrorKind::kNone) return kind;
      p = SkipBlanks(bad->end);
    }
    bool first = !format_.labelled && !format_.qid;
    for (; !AtLineEnd(p); p = SkipBlanks(p), first = false) {
      *bad = TokenAt(p);
      const ErrorKind kind = Feature(*bad, first);
      if (kind != ErrorKind::kNone) return kind;
      p = bad->end;
    }
    return Sums(bad);
  }

  ErrorKind Label(Token token) const {
    if (*token.begin == '\r') return ErrorKind::kReturnInLine;
    const char* const colon = token.Find(':');
    if (colon != token.end && !format_.weights) return ErrorKind::kLabelMissing;
    ErrorKind kind;
    if (format_.multilabel) {
      kind = LabelList(token.begin, colon);
    } else {
      kind = NumberFault(token.begin, colon, narrow_values_, format_.allow_nonfinite,
                         ErrorKind::kLabelJunk, ErrorKind::kLabelNotFinite);
      if (kind == ErrorKind::kLabelJunk && IsListOfNumbers(token.begin, colon)) {
        kind = ErrorKind::kLabelList;
      }
    }
    if (kind != ErrorKind::kNone || colon == token.end) return kind;
    return NumberFault(colon + 1, token.end, narrow_values_, false, ErrorKind::kWeightJunk,
                       ErrorKind::kWeightNotFinite);
  }

  static bool IsListOfNumbers(const char* p, const char* end) {
    double value;
    for (;; ++p) {
      p = ParseNumber(p, true, &value);
      if (p == end) return true;
      if (p == nullptr || *p != ',') return false;
    }
  }

  static ErrorKind LabelList(const char* p, const char* end) {
    std::vector<int64_t> ids;
    for (;; ++p) {
      int64_t id = 0;
      p = ParseInteger(p, &id);
      if (p == nullptr) return ErrorKind::kLabelListJunk;
      ids.push_back(id);
      if (p == end) break;
      if (*p != ',') return ErrorKind::kLabelListJunk;
    }
    std::sort(ids.begin(), ids.end());
    const bool unique = std::adjacent_find(ids.begin(), ids.end()) == ids.end();
    return unique ? ErrorKind::kNone : ErrorKind::kLabelRepeated;
  }

  static ErrorKind Qid(Token token) {
    if (!StartsWithQid(token.begin)) return ErrorKind::kQidMissing;
    if (!IsInteger(token.begin + 4, token.end)) return ErrorKind::kQidJunk;
    int64_t value;
    return ParseInteger(token.begin + 4, &value) == token.end ? ErrorKind::kNone
                                                              : ErrorKind::kQidBeyondInt64;
  }

  ErrorKind Feature(Token token, bool first) {
    if (*token.begin == '\r') return ErrorKind::kReturnInLine;
    if (StartsWithQid(token.begin)) {
      return format_.qid ? ErrorKind::kQidMisplaced : ErrorKind::kQidUnexpected;
    }
    const char* const colon = token.Find(':');
    if (colon == token.end) {
      double value;
      const bool number = ParseNumber(token.begin, true, &value) == token.end;
      return first && number ? ErrorKind::kLabelUnexpected : ErrorKind::kColonMissing;
    }
    if (!AllDigits(token.begin, colon)) {
      const bool negative = *token.begin == '-' && AllDigits(token.begin + 1, colon);
      return negative ? ErrorKind::kIndexNegative : ErrorKind::kIndexJunk;
    }
    uint64_t raw = 0;
    bool overflow = false;
    ParseDigits(token.begin, &raw, &overflow);
    if (overflow || raw > static_cast<uint64_t>(kMaxIndex)) return ErrorKind::kIndexBeyondInt64;
    const int64_t column = static_cast<int64_t>(raw) - format_.base;
    if (column < 0) return ErrorKind::kIndexBelowBase;
    if (format_.width >= 0 && column >= format_.width) return ErrorKind::kIndexBeyondWidth;
    if (narrow_indices_ && column > kMaxIndex32) return ErrorKind::kIndexBeyondInt32;
    if (colon + 1 == token.end) return ErrorKind::kValueMissing;
    const ErrorKind kind =
        NumberFault(colon + 1, token.end, narrow_values_, format_.allow_nonfinite,
                    ErrorKind::kValueJunk, ErrorKind::kValueNotFinite);
    if (kind != ErrorKind::kNone) return kind;
    Column& seen = columns_[column];
    if (seen.count++ > 0 && !format_.sum_repeats) return ErrorKind::kIndexRepeated;
    seen.sum += Value(colon + 1);
    seen.last = token;
    return ErrorKind::kNone;
  }

  double Value(const char* p) const {
    float narrow_value = 0;
    double value = 0;
    narrow_values_ ? ParseNumber(p, true, &narrow_value) : ParseNumber(p, true, &value);
    return narrow_values_ ? narrow_value : value;
  }

  // Whether a column that stands in the row several times has too large a sum.
  ErrorKind Sums(Token* bad) const {
    if (format_.allow_nonfinite) return ErrorKind::kNone;
    for (const auto& [index, column] : columns_) {
      const double sum = narrow_values_ ? static_cast<float>(column.sum) : column.sum;
      if (column.count > 1 && !std::isfinite(sum)) {
        *bad = column.last;
        return ErrorKind::kValueNotFinite;
      }
    }
    return ErrorKind::kNone;
  }

  struct Column {
    int64_t count = 0;
    double sum = 0;
    Token last{};
  };

  const Format& format_;
  const bool narrow_values_;
  const bool narrow_indices_;
  std::map<int64_t, Column> columns_;
};

}  // namespace

LineError Diagnose(const char* line, const Format& format, bool narrow_values,
                   bool narrow_indices) {
  return Diagnosis(format, narrow_values, narrow_indices).Of(line);
}

}  // namespace rarefy::text
