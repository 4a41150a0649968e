// Text to rows, on several threads.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "text/count.h"
#include "text/error.h"
#include "text/line.h"
#include "text/rows.h"

namespace rarefy::text {

// How the work is cut, and what happens at a bad line. Nothing here changes the rows.
struct Plan {
  int64_t task_bytes = 1 << 18;  // text per task; a task's rows begin within it
  int64_t threads = 1;
  bool skip_bad = false;    // go on after a bad line
  int64_t max_reports = 1;  // how many bad lines are described
};

struct ParseResult {
  int64_t newlines = 0;            // in the whole text
  int64_t bad_lines = 0;           // at most 1 unless skip_bad
  std::vector<LineError> reports;  // the first of them, in the order of the text
};

// A stretch of whole lines, and a bound on what they hold.
struct Task {
  const char* begin;
  const char* end;
  ByteCounts counts;

  int64_t MostRows() const { return counts.newlines + 1; }
  int64_t MostEntries() const { return counts.colons; }
  int64_t MostLabels() const { return counts.commas + MostRows(); }
};

// Cuts `[text, text + size)` at line ends and counts each piece.
std::vector<Task> CutAtLines(const char* text, int64_t size, const Plan& plan);

// What became of one task's lines.
struct TaskResult {
  int64_t bad_lines = 0;
  bool stopped = false;  // at its first bad line; the output holds the rows before it
  std::vector<LineError> reports;
};

LineError DiagnoseAt(const char* text, const char* line, const Format& format, bool narrow_values,
                     bool narrow_indices);

// Parses the lines of `task` into `out`, which must have room for what they may hold.
template <typename T, typename I>
TaskResult ParseTask(const char* text, const Task& task, const Format& format, const Plan& plan,
                     Output<T, I>* out) {
  TaskResult result;
  RowSorter<T, I> sorter;
  for (const char* p = task.begin; p < task.end;) {
    const char* const line = p;
    if (ParseLine(&p, format, &sorter, out) != LineResult::kBad) continue;
    ++result.bad_lines;
    if (result.bad_lines <= plan.max_reports) {
      result.reports.push_back(DiagnoseAt(text, line, format, std::is_same_v<T, float>,
                                          std::is_same_v<I, int32_t>));
    }
    if (!plan.skip_bad) {
      result.stopped = true;
      break;
    }
  }
  return result;
}

// Appends the rows of the text to `rows`. Unless plan.skip_bad, the rows before the first bad line
// are appended and the rest is dropped. The result does not depend on `plan.task_bytes` or
// `plan.threads`.
//
// Args:
//   text: `size` bytes of whole lines, not empty of trailing newline unless text[size] is one; either
//     way kPadding bytes after the last newline may be read.
//   rows: its types and what it holds must fit the format; its buffers grow.
//
// Throws std::bad_alloc, and then leaves `rows` as it was.
ParseResult ParseText(const char* text, int64_t size, const Format& format, const Plan& plan,
                      Rows* rows);

}  // namespace rarefy::text
