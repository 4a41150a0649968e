// Working memory that a thread keeps from call to call.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "kernels/pages.h"

namespace rarefy {

// Memory of one kernel on one thread. Fresh memory costs a page fault for every 4 KB, more than
// sorting what fits there does, so it is kept; what is large lies on huge pages where there are
// any, as scattered writes otherwise miss the TLB.
class Scratch {
 public:
  // At least `bytes` bytes, aligned to 64, of undefined content; nullptr if there are none to be
  // had (0 bytes always are). Valid until the next call.
  void* Get(int64_t bytes) {
    bytes = std::max<int64_t>(bytes, 1);
    if (bytes <= size_) return memory_.get();
    const int64_t unit = bytes < kHugePage / 2 ? 4096 : kHugePage;
    memory_.reset();
    size_ = 0;
    bytes = (bytes + unit - 1) / unit * unit;
    memory_.reset(std::aligned_alloc(static_cast<size_t>(unit), static_cast<size_t>(bytes)));
    if (memory_ == nullptr) return nullptr;
    size_ = bytes;
    PreferHugePages(memory_.get(), bytes);
    return memory_.get();
  }

  // Gives the memory back if it is more than a thread should sit on.
  void Trim() {
    if (size_ <= kKept) return;
    memory_.reset();
    size_ = 0;
  }

 private:
  static constexpr int64_t kKept = int64_t{64} << 20;
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> memory_;
  int64_t size_ = 0;
};

}  // namespace rarefy
