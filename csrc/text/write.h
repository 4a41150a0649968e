// Rows to LibSVM text. The grammar stands in docs/libsvm.md.
#pragma once

#include <cstdint>

#include "text/buffer.h"

namespace rarefy::text {

// An array of numbers of one of the types that can be written.
struct Numbers {
  enum class Type : uint8_t { kNone, kFloat32, kFloat64, kInt32, kInt64 };
  Type type = Type::kNone;
  const void* data = nullptr;
};

// Rows to be written. Arrays of type kNone leave their part of the line out.
struct WriteInput {
  const int64_t* indptr = nullptr;  // rows + 1, non-decreasing
  Numbers indices;                  // integers: columns counted from 0, ascending within a row
  Numbers data;                     // finite unless the reader is to allow them
  Numbers labels;                   // one a row
  const int64_t* label_indptr = nullptr;  // rows + 1, if labels are lists
  Numbers label_ids;                      // the lists, one after the other
  Numbers weights;                        // one a row; needs labels
  Numbers qid;                            // one a row
  int64_t base = 0;
  bool keep_zeros = false;
};

// Writes the lines of rows [first, last) to `out`, over whatever it holds, and returns their
// length: the shortest decimals that read back as the same numbers. Throws std::bad_alloc.
int64_t WriteRows(const WriteInput& input, int64_t first, int64_t last, Buffer* out);

}  // namespace rarefy::text
