#include "text/buffer.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace rarefy::text {
namespace {

// Smaller pieces cost the allocator little, larger ones are not worth holding on to.
constexpr int64_t kLeastKept = 1 << 17;
constexpr int64_t kMostKept = 1 << 24;
constexpr int64_t kMostKeptTogether = 1 << 25;
constexpr size_t kMostPieces = 64;

struct Piece {
  void* data;
  int64_t capacity;
};

// Pieces that wait for a new owner. Never destroyed: Python may free arrays at any late moment.
class Pool {
 public:
  // The smallest piece that holds `bytes` without being much too large, or {null, 0}.
  Piece Take(int64_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Piece* best = nullptr;
    for (Piece& piece : pieces_) {
      const bool fits = piece.capacity >= bytes && piece.capacity / 2 <= bytes;
      if (fits && (best == nullptr || piece.capacity < best->capacity)) best = &piece;
    }
    if (best == nullptr) return {nullptr, 0};
    const Piece taken = *best;
    *best = pieces_.back();
    pieces_.pop_back();
    together_ -= taken.capacity;
    return taken;
  }

  bool Keep(const Piece& piece) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (pieces_.size() == kMostPieces || together_ + piece.capacity > kMostKeptTogether) {
      return false;
    }
    pieces_.push_back(piece);
    together_ += piece.capacity;
    return true;
  }

 private:
  Pool() { pieces_.reserve(kMostPieces); }
  friend Pool& ThePool();

  std::mutex mutex_;
  std::vector<Piece> pieces_;
  int64_t together_ = 0;
};

Pool& ThePool() {
  static Pool* const pool = new Pool;
  return *pool;
}

// Asks for large pages, of which there are fewer to touch for the first time.
void AdviseHugePages([[maybe_unused]] void* data, [[maybe_unused]] int64_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr uintptr_t kPage = 4096;
  constexpr int64_t kWorthwhile = 1 << 22;
  if (bytes < kWorthwhile) return;
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(data) + kPage - 1) & ~(kPage - 1);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(data) + bytes) & ~(kPage - 1);
  // A refusal costs time only.
  static_cast<void>(madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE));
#endif
}

}  // namespace

void GiveBack(void* data, int64_t capacity) noexcept {
  if (data == nullptr) return;
  const bool keep = capacity >= kLeastKept && capacity <= kMostKept;
  if (!keep || !ThePool().Keep({data, capacity})) std::free(data);
}

void Buffer::Reserve(int64_t bytes) {
  if (bytes <= capacity_) return;
  if (data_ == nullptr && bytes >= kLeastKept) {
    const Piece piece = ThePool().Take(bytes);
    if (piece.data != nullptr) {
      data_ = piece.data;
      capacity_ = piece.capacity;
      return;
    }
  }
  // Half as much again, so that appending costs O(1) a byte.
  const int64_t wanted = std::max(bytes, capacity_ + capacity_ / 2);
  void* const grown = std::realloc(data_, static_cast<size_t>(wanted));
  if (grown == nullptr) throw std::bad_alloc();
  data_ = grown;
  capacity_ = wanted;
  AdviseHugePages(data_, capacity_);
}

}  // namespace rarefy::text
