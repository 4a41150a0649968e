#include "text/parse.h"

#include <cstring>

#include "text/diagnose.h"
#include "text/tasks.h"

namespace rarefy::text {
namespace {

template <typename T>
void MoveDown(const Buffer& buffer, int64_t to, int64_t from, int64_t count) {
  if (to == from || count == 0) return;
  std::memmove(buffer.As<T>() + to, buffer.As<T>() + from, static_cast<size_t>(count) * sizeof(T));
}

// Closes the gap between the rows in hand and those that a task left at `from`.
template <typename T, typename I>
void Append(const Format& format, const Extents& from, const Output<T, I>& out, Rows* rows) {
  if (format.labelled && !format.multilabel) {
    MoveDown<T>(rows->labels, rows->rows, from.rows, out.rows);
  }
  if (format.multilabel) {
    MoveDown<int64_t>(rows->label_indptr, rows->rows + 1, from.rows + 1, out.rows);
    MoveDown<int64_t>(rows->label_ids, rows->label_count, from.labels, out.label_count);
    int64_t* const ends = rows->label_indptr.As<int64_t>() + 1 + rows->rows;
    for (int64_t i = 0; i < out.rows; ++i) ends[i] += rows->label_count;
  }
  if (format.weights) MoveDown<T>(rows->weights, rows->rows, from.rows, out.rows);
  if (format.qid) MoveDown<int64_t>(rows->qid, rows->rows, from.rows, out.rows);
  MoveDown<int64_t>(rows->indptr, rows->rows + 1, from.rows + 1, out.rows);
  int64_t* const ends = rows->indptr.As<int64_t>() + 1 + rows->rows;
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
  const std::vector<Task> tasks = CutAtLines(text, size, format.multilabel, plan);
  const size_t count = tasks.size();
  // Every task writes where its rows would begin if all lines before it held as much as their bytes
  // allow. Mostly they do, and nothing has to be moved afterwards.
  std::vector<Extents> starts(count + 1, {rows->rows, rows->entries, rows->label_count});
  ParseResult result;
  for (size_t i = 0; i < count; ++i) {
    const Extents most = Most(tasks[i]);
    starts[i + 1] = {starts[i].rows + most.rows, starts[i].entries + most.entries,
                     starts[i].labels + most.labels};
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
    result.Take(results[i], plan);
    if (results[i].stopped) break;
  }
  return result;
}

}  // namespace

void Reserve(const Format& format, const Extents& most, Rows* rows) {
  if (format.labelled && !format.multilabel) rows->labels.Reserve(most.rows * rows->value_size());
  if (format.multilabel) {
    rows->label_indptr.Reserve((most.rows + 1) * 8);
    *rows->label_indptr.As<int64_t>() = 0;
    rows->label_ids.Reserve(most.labels * 8);
  }
  if (format.weights) rows->weights.Reserve(most.rows * rows->value_size());
  if (format.qid) rows->qid.Reserve(most.rows * 8);
  rows->indptr.Reserve((most.rows + 1) * 8);
  *rows->indptr.As<int64_t>() = 0;
  rows->indices.Reserve(most.entries * rows->index_size());
  rows->data.Reserve(most.entries * rows->value_size());
}

std::vector<Task> CutAtLines(const char* text, int64_t size, bool all, const Plan& plan) {
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
  RunTasks(static_cast<int64_t>(tasks.size()), plan.threads, [&](int64_t i) {
    Task& task = tasks[i];
    task.counts =
        all ? CountBytes<true>(task.begin, task.end) : CountBytes<false>(task.begin, task.end);
  });
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
