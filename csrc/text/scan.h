// Facts about a text that take one look at every row and keep none.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <unordered_map>

#include "text/parse.h"

namespace rarefy::text {

// Facts about the rows of several texts together.
struct ScanTotals {
  // More distinct labels than this are not told apart.
  static constexpr int64_t kMostLabels = 1000;

  int64_t rows = 0;
  int64_t entries = 0;
  int64_t zeros = 0;            // entries whose value is 0
  int64_t inexact_float32 = 0;  // entries whose value is whole and changes when stored as float
  int64_t beyond_2_53 = 0;  // entries whose value is whole and so large that double may round it
  int64_t min_index = -1;   // as written in the text; -1 without entries
  int64_t max_index = -1;
  int64_t min_row = std::numeric_limits<int64_t>::max();  // entries of the shortest row
  int64_t max_row = 0;
  std::array<int64_t, 65> row_bits{};  // rows by the bit length of their number of entries

  int64_t labels = 0;  // how many, over all rows; NaN does not count
  double min_label = std::numeric_limits<double>::infinity();
  double max_label = -std::numeric_limits<double>::infinity();
  double label_sum = 0;
  bool many_labels = false;
  std::unordered_map<double, int64_t> label_counts;  // empty if many_labels

  int64_t crlf = 0;  // lines that end with a carriage return and a newline

  void Add(const ScanTotals& other);
};

// Adds the facts about a text to `totals`; a bad line ends the text as in ParseText, whose
// arguments these are. `format.base` must be 0 and `format.width` -1.
ParseResult ScanText(const char* text, int64_t size, const Format& format, const Plan& plan,
                     ScanTotals* totals);

}  // namespace rarefy::text
