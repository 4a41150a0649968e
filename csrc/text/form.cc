#include "text/form.h"

#include <cstring>

#include "text/diagnose.h"

namespace rarefy::text {
namespace {

const char* TokenEnd(const char* p) {
  while (!EndsToken(*p)) ++p;
  return p;
}

// `p` is the first token of the row that begins at `line`.
Form FormOfRow(const char* line, const char* p, Labels labels, bool multilabel) {
  Form form{true, true, false};
  const char* const end = TokenEnd(p);
  if (labels == Labels::kNone) form.labelled = false;
  if (labels == Labels::kAuto && !multilabel) form.labelled = std::find(p, end, ':') == end;
  const bool has_label = form.labelled && !(multilabel && IsBlank(*line));
  form.qid = StartsWithQid(has_label ? SkipBlanks(end) : p);
  return form;
}

}  // namespace

Form FindForm(const char* text, int64_t size, Labels labels, const Format& format, bool skip_bad) {
  Form first{false, labels != Labels::kNone, false};
  for (const char* line = text; line < text + size; line = FindNewline(line) + 1) {
    const char* const p = SkipBlanks(line);
    if (AtLineEnd(p)) continue;
    const Form form = FormOfRow(line, p, labels, format.multilabel);
    if (!skip_bad) return form;
    Format own = format;
    own.labelled = form.labelled;
    own.qid = form.qid;
    if (Diagnose(line, own, false, false).kind == ErrorKind::kNone) return form;
    if (!first.found) first = form;
  }
  return first;
}

int64_t CountRows(const char* text, int64_t size) {
  int64_t rows = 0;
  const char* const end = text + size;
  for (const char* p = text; p < end;) {
    rows += !AtLineEnd(SkipBlanks(p));
    const void* const newline = std::memchr(p, '\n', static_cast<size_t>(end - p));
    if (newline == nullptr) break;
    p = static_cast<const char*>(newline) + 1;
  }
  return rows;
}

}  // namespace rarefy::text
