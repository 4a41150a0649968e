// Memory for parsed rows.
#pragma once

#include <cstdint>
#include <utility>

namespace rarefy::text {

// Gives memory back that Buffer::Release handed out: keeps it for the next Buffer, or frees it.
// Thread-safe.
void GiveBack(void* data, int64_t capacity) noexcept;

// A growing piece of memory. Unlike std::vector it does not touch what it reserves, grows in place
// where the system can move pages, is recycled, and can be given away. Recycling is what counts: in
// a virtual machine the first touch of a page took as long as parsing what fits on it.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~Buffer() { GiveBack(data_, capacity_); }

  template <typename T>
  T* As() const {
    return static_cast<T*>(data_);
  }

  // Makes room for `bytes` bytes; what was there stays. Throws std::bad_alloc, and then changes
  // nothing.
  void Reserve(int64_t bytes);

  int64_t capacity() const { return capacity_; }

  // Hands the memory to the caller, who passes it to GiveBack some day. Null if there is none.
  void* Release() {
    capacity_ = 0;
    return std::exchange(data_, nullptr);
  }

 private:
  void* data_ = nullptr;
  int64_t capacity_ = 0;
};

}  // namespace rarefy::text
