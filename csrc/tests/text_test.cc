// Tests of the text parser that are easier in C++ than through Python. Exit status 0 if all hold.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/check.h"
#include "tests/padded_text.h"
#include "text/buffer.h"
#include "text/count.h"
#include "text/diagnose.h"
#include "text/form.h"
#include "text/gather.h"
#include "text/line.h"
#include "text/number.h"
#include "text/parse.h"
#include "text/tasks.h"
#include "text/write.h"

namespace rarefy::text {
namespace {

template <typename T>
bool SameBits(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// The number that all of `text` makes.
template <typename T>
T Number(const std::string& text) {
  const PaddedText padded(text, '7');
  T value = -1;
  const char* const end = ParseNumber(padded.data(), true, &value);
  CHECK(end == padded.data() + text.size());
  return value;
}

void CheckAgainstLibrary(const std::string& text) {
  CHECK(SameBits(Number<double>(text), std::strtod(text.c_str(), nullptr)));
  CHECK(SameBits(Number<float>(text), std::strtof(text.c_str(), nullptr)));
}

void NumbersRoundToNearest() {
  for (const char* text :
       {"0",
        "-0",
        "0.0",
        "1",
        "1.",
        ".5",
        "+.5e1",
        "-1e-3",
        "1E+22",
        "1e23",
        "123456789012345678901",
        "9007199254740993",
        "9007199254740992.5",
        "16777217",
        "16777217.0000000000000000000001",
        "33554431.5",
        "1.17549435e-38",
        "1.1754942e-38",
        "7.0064923216240854e-46",
        "1e-45",
        "7.006492321624085e-46",
        "2.4703282292062327e-324",
        "5e-324",
        "2.2250738585072011e-308",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
        "3.4028235677973366e38",
        "3.4028235677973365e38",
        "1e400",
        "-1e400",
        "1e-400",
        "0e999999999999999999999",
        "1e39",
        "0.000000000000000000000000000000000000000000000123456789012345678901234567890",
        "100000000000000000000000000000000000000000000000000e-45",
        "0.1",
        "0.30000000000000004",
        "8589973000.5",
        "1.00000017881393421514957253748434595763683319091796875001"}) {
    CheckAgainstLibrary(text);
  }
  CheckAgainstLibrary(std::string(400, '1'));
  CheckAgainstLibrary("0." + std::string(400, '0') + "1");
  CheckAgainstLibrary("0." + std::string(400, '0') + "1e401");
  CheckAgainstLibrary(std::string(400, '9') + "e-400");
  std::mt19937_64 random(7);
  for (int i = 0; i < 200000; ++i) {
    std::string text = random() % 4 == 0 ? "-" : "";
    const auto digits = [&](uint64_t most) {
      for (uint64_t n = random() % (most + 1); n > 0; --n) {
        text.push_back(static_cast<char>('0' + random() % 10));
      }
    };
    text.push_back(static_cast<char>('0' + random() % 10));
    digits(i % 3 == 0 ? 24 : 7);
    text.push_back('.');
    digits(i % 5 == 0 ? 24 : 8);
    if (random() % 3 == 0) text += "e" + std::to_string(static_cast<int>(random() % 100) - 50);
    CheckAgainstLibrary(text);
  }
  // Halfway between two floats, and one unit of the nineteenth digit to either side.
  for (int i = 0; i < 20000; ++i) {
    const double middle = static_cast<double>((random() % (1 << 24)) | (1 << 23)) + 0.5;
    for (const char* tail : {"", "0000000000001", "1", "000000000000000000000000000000000001"}) {
      char text[100];
      std::snprintf(text, sizeof text, "%.1f%s", middle, tail);
      CheckAgainstLibrary(text);
    }
  }
}

void NoNumberIsRefused() {
  double value;
  for (const char* text :
       {"", ".", "-", "+", "e5", "1e", "1e+", "--1", "x", ".e1", "-.", "na", "in"}) {
    const PaddedText padded(text, '1');
    CHECK(ParseNumber(padded.data(), true, &value) == nullptr);
  }
  for (const char* text : {"nan", "inf", "-Infinity", "1e999"}) {
    const PaddedText padded(text);
    CHECK(ParseNumber(padded.data(), false, &value) == nullptr);
    CHECK(ParseNumber(padded.data(), true, &value) != nullptr);
  }
}

void IntegersAreExact() {
  int64_t value;
  const auto parses = [&](const std::string& text) {
    const PaddedText padded(text);
    return ParseInteger(padded.data(), &value) == padded.data() + text.size();
  };
  CHECK(parses("9223372036854775807") && value == std::numeric_limits<int64_t>::max());
  CHECK(parses("-9223372036854775808") && value == std::numeric_limits<int64_t>::min());
  CHECK(parses("+72057594037927937") && value == 72057594037927937);
  CHECK(parses(std::string(40, '0') + "12") && value == 12);
  CHECK(!parses("9223372036854775808") && !parses("-9223372036854775809"));
  CHECK(!parses("18446744073709551616") && !parses(std::string(40, '9')) && !parses("-"));
}

void DigitRunsCountDigits() {
  for (int n = 0; n <= 8; ++n) {
    for (const char c : {'/', ':', ' ', '.', '\0', '\x7f', '\x80', '\xb5', '\xff', 'e'}) {
      char bytes[8];
      std::memset(bytes, c, sizeof bytes);
      for (int i = 0; i < n; ++i) bytes[i] = static_cast<char>('1' + i);
      CHECK(DigitRun(Load8(bytes) ^ kZeros) == n);
      uint64_t expected = 0;
      for (int i = 0; i < n; ++i) expected = expected * 10 + static_cast<uint64_t>(i + 1);
      if (n > 0) CHECK(LeadingDigits(Load8(bytes) ^ kZeros, n) == expected);
    }
  }
}

void BytesAreCounted() {
  std::mt19937 random(3);
  for (int size = 0; size < 20000; size = size * 2 + 7) {
    std::string text(static_cast<size_t>(size), ' ');
    ByteCounts expected;
    for (char& c : text) {
      c = "\n:,\r1"[random() % 5];
      expected.newlines += c == '\n';
      expected.colons += c == ':';
      expected.commas += c == ',';
      expected.returns += c == '\r';
    }
    const ByteCounts all = CountBytes<true>(text.data(), text.data() + size);
    const ByteCounts some = CountBytes<false>(text.data(), text.data() + size);
    CHECK(all.newlines == expected.newlines && all.colons == expected.colons);
    CHECK(all.commas == expected.commas && all.returns == expected.returns);
    CHECK(some.newlines == expected.newlines && some.colons == expected.colons);
  }
}

void TasksRunOnceAndPassExceptionsOn() {
  for (const int64_t threads : {1, 2, 5}) {
    std::vector<std::atomic<int>> runs(100);
    RunTasks(100, threads, [&](int64_t task) { ++runs[task]; });
    for (const auto& count : runs) CHECK(count == 1);
    bool caught = false;
    try {
      RunTasks(100, threads, [](int64_t task) {
        if (task == 50) throw std::bad_alloc();
      });
    } catch (const std::bad_alloc&) {
      caught = true;
    }
    CHECK(caught);
  }
}

void BuffersAreRecycledAndKeepTheirContent() {
  Buffer buffer;
  buffer.Reserve(1 << 20);
  buffer.As<char>()[12345] = 'x';
  buffer.Reserve(1 << 23);
  CHECK(buffer.As<char>()[12345] == 'x' && buffer.capacity() >= 1 << 23);
  void* const data = buffer.As<void>();
  const int64_t capacity = buffer.capacity();
  CHECK(buffer.Release() == data && buffer.capacity() == 0);
  GiveBack(data, capacity);
  Buffer other;
  other.Reserve(capacity);
  CHECK(other.As<void>() == data);
}

void PermutationsAreThoseOfAllTime() {
  std::vector<int64_t> order(10);
  Permutation(10, 42, order.data());
  std::vector<bool> seen(10);
  for (const int64_t i : order) seen[i] = true;
  for (const bool s : seen) CHECK(s);
  // Worked out by the Python rendering of the algorithm in tests/io/test_libsvm_shuffle.py.
  CHECK((order == std::vector<int64_t>{0, 9, 5, 8, 6, 4, 7, 2, 1, 3}));
}

void Run() {
  NumbersRoundToNearest();
  NoNumberIsRefused();
  IntegersAreExact();
  DigitRunsCountDigits();
  BytesAreCounted();
  TasksRunOnceAndPassExceptionsOn();
  BuffersAreRecycledAndKeepTheirContent();
  PermutationsAreThoseOfAllTime();
}

}  // namespace
}  // namespace rarefy::text

int main() {
  rarefy::text::Run();
  std::puts("text_test: all hold");
}
