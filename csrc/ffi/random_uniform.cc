// XLA FFI entry of random_uniform.
#include "kernels/random_uniform.h"

#include <algorithm>

#include "ffi/dispatch.h"
#include "ffi/parallel.h"
#include "ffi/row_sums.h"
#include "ffi/targets.h"
#include "kernels/pages.h"

namespace rarefy {
namespace {

namespace ffi = xla::ffi;

// Measured on Zen 3, in cache.
constexpr double kElementNanoseconds = 2.0;

ffi::Error RandomUniformHandler(ffi::ThreadPool pool, ffi::Buffer<ffi::U32> key,
                                ffi::AnyBuffer bounds, ffi::Result<ffi::AnyBuffer> out) {
  if (key.element_count() != 2 || Count(bounds) != 3)
    return ffi::Error::InvalidArgument("random_uniform: operands do not agree");
  PreferHugePages(out->untyped_data(), static_cast<int64_t>(out->size_bytes()));
  return SwitchValue(out->element_type(), [&](auto value) {
    using V = decltype(value);
    const int64_t size = Count(*out), chunks = (size + kUniformChunk<V> - 1) / kUniformChunk<V>;
    const auto* bound = Data<Accumulator<V>>(bounds);
    const uint32_t* keys = key.typed_data();
    const int64_t parts =
        std::min(chunks, PartsFor(pool, kElementNanoseconds * static_cast<double>(size)));
    ParallelParts(pool, parts, [&](int64_t p) {
      RunBest<RandomUniform<V>>(
          keys[0], keys[1], bound[0], bound[1], bound[2], chunks * p / parts * kUniformChunk<V>,
          std::min(size, chunks * (p + 1) / parts * kUniformChunk<V>), Data<V>(*out));
    });
    return ffi::Error::Success();
  });
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(kRandomUniform, RandomUniformHandler,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::Buffer<ffi::U32>>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>());
}  // namespace rarefy
