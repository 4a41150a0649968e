// What kind of rows an input holds, as its first row shows.
#pragma once

#include <cstdint>

#include "text/line.h"

namespace rarefy::text {

enum class Labels : uint8_t { kRequired, kNone, kAuto };

struct Form {
  bool found = false;  // whether the text has a row at all
  bool labelled = true;
  bool qid = false;
};

// Looks at the first row of `[text, text + size)`, or, if `skip_bad`, at the first that is sound by
// its own form (the first of all, if none is). With Labels::kAuto a row is labelled unless its
// first token has a colon. `format.labelled` and `format.qid` are not looked at; the rest is.
Form FindForm(const char* text, int64_t size, Labels labels, const Format& format, bool skip_bad);

// How many lines of the text are rows, bad ones included.
int64_t CountRows(const char* text, int64_t size);

}  // namespace rarefy::text
