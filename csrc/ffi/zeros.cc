// XLA FFI entry of zeros.
#include <algorithm>
#include <cstring>

#include "ffi/dispatch.h"
#include "ffi/parallel.h"
#include "ffi/row_sums.h"
#include "ffi/targets.h"
#include "kernels/pages.h"

namespace rarefy {
namespace {

namespace ffi = xla::ffi;

// Fresh memory on huge pages, measured on Zen 3.
constexpr double kByteNanoseconds = 0.2;

ffi::Error ZerosHandler(ffi::ThreadPool pool, ffi::Result<ffi::AnyBuffer> out) {
  const int64_t bytes = static_cast<int64_t>(out->size_bytes());
  char* begin = Data<char>(*out);
  PreferHugePages(begin, bytes);
  const int64_t parts = PartsFor(pool, kByteNanoseconds * static_cast<double>(bytes));
  ParallelParts(pool, parts, [&](int64_t p) {
    const int64_t first = bytes * p / parts, last = bytes * (p + 1) / parts;
    std::memset(begin + first, 0, static_cast<size_t>(last - first));
  });
  return ffi::Error::Success();
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(kZeros, ZerosHandler,
                              ffi::Ffi::Bind().Ctx<ffi::ThreadPool>().Ret<ffi::AnyBuffer>());
}  // namespace rarefy
