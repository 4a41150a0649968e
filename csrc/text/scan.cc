#include "text/scan.h"

#include <algorithm>
#include <cmath>

#include "text/tasks.h"

namespace rarefy::text {
namespace {

int BitLength(int64_t value) {
  int bits = 0;
  for (; value != 0; value >>= 1) ++bits;
  return bits;
}

void AddLabel(double label, ScanTotals* totals) {
  if (std::isnan(label)) return;
  ++totals->labels;
  totals->min_label = std::min(totals->min_label, label);
  totals->max_label = std::max(totals->max_label, label);
  totals->label_sum += label;
  if (totals->many_labels) return;
  ++totals->label_counts[label];
  if (static_cast<int64_t>(totals->label_counts.size()) > ScanTotals::kMostLabels) {
    totals->many_labels = true;
    totals->label_counts.clear();
  }
}

void AddValues(const double* data, int64_t entries, ScanTotals* totals) {
  // Below these every whole number is exact in float and double.
  constexpr double kExact32 = 1 << 24;
  constexpr double kExact64 = int64_t{1} << 53;
  for (int64_t i = 0; i < entries; ++i) {
    const double value = data[i];
    totals->zeros += value == 0;
    if (!(std::fabs(value) > kExact32) || std::isinf(value)) continue;
    totals->inexact_float32 += value == std::floor(value) && static_cast<float>(value) != value;
    totals->beyond_2_53 += std::fabs(value) > kExact64;
  }
}

void AddRows(const Format& format, const Rows& rows, ScanTotals* totals) {
  const int64_t* const indptr = rows.indptr.As<int64_t>();
  const int64_t* const indices = rows.indices.As<int64_t>();
  for (int64_t row = 0; row < rows.rows; ++row) {
    const int64_t entries = indptr[row + 1] - indptr[row];
    totals->min_row = std::min(totals->min_row, entries);
    totals->max_row = std::max(totals->max_row, entries);
    ++totals->row_bits[static_cast<size_t>(BitLength(entries))];
    if (entries == 0) continue;
    const int64_t first = indices[indptr[row]];
    totals->min_index = totals->min_index < 0 ? first : std::min(totals->min_index, first);
    totals->max_index = std::max(totals->max_index, indices[indptr[row + 1] - 1]);
  }
  totals->rows += rows.rows;
  totals->entries += rows.entries;
  AddValues(rows.data.As<double>(), rows.entries, totals);
  if (format.multilabel) {
    const int64_t* const ids = rows.label_ids.As<int64_t>();
    for (int64_t i = 0; i < rows.label_count; ++i) AddLabel(static_cast<double>(ids[i]), totals);
  } else if (format.labelled) {
    for (int64_t i = 0; i < rows.rows; ++i) AddLabel(rows.labels.As<double>()[i], totals);
  }
}

int64_t CountCrlf(const Task& task) {
  int64_t count = 0;
  for (const char* p = task.begin; p + 1 < task.end; ++p) count += p[0] == '\r' && p[1] == '\n';
  return count;
}

}  // namespace

void ScanTotals::Add(const ScanTotals& other) {
  rows += other.rows;
  entries += other.entries;
  zeros += other.zeros;
  inexact_float32 += other.inexact_float32;
  beyond_2_53 += other.beyond_2_53;
  if (other.min_index >= 0) {
    min_index = min_index < 0 ? other.min_index : std::min(min_index, other.min_index);
  }
  max_index = std::max(max_index, other.max_index);
  min_row = std::min(min_row, other.min_row);
  max_row = std::max(max_row, other.max_row);
  for (size_t i = 0; i < row_bits.size(); ++i) row_bits[i] += other.row_bits[i];
  labels += other.labels;
  min_label = std::min(min_label, other.min_label);
  max_label = std::max(max_label, other.max_label);
  label_sum += other.label_sum;
  many_labels |= other.many_labels;
  for (const auto& [label, count] : other.label_counts) label_counts[label] += count;
  many_labels |= static_cast<int64_t>(label_counts.size()) > kMostLabels;
  if (many_labels) label_counts.clear();
  crlf += other.crlf;
}

ParseResult ScanText(const char* text, int64_t size, const Format& format, const Plan& plan,
                     ScanTotals* totals) {
  const std::vector<Task> tasks = CutAtLines(text, size, true, plan);
  std::vector<ScanTotals> parts(tasks.size());
  std::vector<TaskResult> results(tasks.size());
  RunTasks(static_cast<int64_t>(tasks.size()), plan.threads, [&](int64_t i) {
    Rows rows(true, true);
    Reserve(format, Most(tasks[i]), &rows);
    auto out = OutputAt<double, int64_t>(rows, format, {});
    results[i] = ParseTask(text, tasks[i], format, plan, &out);
    rows.rows = out.rows;
    rows.entries = out.entries;
    rows.label_count = out.label_count;
    AddRows(format, rows, &parts[i]);
    if (tasks[i].counts.returns > 0) parts[i].crlf = CountCrlf(tasks[i]);
  });
  ParseResult result;
  for (size_t i = 0; i < tasks.size(); ++i) {
    totals->Add(parts[i]);
    result.newlines += tasks[i].counts.newlines;
    result.Take(results[i], plan);
    if (results[i].stopped) break;
  }
  return result;
}

}  // namespace rarefy::text
