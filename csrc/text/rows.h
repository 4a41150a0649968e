// Parsed rows in memory.
#pragma once

#include <cstdint>
#include <utility>

#include "text/buffer.h"

namespace rarefy::text {

// Rows of one input, in its order. Which buffers are in use depends on the format.
struct Rows {
  Rows(bool float64, bool int64) : float64(float64), int64(int64) {}

  bool float64;  // type of data, labels and weights: double, else float
  bool int64;    // type of indices: int64_t, else int32_t

  int64_t rows = 0;
  int64_t entries = 0;
  int64_t label_count = 0;

  Buffer labels;
  Buffer label_ends;  // int64_t
  Buffer label_ids;   // int64_t
  Buffer weights;
  Buffer qid;       // int64_t
  Buffer row_ends;  // int64_t: entries up to the end of each row
  Buffer indices;
  Buffer data;

  int64_t value_size() const { return float64 ? 8 : 4; }
  int64_t index_size() const { return int64 ? 8 : 4; }

  // Changes the indices to int64_t.
  void Widen() {
    if (int64) return;
    Buffer wide;
    wide.Reserve(entries * 8);
    for (int64_t i = 0; i < entries; ++i) wide.As<int64_t>()[i] = indices.As<int32_t>()[i];
    indices = std::move(wide);
    int64 = true;
  }
};

}  // namespace rarefy::text
