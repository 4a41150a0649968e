// Sorted unique row ids with the grouping of the entries that name them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace rarefy {

// See group_rows.py. Simple form.
template <typename Id>
void GroupRows(const Id* ids, int64_t nse, int64_t limit, int64_t n_rows, int64_t capacity,
               Id* rows, int32_t* inverse, int32_t* order, int32_t* starts, int32_t* count) {
  limit = std::clamp<int64_t>(limit, 0, nse);
  auto key = [&](int32_t e) {
    const int64_t id = ids[e];
    return e < limit && id >= 0 && id < n_rows ? id : n_rows;
  };
  for (int64_t e = 0; e < nse; ++e) order[e] = static_cast<int32_t>(e);
  std::stable_sort(order, order + nse, [&](int32_t a, int32_t b) { return key(a) < key(b); });
  int64_t groups = 0, kept = 0;
  for (int64_t j = 0; j < nse; ++j) {
    const int64_t id = key(order[j]);
    inverse[order[j]] = static_cast<int32_t>(capacity);
    if (id == n_rows) continue;
    if (j == 0 || key(order[j - 1]) != id) {
      if (groups < capacity) {
        rows[groups] = static_cast<Id>(id);
        starts[groups] = static_cast<int32_t>(j);
      }
      ++groups;
    }
    if (groups <= capacity) {
      inverse[order[j]] = static_cast<int32_t>(groups - 1);
      kept = j + 1;
    }
  }
  for (int64_t i = std::min(groups, capacity); i < capacity; ++i) {
    rows[i] = static_cast<Id>(n_rows);
    starts[i] = static_cast<int32_t>(kept);
  }
  starts[capacity] = static_cast<int32_t>(kept);
  *count = static_cast<int32_t>(groups);
}

}  // namespace rarefy
