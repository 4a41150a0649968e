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

// What became of one task's lines.
struct TaskResult {
  int64_t bad_lines = 0;
  bool stopped = false;  // at its first bad line; the output holds the rows before it
  std::vector<LineError> reports;
};

struct ParseResult {
  int64_t newlines = 0;            // in the text; of no use if a bad line ended it
  int64_t bad_lines = 0;           // at most 1 unless skip_bad
  std::vector<LineError> reports;  // the first of them, in the order of the text

  void Take(const TaskResult& task, const Plan& plan) {
    bad_lines += task.bad_lines;
    for (const LineError& report : task.reports) {
      if (static_cast<int64_t>(reports.size()) < plan.max_reports) reports.push_back(report);
    }
  }
};

// A stretch of whole lines, not empty, and a bound on what they hold.
struct Task {
  const char* begin;
  const char* end;
  ByteCounts counts;
};

// Numbers of rows and what they hold: of some rows in hand, or the most that text can hold.
struct Extents {
  int64_t rows = 0;
  int64_t entries = 0;
  int64_t labels = 0;
};

inline Extents Most(const Task& task) {
  const int64_t lines = task.counts.newlines + (task.end[-1] != '\n');
  return {lines, task.counts.colons, task.counts.commas + lines};
}

// Cuts `[text, text + size)` at line ends and counts each piece; `all` as in CountBytes.
std::vector<Task> CutAtLines(const char* text, int64_t size, bool all, const Plan& plan);

// Makes room for `most` in the buffers that `format` uses.
void Reserve(const Format& format, const Extents& most, Rows* rows);

// Where ParseLine writes when `at` stands before it in `rows`.
template <typename T, typename I>
Output<T, I> OutputAt(const Rows& rows, const Format& format, const Extents& at) {
  Output<T, I> out;
  if (format.labelled && !format.multilabel) out.labels = rows.labels.As<T>() + at.rows;
  if (format.multilabel) {
    out.label_ends = rows.label_indptr.As<int64_t>() + 1 + at.rows;
    out.label_ids = rows.label_ids.As<int64_t>() + at.labels;
  }
  if (format.weights) out.weights = rows.weights.As<T>() + at.rows;
  if (format.qid) out.qid = rows.qid.As<int64_t>() + at.rows;
  out.row_ends = rows.indptr.As<int64_t>() + 1 + at.rows;
  out.indices = rows.indices.As<I>() + at.entries;
  out.data = rows.data.As<T>() + at.entries;
  return out;
}

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
      result.reports.push_back(
          DiagnoseAt(text, line, format, std::is_same_v<T, float>, std::is_same_v<I, int32_t>));
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
//   text: `size` bytes of whole lines, not empty of trailing newline unless text[size] is one;
//   either
//     way kPadding bytes after the last newline may be read.
//   rows: its types and what it holds must fit the format; its buffers grow.
//
// Throws std::bad_alloc, and then leaves `rows` as it was.
ParseResult ParseText(const char* text, int64_t size, const Format& format, const Plan& plan,
                      Rows* rows);

}  // namespace rarefy::text
