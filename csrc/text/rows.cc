#include "text/rows.h"

#include <algorithm>
#include <cstring>

namespace rarefy::text {
namespace {

void Move(const Buffer& buffer, int64_t to, int64_t from, int64_t count, int64_t size) {
  if (to == from || count == 0) return;
  std::memmove(buffer.As<char>() + to * size, buffer.As<char>() + from * size,
               static_cast<size_t>(count * size));
}

// Moves segments [from, from + count) of a ragged array down to [to, to + count).
// `indptr` is overwritten from `to` on, which the caller must no longer need.
int64_t MoveSegments(int64_t* indptr, int64_t to, int64_t from, int64_t count,
                     const Buffer* const* values, const int64_t* sizes, int arrays) {
  const int64_t begin = indptr[from];
  const int64_t length = indptr[from + count] - begin;
  const int64_t shift = begin - indptr[to];
  for (int i = 0; i < arrays; ++i) Move(*values[i], indptr[to], begin, length, sizes[i]);
  for (int64_t row = 1; row <= count; ++row) indptr[to + row] = indptr[from + row] - shift;
  return indptr[to + count];
}

}  // namespace

void Rows::KeepBlocks(const Format& format, int64_t first, int64_t offset, int64_t block,
                      int64_t part, int64_t parts) {
  const bool plain_labels = format.labelled && !format.multilabel;
  int64_t kept = first;
  for (int64_t row = first; row < rows;) {
    const int64_t number = offset + (row - first);
    const int64_t end = std::min(rows, row + block - number % block);
    const int64_t count = end - row;
    if (number / block % parts == part) {
      if (plain_labels) Move(labels, kept, row, count, value_size());
      if (format.weights) Move(weights, kept, row, count, value_size());
      if (format.qid) Move(qid, kept, row, count, 8);
      if (format.multilabel) {
        const Buffer* const arrays[] = {&label_ids};
        const int64_t sizes[] = {8};
        MoveSegments(label_indptr.As<int64_t>(), kept, row, count, arrays, sizes, 1);
      }
      const Buffer* const arrays[] = {&indices, &data};
      const int64_t sizes[] = {index_size(), value_size()};
      MoveSegments(indptr.As<int64_t>(), kept, row, count, arrays, sizes, 2);
      kept += count;
    }
    row = end;
  }
  rows = kept;
  entries = rows == 0 ? 0 : indptr.As<int64_t>()[rows];
  if (format.multilabel) label_count = rows == 0 ? 0 : label_indptr.As<int64_t>()[rows];
}

}  // namespace rarefy::text
