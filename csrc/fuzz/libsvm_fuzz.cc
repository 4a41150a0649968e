// Fuzz target of the LibSVM parser, its diagnosis and the writer.
//
// With libFuzzer: clang++ -fsanitize=fuzzer,address,undefined -DRAREFY_LIBFUZZER ...
// Otherwise the program makes up its own inputs: libsvm_fuzz [runs [seed [file...]]] mutates its
// built-in lines and those of the files. It ends with status 0, or with an input in the file
// libsvm_fuzz.found that something was found with.
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/check.h"
#include "tests/padded_text.h"
#include "text/diagnose.h"
#include "text/form.h"
#include "text/parse.h"
#include "text/rows.h"
#include "text/scan.h"
#include "text/write.h"

// Called before a sanitizer ends the program; absent where there is none.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*)());

namespace rarefy::text {
namespace {

struct Parsed {
  Rows rows;
  ParseResult result;
};

Parsed Parse(const PaddedText& text, const Format& format, const Plan& plan, bool float64,
             bool int64) {
  Parsed parsed{Rows(float64, int64), {}};
  Reserve(format, {}, &parsed.rows);
  parsed.result = ParseText(text.data(), text.size(), format, plan, &parsed.rows);
  return parsed;
}

bool SameBytes(const Buffer& a, const Buffer& b, int64_t bytes) {
  return bytes == 0 || std::memcmp(a.As<char>(), b.As<char>(), static_cast<size_t>(bytes)) == 0;
}

bool SameRows(const Format& format, const Rows& a, const Rows& b) {
  if (a.rows != b.rows || a.entries != b.entries || a.label_count != b.label_count) return false;
  const int64_t value = a.value_size();
  bool same = SameBytes(a.indptr, b.indptr, (a.rows + 1) * 8) &&
              SameBytes(a.indices, b.indices, a.entries * a.index_size()) &&
              SameBytes(a.data, b.data, a.entries * value);
  if (format.labelled && !format.multilabel) same &= SameBytes(a.labels, b.labels, a.rows * value);
  if (format.multilabel) {
    same &= SameBytes(a.label_indptr, b.label_indptr, (a.rows + 1) * 8);
    same &= SameBytes(a.label_ids, b.label_ids, a.label_count * 8);
  }
  if (format.weights) same &= SameBytes(a.weights, b.weights, a.rows * value);
  if (format.qid) same &= SameBytes(a.qid, b.qid, a.rows * 8);
  return same;
}

bool SameResults(const ParseResult& a, const ParseResult& b) {
  if (a.bad_lines != b.bad_lines || a.reports.size() != b.reports.size()) return false;
  for (size_t i = 0; i < a.reports.size(); ++i) {
    const LineError &x = a.reports[i], &y = b.reports[i];
    if (x.line != y.line || x.token != y.token || x.token_end != y.token_end || x.kind != y.kind) {
      return false;
    }
  }
  return true;
}

void CheckInvariants(const Format& format, const Rows& rows) {
  const int64_t* const indptr = rows.indptr.As<int64_t>();
  CHECK(indptr[0] == 0 && indptr[rows.rows] == rows.entries);
  for (int64_t row = 0; row < rows.rows; ++row) {
    CHECK(indptr[row] <= indptr[row + 1]);
    int64_t previous = -1;
    for (int64_t i = indptr[row]; i < indptr[row + 1]; ++i) {
      const int64_t index =
          rows.int64 ? rows.indices.As<int64_t>()[i] : rows.indices.As<int32_t>()[i];
      CHECK(index > previous && (format.width < 0 || index < format.width));
      previous = index;
      const double value = rows.float64 ? rows.data.As<double>()[i] : rows.data.As<float>()[i];
      CHECK(format.allow_nonfinite || std::isfinite(value));
    }
  }
}

// Parser and diagnosis agree about each line, and reports lie within their line.
void CheckLines(const PaddedText& text, const Format& format, bool narrow_values,
                bool narrow_indices) {
  Plan plan;
  plan.skip_bad = true;
  plan.max_reports = text.size() + 1;
  const Parsed parsed = Parse(text, format, plan, !narrow_values, !narrow_indices);
  CheckInvariants(format, parsed.rows);
  size_t report = 0;
  int64_t sound = 0, begin = 0;
  while (begin < text.size()) {
    const char* const line = text.data() + begin;
    const int64_t end = FindNewline(line) - text.data();
    const LineError found = Diagnose(line, format, narrow_values, narrow_indices);
    if (found.kind != ErrorKind::kNone) {
      CHECK(report < parsed.result.reports.size());
      const LineError& error = parsed.result.reports[report++];
      CHECK(error.line == begin && error.kind == found.kind);
      CHECK(begin <= error.token && error.token <= error.token_end && error.token_end <= end);
    } else if (!AtLineEnd(SkipBlanks(line))) {
      ++sound;
    }
    begin = end + 1;
  }
  CHECK(report == parsed.result.reports.size());
  CHECK(static_cast<int64_t>(report) == parsed.result.bad_lines && sound == parsed.rows.rows);
  CHECK(CountRows(text.data(), text.size()) == sound + parsed.result.bad_lines);
}

// Threads, cuts and whatever stands behind the text change nothing.
void CheckCuts(std::string_view bytes, const Format& format, bool skip_bad, uint8_t choice) {
  Plan whole;
  whole.skip_bad = skip_bad;
  whole.max_reports = 3;
  Plan pieces = whole;
  pieces.task_bytes = 1 + choice % 40;
  pieces.threads = 1 + choice % 3;
  const bool float64 = choice & 1, int64 = choice & 2;
  const PaddedText text(bytes), other(bytes, '1');
  const Parsed a = Parse(text, format, whole, float64, int64);
  const Parsed b = Parse(other, format, pieces, float64, int64);
  CHECK(SameRows(format, a.rows, b.rows) && SameResults(a.result, b.result));
}

// Every number of the text is what the C library makes of it.
void CheckNumbers(const PaddedText& text) {
  for (int64_t i = 0; i < std::min<int64_t>(text.size(), 400); ++i) {
    const char* const p = text.data() + i;
    if (!IsDigit(*p) && *p != '.' && *p != '-') continue;
    double wide;
    float narrow;
    const char* const end = ParseNumber(p, true, &wide);
    CHECK(end == ParseNumber(p, true, &narrow));
    if (end == nullptr) continue;
    const std::string copy(p, end);
    const double expected = std::strtod(copy.c_str(), nullptr);
    const float expected32 = std::strtof(copy.c_str(), nullptr);
    if (std::isnan(expected)) continue;
    CHECK(std::memcmp(&wide, &expected, sizeof wide) == 0);
    CHECK(std::memcmp(&narrow, &expected32, sizeof narrow) == 0);
  }
}

// Rows that are written and read again are the same.
void CheckRoundTrip(const PaddedText& text, const Format& format, bool float64) {
  Plan plan;
  plan.skip_bad = true;
  const Parsed parsed = Parse(text, format, plan, float64, true);
  const Rows& rows = parsed.rows;
  const auto type = float64 ? Numbers::Type::kFloat64 : Numbers::Type::kFloat32;
  WriteInput input;
  input.indptr = rows.indptr.As<int64_t>();
  input.indices = {Numbers::Type::kInt64, rows.indices.As<void>()};
  input.data = {type, rows.data.As<void>()};
  if (format.labelled && !format.multilabel) input.labels = {type, rows.labels.As<void>()};
  if (format.multilabel) {
    input.label_indptr = rows.label_indptr.As<int64_t>();
    input.label_ids = {Numbers::Type::kInt64, rows.label_ids.As<void>()};
  }
  if (format.qid) input.qid = {Numbers::Type::kInt64, rows.qid.As<void>()};
  input.base = format.base;
  input.keep_zeros = true;
  Buffer buffer;
  const int64_t size = WriteRows(input, 0, rows.rows, &buffer);
  const PaddedText written(std::string_view(buffer.As<char>(), static_cast<size_t>(size)));
  Format again = format;
  again.weights = false;
  const Parsed reread = Parse(written, again, Plan(), float64, true);
  CHECK(reread.result.bad_lines == 0);
  // A row without any label and entry becomes an empty line, which is no row.
  if (!format.multilabel) CHECK(SameRows(again, rows, reread.rows));
}

Format FormatOf(uint8_t bits, uint8_t more) {
  Format format;
  format.labelled = bits & 1;
  format.multilabel = format.labelled && (bits & 2);
  format.weights = format.labelled && (bits & 4);
  format.qid = bits & 8;
  format.allow_nonfinite = bits & 16;
  format.sum_repeats = bits & 32;
  format.base = (bits >> 6) & 1;
  format.width = more & 1 ? -1 : more;
  return format;
}

void CheckAll(const uint8_t* data, size_t size) {
  if (size < 3) return;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 3, size - 3);
  const Format format = FormatOf(data[0], data[1]);
  const PaddedText text(bytes);
  CheckLines(text, format, data[2] & 1, data[2] & 2);
  CheckCuts(bytes, format, data[2] & 4, static_cast<uint8_t>(data[2] >> 3));
  CheckNumbers(text);
  if (!format.allow_nonfinite) CheckRoundTrip(text, format, data[2] & 1);
  const Form form =
      FindForm(text.data(), text.size(), static_cast<Labels>(data[1] % 3), format, data[2] & 4);
  Format scanned = format;
  scanned.labelled = form.labelled || format.multilabel;
  scanned.qid = form.qid;
  scanned.base = 0;
  scanned.width = -1;
  Plan plan;
  plan.skip_bad = true;
  ScanTotals totals;
  ScanText(text.data(), text.size(), scanned, plan, &totals);
  const Parsed parsed = Parse(text, scanned, plan, true, true);
  CHECK(totals.rows == parsed.rows.rows && totals.entries == parsed.rows.entries);
}

#ifndef RAREFY_LIBFUZZER

constexpr const char* kSeeds[] = {
    "1 1:0.5 3:-2e3 7:.25\n-1 2:1 100000:0.125\n",
    "+1\t3:.5   7:1.  9:+2e0 \r\n0\r\n# note\n\n  \n1 # doc\n",
    "2 qid:7 1:0.5 4:1#x\n3 qid:-9 2:1\n",
    "3,6,7 1:1 2:0.5\n 4:1\n5\n0,-1 7:2\n",
    "1:0.5 3:1\n2:2 4:4\n0:1e-45 1:3.4028236e38\n",
    "3:1 8:2\n1:1\n qid:3 1:1\n",
    "1 5:1 3:2 5:3 3:-2\n0 1:nan 2:inf\n1 1:1e400\n",
    "1 18446744073709551557:1\n1 9223372036854775806:1\n1 2147483647:1\n",
    "1 2:6.5e-014:8.7\n1 1\n1,0.5,2\n-1 -3:1\n1 3:\n1 3: .5\n",
    "0.123456789012345678901234567890 16777217:16777217 2:9007199254740993\n",
};
constexpr const char* kPieces[] = {
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    ":",
    ",",
    "#",
    "qid:",
    "-",
    "+",
    ".",
    "e",
    "E-",
    "0",
    "1",
    "9",
    "12345678",
    "123456789",
    "00000000",
    "2147483646",
    "2147483647",
    "9223372036854775807",
    "1:1",
    "nan",
    "inf",
    "Infinity",
    "e400",
    "e-400",
    "0.1",
    "1 ",
    " 1:0.5",
    "\xef\xbb\xbf",
    "\xff",
    "9007199254740993",
    "1e23",
    "5e-324",
};

// One input from another: bytes changed, pieces put in, stretches left out or repeated.
void Mutate(std::mt19937_64* random, std::string* input) {
  const auto below = [&](size_t n) { return static_cast<size_t>((*random)() % n); };
  for (size_t changes = 1 + below(8); changes > 0; --changes) {
    const size_t at = below(input->size() + 1);
    switch (below(5)) {
      case 0:
        input->insert(at, kPieces[below(std::size(kPieces))]);
        break;
      case 1:
        if (at < input->size()) (*input)[at] = static_cast<char>((*random)());
        break;
      case 2:
        input->erase(at, below(12));
        break;
      case 3:
        input->insert(at, input->substr(below(input->size() + 1), below(40)));
        break;
      default:
        if (at < input->size()) (*input)[at] = "0123456789:. \n"[below(14)];
    }
  }
  if (input->size() > 2000) input->resize(2000);
}

std::string current_input;

// Leaves the input that something was found with in the working folder.
void SaveInput() { std::ofstream("libsvm_fuzz.found", std::ios::binary) << current_input; }

int Loop(int argc, char** argv) {
  const int64_t runs = argc > 1 ? std::atoll(argv[1]) : 20000;
  std::signal(SIGABRT, [](int) { SaveInput(); });
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(SaveInput);
  std::mt19937_64 random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  std::vector<std::string> corpus(std::begin(kSeeds), std::end(kSeeds));
  for (int i = 3; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  for (int64_t run = 0; run < runs; ++run) {
    std::string input(3, '\0');
    for (char& c : input) c = static_cast<char>(random());
    const std::string& seed = corpus[random() % corpus.size()];
    input += seed.size() > 2000 ? seed.substr(random() % (seed.size() - 2000), 2000) : seed;
    if (run >= static_cast<int64_t>(corpus.size())) Mutate(&random, &input);
    if (input.size() < 3) continue;
    current_input = input;
    CheckAll(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  }
  std::printf("libsvm_fuzz: %lld inputs, nothing found\n", static_cast<long long>(runs));
  return 0;
}

#endif

}  // namespace
}  // namespace rarefy::text

#ifdef RAREFY_LIBFUZZER
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rarefy::text::CheckAll(data, size);
  return 0;
}
#else
int main(int argc, char** argv) { return rarefy::text::Loop(argc, argv); }
#endif
