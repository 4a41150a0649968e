// Finds what is wrong with a line that the parser gave up on.
#pragma once

#include "text/error.h"
#include "text/line.h"

namespace rarefy::text {

// The leftmost fault of the line that begins at `line`, as the parser for value type float
// (`narrow_values`) or double and index type int32_t (`narrow_indices`) or int64_t sees it. The
// offsets count from `line`. `kind` is kNone where the parser finds no fault: the two agree about
// every line, and the fuzz target checks that. Slow and simple; cost O(n log n) in the line's
// length.
LineError Diagnose(const char* line, const Format& format, bool narrow_values, bool narrow_indices);

}  // namespace rarefy::text
