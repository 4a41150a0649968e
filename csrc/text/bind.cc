// The text reader and writer for Python: nothing but conversion of arguments and results.
#include "text/bind.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "text/buffer.h"
#include "text/error.h"
#include "text/form.h"
#include "text/gather.h"
#include "text/parse.h"
#include "text/rows.h"
#include "text/scan.h"
#include "text/tasks.h"
#include "text/write.h"

namespace nb = nanobind;

namespace rarefy::text {
namespace {

template <typename T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyVector = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A byte range of an array of bytes.
struct Range {
  const char* text;
  int64_t size;
};

Range CheckedRange(const Vector<uint8_t>& text, int64_t begin, int64_t end) {
  if (begin < 0 || begin > end || end > static_cast<int64_t>(text.shape(0))) {
    throw nb::value_error("the range does not lie within the text");
  }
  return {reinterpret_cast<const char*>(text.data()) + begin, end - begin};
}

// A range of lines as the parser needs it.
Range CheckedLines(const Vector<uint8_t>& text, int64_t begin, int64_t end) {
  const Range range = CheckedRange(text, begin, end);
  if (end + kPadding > static_cast<int64_t>(text.shape(0))) {
    throw nb::value_error("too few bytes after the end of the range");
  }
  if (range.size > 0 && range.text[range.size - 1] != '\n' && range.text[range.size] != '\n') {
    throw nb::value_error("the range does not end with a line");
  }
  return range;
}

// Hands memory to NumPy.
template <typename T>
nb::object ToArray(Buffer* buffer, int64_t size) {
  struct Owned {
    void* data;
    int64_t capacity;
    ~Owned() { GiveBack(data, capacity); }
  };
  buffer->Reserve(static_cast<int64_t>(sizeof(T)));  // an array of none still has an address
  auto owned = std::make_unique<Owned>();
  owned->capacity = buffer->capacity();
  owned->data = buffer->Release();
  T* const data = static_cast<T*>(owned->data);
  nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<Owned*>(p); });
  static_cast<void>(owned.release());
  const size_t shape[] = {static_cast<size_t>(size)};
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, 1, shape, owner));
}

nb::object ToArray(Buffer* buffer, int64_t size, bool wide, bool floating) {
  if (floating) return wide ? ToArray<double>(buffer, size) : ToArray<float>(buffer, size);
  return wide ? ToArray<int64_t>(buffer, size) : ToArray<int32_t>(buffer, size);
}

using Reports = std::vector<std::tuple<int64_t, int64_t, int64_t, int>>;

// (newlines, bad lines, the first of them as (line, token, token_end, kind)); offsets count from
// the beginning of the array.
std::tuple<int64_t, int64_t, Reports> ToTuple(const ParseResult& result, int64_t begin) {
  Reports reports;
  for (const LineError& error : result.reports) {
    reports.emplace_back(begin + error.line, begin + error.token, begin + error.token_end,
                         static_cast<int>(error.kind));
  }
  return {result.newlines, result.bad_lines, std::move(reports)};
}

nb::dict Take(Rows* rows, const Format& format) {
  nb::dict arrays;
  const int64_t n = rows->rows;
  if (format.labelled && !format.multilabel) {
    arrays["labels"] = ToArray(&rows->labels, n, rows->float64, true);
  }
  if (format.multilabel) {
    Reserve(format, {}, rows);  // for the leading zero, should nothing have been parsed
    arrays["label_indptr"] = ToArray<int64_t>(&rows->label_indptr, n + 1);
    arrays["label_ids"] = ToArray<int64_t>(&rows->label_ids, rows->label_count);
  }
  if (format.weights) arrays["weights"] = ToArray(&rows->weights, n, rows->float64, true);
  if (format.qid) arrays["qid"] = ToArray<int64_t>(&rows->qid, n);
  Reserve(format, {}, rows);
  arrays["indptr"] = ToArray<int64_t>(&rows->indptr, n + 1);
  arrays["indices"] = ToArray(&rows->indices, rows->entries, rows->int64, false);
  arrays["data"] = ToArray(&rows->data, rows->entries, rows->float64, true);
  *rows = Rows(rows->float64, rows->int64);
  return arrays;
}

nb::dict ToDict(const ScanTotals& totals) {
  nb::dict facts;
  facts["rows"] = totals.rows;
  facts["entries"] = totals.entries;
  facts["zeros"] = totals.zeros;
  facts["inexact_float32"] = totals.inexact_float32;
  facts["beyond_2_53"] = totals.beyond_2_53;
  facts["min_index"] = totals.min_index;
  facts["max_index"] = totals.max_index;
  facts["min_row"] = totals.rows == 0 ? 0 : totals.min_row;
  facts["max_row"] = totals.max_row;
  facts["row_bits"] = std::vector<int64_t>(totals.row_bits.begin(), totals.row_bits.end());
  facts["labels"] = totals.labels;
  facts["min_label"] = totals.min_label;
  facts["max_label"] = totals.max_label;
  facts["label_sum"] = totals.label_sum;
  facts["many_labels"] = totals.many_labels;
  nb::dict counts;
  for (const auto& [label, count] : totals.label_counts) counts[nb::float_(label)] = count;
  facts["label_counts"] = counts;
  facts["crlf"] = totals.crlf;
  return facts;
}

template <typename T>
nb::object GatherAs(const Vector<int64_t>& starts, const void* values, const Vector<int64_t>& order,
                    int64_t total, int64_t* ends) {
  Buffer out;
  out.Reserve(std::max<int64_t>(total, 1) * static_cast<int64_t>(sizeof(T)));
  {
    nb::gil_scoped_release released;
    GatherSegments(starts.data(), static_cast<const T*>(values), order.data(),
                   static_cast<int64_t>(order.shape(0)), ends, out.As<T>());
  }
  return ToArray<T>(&out, total);
}

std::tuple<nb::object, nb::object> Gather(const Vector<int64_t>& starts, const AnyVector& values,
                                          const Vector<int64_t>& order) {
  const int64_t segments = static_cast<int64_t>(starts.shape(0)) - 1;
  const int64_t count = static_cast<int64_t>(order.shape(0));
  int64_t total = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t segment = order.data()[i];
    if (segment < 0 || segment >= segments) throw nb::index_error("segment out of range");
    const int64_t begin = starts.data()[segment];
    const int64_t end = starts.data()[segment + 1];
    if (begin < 0 || begin > end || end > static_cast<int64_t>(values.shape(0))) {
      throw nb::value_error("segment bounds do not lie within the values");
    }
    total += end - begin;
  }
  Buffer indptr;
  indptr.Reserve((count + 1) * 8);
  *indptr.As<int64_t>() = 0;
  int64_t* const ends = indptr.As<int64_t>() + 1;
  nb::object out;
  if (values.dtype() == nb::dtype<float>()) {
    out = GatherAs<float>(starts, values.data(), order, total, ends);
  } else if (values.dtype() == nb::dtype<double>()) {
    out = GatherAs<double>(starts, values.data(), order, total, ends);
  } else if (values.dtype() == nb::dtype<int32_t>()) {
    out = GatherAs<int32_t>(starts, values.data(), order, total, ends);
  } else if (values.dtype() == nb::dtype<int64_t>()) {
    out = GatherAs<int64_t>(starts, values.data(), order, total, ends);
  } else {
    throw nb::type_error("values must be float32, float64, int32 or int64");
  }
  return {ToArray<int64_t>(&indptr, count + 1), out};
}

Numbers ToNumbers(const std::optional<AnyVector>& array) {
  if (!array) return {};
  if (array->dtype() == nb::dtype<float>()) return {Numbers::Type::kFloat32, array->data()};
  if (array->dtype() == nb::dtype<double>()) return {Numbers::Type::kFloat64, array->data()};
  if (array->dtype() == nb::dtype<int32_t>()) return {Numbers::Type::kInt32, array->data()};
  if (array->dtype() == nb::dtype<int64_t>()) return {Numbers::Type::kInt64, array->data()};
  throw nb::type_error("numbers must be float32, float64, int32 or int64");
}

void CheckLength(const std::optional<AnyVector>& array, int64_t length) {
  if (array && static_cast<int64_t>(array->shape(0)) != length) {
    throw nb::value_error("arrays do not have the same number of rows");
  }
}

void CheckIndptr(const Vector<int64_t>& indptr, const AnyVector& values) {
  const int64_t* const p = indptr.data();
  const int64_t rows = static_cast<int64_t>(indptr.shape(0)) - 1;
  bool sound = rows >= 0 && p[0] >= 0 && p[rows] <= static_cast<int64_t>(values.shape(0));
  for (int64_t i = 0; sound && i < rows; ++i) sound = p[i] <= p[i + 1];
  if (!sound) throw nb::value_error("row bounds do not lie within the values");
}

// The lines of all rows, as pieces to be written one after the other.
nb::list Write(const Vector<int64_t>& indptr, const AnyVector& indices, const AnyVector& data,
               const std::optional<AnyVector>& labels,
               const std::optional<Vector<int64_t>>& label_indptr,
               const std::optional<AnyVector>& label_ids, const std::optional<AnyVector>& weights,
               const std::optional<AnyVector>& qid, int64_t base, bool keep_zeros,
               int64_t threads) {
  CheckIndptr(indptr, data);
  CheckIndptr(indptr, indices);
  const int64_t rows = static_cast<int64_t>(indptr.shape(0)) - 1;
  for (const auto* array : {&labels, &weights, &qid}) CheckLength(*array, rows);
  WriteInput input;
  input.indptr = indptr.data();
  input.indices = ToNumbers(indices);
  input.data = ToNumbers(data);
  input.labels = ToNumbers(labels);
  if (label_indptr) {
    if (!label_ids || static_cast<int64_t>(label_indptr->shape(0)) != rows + 1) {
      throw nb::value_error("label lists do not fit the rows");
    }
    CheckIndptr(*label_indptr, *label_ids);
    input.label_indptr = label_indptr->data();
    input.label_ids = ToNumbers(label_ids);
  }
  input.weights = ToNumbers(weights);
  input.qid = ToNumbers(qid);
  input.base = base;
  input.keep_zeros = keep_zeros;
  struct Piece {
    Buffer text;
    int64_t size = 0;
  };
  std::vector<Piece> pieces;
  {
    nb::gil_scoped_release released;
    constexpr int64_t kRowsPerTask = 1024;
    pieces.resize(static_cast<size_t>((rows + kRowsPerTask - 1) / kRowsPerTask));
    RunTasks(static_cast<int64_t>(pieces.size()), threads, [&](int64_t i) {
      const int64_t first = i * kRowsPerTask;
      const int64_t last = std::min(rows, first + kRowsPerTask);
      pieces[i].size = WriteRows(input, first, last, &pieces[i].text);
    });
  }
  nb::list out;
  for (Piece& piece : pieces) out.append(ToArray<uint8_t>(&piece.text, piece.size));
  return out;
}

void BindFormat(nb::module_& m) {
  nb::class_<Format>(m, "Format",
                     "What the lines of an input look like, and what is asked of them.")
      .def(nb::init<>())
      .def_rw("labelled", &Format::labelled)
      .def_rw("multilabel", &Format::multilabel)
      .def_rw("weights", &Format::weights)
      .def_rw("qid", &Format::qid)
      .def_rw("allow_nonfinite", &Format::allow_nonfinite)
      .def_rw("sum_repeats", &Format::sum_repeats)
      .def_rw("base", &Format::base)
      .def_rw("width", &Format::width);
  nb::class_<Plan>(m, "Plan", "How the work is cut, and what happens at a bad line.")
      .def(nb::init<>())
      .def_rw("task_bytes", &Plan::task_bytes)
      .def_rw("threads", &Plan::threads)
      .def_rw("skip_bad", &Plan::skip_bad)
      .def_rw("max_reports", &Plan::max_reports);
}

void BindRows(nb::module_& m) {
  nb::class_<Rows>(m, "Rows", "Parsed rows that grow text by text.")
      .def(nb::init<bool, bool>(), nb::arg("float64"), nb::arg("int64"))
      .def_ro("rows", &Rows::rows)
      .def_ro("entries", &Rows::entries)
      .def_ro("int64", &Rows::int64)
      .def("bytes", &Rows::Bytes, nb::arg("format"))
      .def("keep_blocks", &Rows::KeepBlocks, nb::arg("format"), nb::arg("first"), nb::arg("offset"),
           nb::arg("block"), nb::arg("part"), nb::arg("parts"),
           "Drops rows from `first` on that belong to another part of a round robin over blocks.")
      .def("widen", &Rows::Widen, "Changes the indices to int64.")
      .def(
          "reserve",
          [](Rows& self, const Format& format, int64_t rows, int64_t entries) {
            Reserve(format, {rows, entries, 0}, &self);
          },
          nb::arg("format"), nb::arg("rows"), nb::arg("entries"))
      .def(
          "parse",
          [](Rows& self, const Vector<uint8_t>& text, int64_t begin, int64_t end,
             const Format& format, const Plan& plan) {
            const Range range = CheckedLines(text, begin, end);
            ParseResult result;
            {
              nb::gil_scoped_release released;
              result = ParseText(range.text, range.size, format, plan, &self);
            }
            return ToTuple(result, begin);
          },
          nb::arg("text").noconvert(), nb::arg("begin"), nb::arg("end"), nb::arg("format"),
          nb::arg("plan"),
          "Appends the rows of text[begin:end]. Returns (newlines, bad lines, reports).")
      .def("take", &Take, nb::arg("format"), "Hands the rows over as arrays and is empty again.");
}

void BindScan(nb::module_& m) {
  nb::class_<ScanTotals>(m, "Scan", "Facts about the rows of texts, gathered text by text.")
      .def(nb::init<>())
      .def(
          "scan",
          [](ScanTotals& self, const Vector<uint8_t>& text, int64_t begin, int64_t end,
             const Format& format, const Plan& plan) {
            const Range range = CheckedLines(text, begin, end);
            ParseResult result;
            {
              nb::gil_scoped_release released;
              result = ScanText(range.text, range.size, format, plan, &self);
            }
            return ToTuple(result, begin);
          },
          nb::arg("text").noconvert(), nb::arg("begin"), nb::arg("end"), nb::arg("format"),
          nb::arg("plan"),
          "Adds the facts about text[begin:end]. Returns (newlines, bad lines, reports).")
      .def("facts", &ToDict);
}

}  // namespace

void BindText(nb::module_& m) {
  nb::module_ text = m.def_submodule("text", "LibSVM text to arrays and back.");
  text.attr("PADDING") = kPadding;
  text.attr("MOST_LABELS") = ScanTotals::kMostLabels;
  nb::list kinds;
#define RAREFY_NAME(member, name) kinds.append(nb::str(name));
  RAREFY_TEXT_ERRORS(RAREFY_NAME)
#undef RAREFY_NAME
  text.attr("ERROR_KINDS") = nb::tuple(kinds);
  nb::enum_<Labels>(text, "Labels")
      .value("REQUIRED", Labels::kRequired)
      .value("NONE", Labels::kNone)
      .value("AUTO", Labels::kAuto);
  BindFormat(text);
  BindRows(text);
  BindScan(text);
  text.def(
      "find_form",
      [](const Vector<uint8_t>& array, int64_t begin, int64_t end, Labels labels,
         const Format& format, bool skip_bad) -> std::optional<std::tuple<bool, bool>> {
        const Range range = CheckedLines(array, begin, end);
        const Form form = FindForm(range.text, range.size, labels, format, skip_bad);
        if (!form.found) return std::nullopt;
        return std::tuple(form.labelled, form.qid);
      },
      nb::arg("text").noconvert(), nb::arg("begin"), nb::arg("end"), nb::arg("labels"),
      nb::arg("format"), nb::arg("skip_bad"),
      "(labelled, qid) of the first row, None if there is no row.");
  text.def(
      "count_rows",
      [](const Vector<uint8_t>& array, int64_t begin, int64_t end) {
        const Range range = CheckedLines(array, begin, end);
        nb::gil_scoped_release released;
        return CountRows(range.text, range.size);
      },
      nb::arg("text").noconvert(), nb::arg("begin"), nb::arg("end"));
  text.def(
      "count_newlines",
      [](const Vector<uint8_t>& array, int64_t begin, int64_t end) {
        const Range range = CheckedRange(array, begin, end);
        nb::gil_scoped_release released;
        return CountBytes<false>(range.text, range.text + range.size).newlines;
      },
      nb::arg("text").noconvert(), nb::arg("begin"), nb::arg("end"));
  text.def(
      "find_newline",
      [](const Vector<uint8_t>& array, int64_t begin, int64_t end) -> int64_t {
        const Range range = CheckedRange(array, begin, end);
        const void* const at = std::memchr(range.text, '\n', static_cast<size_t>(range.size));
        return at == nullptr ? -1 : begin + (static_cast<const char*>(at) - range.text);
      },
      nb::arg("text").noconvert(), nb::arg("begin"), nb::arg("end"),
      "The first newline, -1 if there is none.");
  text.def(
      "find_last_newline",
      [](const Vector<uint8_t>& array, int64_t begin, int64_t end) -> int64_t {
        const Range range = CheckedRange(array, begin, end);
        for (int64_t i = range.size; i-- > 0;) {
          if (range.text[i] == '\n') return begin + i;
        }
        return -1;
      },
      nb::arg("text").noconvert(), nb::arg("begin"), nb::arg("end"),
      "The last newline, -1 if there is none.");
  text.def(
      "permutation",
      [](int64_t count, uint64_t seed) {
        Buffer order;
        order.Reserve(std::max<int64_t>(count, 1) * 8);
        {
          nb::gil_scoped_release released;
          Permutation(count, seed, order.As<int64_t>());
        }
        return ToArray<int64_t>(&order, std::max<int64_t>(count, 0));
      },
      nb::arg("count"), nb::arg("seed"), "The numbers below `count` in an order given by `seed`.");
  text.def("gather_segments", &Gather, nb::arg("starts"), nb::arg("values"), nb::arg("order"),
           "Segments of `values` in another order, as (indptr, values).");
  text.def("write_rows", &Write, nb::arg("indptr"), nb::arg("indices"), nb::arg("data"),
           nb::kw_only(), nb::arg("labels").none(), nb::arg("label_indptr").none(),
           nb::arg("label_ids").none(), nb::arg("weights").none(), nb::arg("qid").none(),
           nb::arg("base"), nb::arg("keep_zeros"), nb::arg("threads"),
           "The lines of all rows as a list of arrays of bytes.");
}

}  // namespace rarefy::text
