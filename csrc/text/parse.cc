#include "text/parse.h"

#include <cstring>

#include "text/diagnose.h"
#include "text/tasks.h"

namespace rarefy::text {
namespace {

// What the tasks before one may hold or do hold.
struct Offsets {
  int64_t rows = 0;
  int64_t entries = 0;
  int64_t labels = 0;
};

template <typename T>
void MoveDown(const Buffer& buffer, int64_t to, int64_t from, int64_t count) {
  if (to == from || count == 0) return;
  std::memmove(buffer.As<T>() + to, buffer.As<T>() + from, static_cast<size_t>(count) * sizeof(T));
}

template <typename T, typename I>
Output<T, I> OutputAt(const Rows& rows, const Format& format, const Offsets& at) {
  Output<T, I> out;
  if (format.labelled && !format.multilabel) out.labels = rows.labels.As<T>() + at.rows;
  if (format.multilabel) {
    out.label_ends = rows.label_ends.As<int64_t>() + at.rows;
    out.label_ids = rows.label_ids.As<int64_t>() + at.labels;
  }
  if (format.weights) out.weights = rows.weights.As<T>() + at.rows;
  if (format.qid) out.qid = rows.qid.As<int64_t>() + at.rows;
  out.row_ends = rows.row_ends.As<int64_t>() + at.rows;
  out.indices = rows.indices.As<I>() + at.entries;
  out.data = rows.data.As<T>() + at.entries;
  return out;
}

void Reserve(const Format& format, const Offsets& most, Rows* rows) {
  if (format.labelled && !format.multilabel) rows->labels.Reserve(most.rows * rows->value_size());
  if (format.multilabel) {
    rows->label_ends.Reserve(most.rows * 8);
    rows->label_ids.Reserve(most.labels * 8);
  }
  if (format.weights) rows->weights.Reserve(most.rows * rows->value_size());
  if (format.qid) rows->qid.Reserve(most.rows * 8);
  rows->row_ends.Reserve(most.rows * 8);
  rows->indices.Reserve(most.entries * rows->index_size());
  rows->data.Reserve(most.entries * rows->value_size());
}

// Closes the gap between the rows in hand and those that a task left at `from`.
template <typename T, typename I>
void Append(const Format& format, const Offsets& from, const Output<T, I>& out, Rows* rows) {
  if (format.labelled && !format.multilabel) {
    MoveDown<T>(rows->labels, rows->rows, from.rows, out.rows);
  }
  if (format.multilabel) {
    MoveDown<int64_t>(rows->label_ends, rows->rows, from.rows, out.rows);
    MoveDown<int64_t>(rows->label_ids, rows->label_count, from.labels, out.label_count);
    int64_t* const ends = rows->label_ends.As<int64_t>() + rows->rows;
    for (int64_t i = 0; i < out.rows; ++i) ends[i] += rows->label_count;
  }
  if (format.weights) MoveDown<T>(rows->weights, rows->rows, from.rows, out.rows);
  if (format.qid) MoveDown<int64_t>(rows->qid, rows->rows, from.rows, out.rows);
  MoveDown<int64_t>(rows->row_ends, rows->rows, from.rows, out.rows);
  int64_t* const ends = rows->row_ends.As<int64_t>() + rows->rows;
  for (int64_t i = 0; i < out.rows; ++i) ends[i] += rows->entries;
  MoveDown<I>(rows->indices, rows->entries, from.entries, out.entries);
  MoveDown<T>(rows->data, rows->entries, from.entries, out.entries);
  rows->rows += out.rows;
  rows->entries += out.entries;
  rows->label_count += out.label_count;
}

template <typename T, typename I>
ParseResult ParseAs(const char* text, int64_t size, const Format& format, const Plan& plan,
                    Rows* rows) {
  const std::vector<Task> tasks = CutAtLines(text, size, plan);
  const size_t count = tasks.size();
  // Every task writes where its rows would begin if all lines before it held as much as their bytes
  // allow. Mostly they do, and nothing has to be moved afterwards.
  std::vector<Offsets> starts(count + 1, {rows->rows, rows->entries, rows->label_count});
  ParseResult result;
  for (size_t i = 0; i < count; ++i) {
    starts[i + 1] = {starts[i].rows + tasks[i].MostRows(),
                     starts[i].entries + tasks[i].MostEntries(),
                     starts[i].labels + tasks[i].MostLabels()};
    result.newlines += tasks[i].counts.newlines;
  }
  Reserve(format, starts[count], rows);
  std::vector<Output<T, I>> outputs(count);
  std::vector<TaskResult> results(count);
  RunTasks(static_cast<int64_t>(count), plan.threads, [&](int64_t i) {
    outputs[i] = OutputAt<T, I>(*rows, format, starts[i]);
    results[i] = ParseTask(text, tasks[i], format, plan, &outputs[i]);
  });
  for (size_t i = 0; i < count; ++i) {
    Append(format, starts[i], outputs[i], rows);
    result.bad_lines += results[i].bad_lines;
    for (const LineError& report : results[i].reports) {
      if (static_cast<int64_t>(result.reports.size()) == plan.max_reports) break;
      result.reports.push_back(report);
    }
    if (results[i].stopped) break;
  }
  return result;
}

}  // namespace

std::vector<Task> CutAtLines(const char* text, int64_t size, const Plan& plan) {
  std::vector<Task> tasks;
  const char* const end = text + size;
  const int64_t step = std::max<int64_t>(plan.task_bytes, 1);
  const char* begin = text;
  while (begin != end) {
    const char* cut = end;
    if (end - begin > step) cut = std::min(FindNewline(begin + step - 1) + 1, end);
    tasks.push_back({begin, cut, {}});
    begin = cut;
  }
  RunTasks(static_cast<int64_t>(tasks.size()), plan.threads,
           [&](int64_t i) { tasks[i].counts = CountBytes(tasks[i].begin, tasks[i].end); });
  return tasks;
}

LineError DiagnoseAt(const char* text, const char* line, const Format& format, bool narrow_values,
                     bool narrow_indices) {
  LineError error = Diagnose(line, format, narrow_values, narrow_indices);
  error.line += line - text;
  error.token += line - text;
  error.token_end += line - text;
  return error;
}

ParseResult ParseText(const char* text, int64_t size, const Format& format, const Plan& plan,
                      Rows* rows) {
  if (rows->float64) {
    return rows->int64 ? ParseAs<double, int64_t>(text, size, format, plan, rows)
                       : ParseAs<double, int32_t>(text, size, format, plan, rows);
  }
  return rows->int64 ? ParseAs<float, int64_t>(text, size, format, plan, rows)
                     : ParseAs<float, int32_t>(text, size, format, plan, rows);
}

}  // namespace rarefy::text
