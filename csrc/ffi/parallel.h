// Running a loop over ranges on XLA's thread pool.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "xla/ffi/api/ffi.h"

namespace rarefy {

// Tells the core that its thread polls.
inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Calls call(body, part) for every part in [0, parts); see ParallelParts.
inline void RunParts(xla::ffi::ThreadPool& pool, int64_t parts, int64_t helpers, const void* body,
                     void (*call)(const void* body, int64_t part)) {
  struct State {
    std::atomic<int64_t> next{0};
    std::atomic<int64_t> done{0};
    std::mutex mutex;
    std::condition_variable finished;
  };
  // Shared, since a queued helper may start after this function has returned; it then finds no part
  // left and never touches body.
  auto state = std::make_shared<State>();
  auto work = [state, parts, body, call] {
    int64_t mine = 0;
    for (int64_t part; (part = state->next.fetch_add(1)) < parts; ++mine) call(body, part);
    if (mine > 0 && state->done.fetch_add(mine) + mine == parts) {
      std::lock_guard<std::mutex> lock(state->mutex);
      state->finished.notify_all();
    }
  };
  for (int64_t i = 0; i < helpers; ++i) pool.Schedule(decltype(work)(work));
  work();
  // The parts under way take some tens of microseconds, which is what being woken costs.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
  do {
    for (int i = 0; i < 64; ++i) {
      if (state->done.load(std::memory_order_acquire) == parts) return;
      Pause();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  std::unique_lock<std::mutex> lock(state->mutex);
  state->finished.wait(lock, [&] { return state->done.load() == parts; });
}

// Calls body(part) for every part in [0, parts), on the calling thread and on pool threads.
//
// The calling thread takes parts itself and waits only for parts that another thread has already
// begun. Waiting for tasks that are still queued could lock up the pool, as the caller may hold the
// thread they need. Which thread runs which part is undefined, so body must write to disjoint
// memory per part; then results do not depend on the number of threads.
template <typename Body>
void ParallelParts(xla::ffi::ThreadPool& pool, int64_t parts, const Body& body) {
  const int64_t helpers = parts < 2 ? 0 : std::min<int64_t>(pool.num_threads(), parts) - 1;
  if (helpers <= 0) {
    for (int64_t part = 0; part < parts; ++part) body(part);
    return;
  }
  RunParts(pool, parts, helpers, &body,
           [](const void* erased, int64_t part) { (*static_cast<const Body*>(erased))(part); });
}

}  // namespace rarefy
