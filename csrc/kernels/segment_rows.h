// Sums of rows by group.
#pragma once

#include <cstdint>

#include "kernels/float16.h"

namespace rarefy {

// out[i, :] = sum over j in [starts[i], starts[i + 1]) of values[order[j], :], for i in [begin,
// end).
//
//   order   (nse)           entries by group; one outside [0, nse) is skipped
//   starts  (capacity + 1)  non-decreasing, within [0, nse]
//   values  (nse, d)        row-major
//   out     (capacity, d)   row-major, written for the given groups only; must not alias the inputs
//
// Cost O(entries * d). Entries are added in the order given, so results do not depend on the split.
template <typename Value, typename Sum>
void SegmentRows(const int32_t* order, const int32_t* starts, const Value* values, int64_t nse,
                 int64_t d, int64_t begin, int64_t end, Value* out) {
  for (int64_t i = begin; i < end; ++i) {
    Value* o = out + i * d;
    for (int64_t c = 0; c < d; ++c) {
      Sum sum = 0;
      for (int64_t j = starts[i]; j < starts[i + 1]; ++j) {
        const int64_t e = order[j];
        if (e >= 0 && e < nse) sum += Widen(values[e * d + c]);
      }
      o[c] = Narrow<Value>(sum);
    }
  }
}

}  // namespace rarefy
