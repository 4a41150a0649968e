// Parsed rows in memory.
#pragma once

#include <cstdint>
#include <utility>

#include "text/buffer.h"
#include "text/line.h"

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
  Buffer label_indptr;  // int64_t, rows + 1, begins with 0
  Buffer label_ids;     // int64_t
  Buffer weights;
  Buffer qid;     // int64_t
  Buffer indptr;  // int64_t, rows + 1, begins with 0
  Buffer indices;
  Buffer data;

  int64_t value_size() const { return float64 ? 8 : 4; }
  int64_t index_size() const { return int64 ? 8 : 4; }

  // Bytes that the rows take, whatever room the buffers have.
  int64_t Bytes(const Format& format) const {
    const int64_t numbers = format.multilabel ? 0 : format.labelled;
    const int64_t row_bytes =
        8 + 8 * format.multilabel + 8 * format.qid + value_size() * (numbers + format.weights);
    return rows * row_bytes + entries * (value_size() + index_size()) + label_count * 8;
  }

  // Changes the indices to int64_t.
  void Widen() {
    if (int64) return;
    Buffer wide;
    wide.Reserve(entries * 8);
    for (int64_t i = 0; i < entries; ++i) wide.As<int64_t>()[i] = indices.As<int32_t>()[i];
    indices = std::move(wide);
    int64 = true;
  }

  // Of the rows from `first` on, drops those whose number, counted from `offset` at row `first`,
  // lies in a block of `block` rows that is not the `part`-th of each `parts`.
  void KeepBlocks(const Format& format, int64_t first, int64_t offset, int64_t block, int64_t part,
                  int64_t parts);
};

}  // namespace rarefy::text
