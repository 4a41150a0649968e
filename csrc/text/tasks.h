// Independent pieces of work on threads of our own.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace rarefy::text {

// Calls `work(task)` for every task in [0, tasks) on at most `threads` threads, this one among
// them. Tasks start in ascending order. The first exception is thrown again here once all threads
// ended.
template <typename Work>
void RunTasks(int64_t tasks, int64_t threads, const Work& work) {
  std::atomic<int64_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr failure;
  const auto loop = [&] {
    try {
      for (int64_t task; (task = next.fetch_add(1)) < tasks;) work(task);
    } catch (...) {
      next = tasks;
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  };
  std::vector<std::thread> helpers;
  helpers.reserve(static_cast<size_t>(std::max<int64_t>(std::min(threads, tasks) - 1, 0)));
  for (int64_t i = 1; i < std::min(threads, tasks); ++i) {
    try {
      helpers.emplace_back(loop);
    } catch (const std::system_error&) {
      break;  // no more threads to be had: fewer do the same work
    }
  }
  loop();
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace rarefy::text
