// XLA FFI entry of dense_places: every row is counted, then written to its place.
#include "kernels/dense_places.h"

#include <algorithm>
#include <limits>

#include "ffi/dispatch.h"
#include "ffi/parallel.h"
#include "ffi/row_sums.h"
#include "ffi/targets.h"

namespace rarefy {
namespace {

namespace ffi = xla::ffi;

// Reading memory that is in no cache, measured on Zen 3.
constexpr double kByteNanoseconds = 0.1;

template <typename V, typename I>
ffi::Error FindPlaces(ffi::ThreadPool& pool, const V* mat, int64_t rows, int64_t n, int64_t nse,
                      I* indices, I* indptr, int32_t* total) {
  const int64_t parts = std::min(
      rows, PartsFor(pool, kByteNanoseconds * static_cast<double>(rows * n * int64_t{sizeof(V)})));
  const auto over_rows = [&](const auto& body) {
    ParallelParts(pool, parts, [&](int64_t p) {
      for (int64_t r = rows * p / parts; r < rows * (p + 1) / parts; ++r) body(r);
    });
  };
  over_rows([&](int64_t r) { indptr[r + 1] = static_cast<I>(CountNonzero(mat + r * n, n)); });
  int64_t sum = 0;
  indptr[0] = 0;
  for (int64_t r = 0; r < rows; ++r) {
    sum += static_cast<int64_t>(indptr[r + 1]);
    indptr[r + 1] = static_cast<I>(std::min(sum, nse));
  }
  over_rows([&](int64_t r) {
    const auto first = static_cast<int64_t>(indptr[r]), last = static_cast<int64_t>(indptr[r + 1]);
    WriteNonzero(mat + r * n, n, last - first, indices + first);
  });
  std::fill(indices + std::min(sum, nse), indices + nse, static_cast<I>(n));
  *total = static_cast<int32_t>(std::min<int64_t>(sum, std::numeric_limits<int32_t>::max()));
  return ffi::Error::Success();
}

template <typename F>
ffi::Error SwitchNumber(ffi::DataType type, const F& f) {
  switch (type) {
    case ffi::PRED:
    case ffi::S8:
    case ffi::U8:
      return f(uint8_t());
    case ffi::S16:
    case ffi::U16:
      return f(uint16_t());
    case ffi::S32:
    case ffi::U32:
      return f(uint32_t());
    case ffi::S64:
    case ffi::U64:
      return f(uint64_t());
    default:
      return SwitchValue(type, f);
  }
}

ffi::Error DensePlacesHandler(ffi::ThreadPool pool, ffi::AnyBuffer mat,
                              ffi::Result<ffi::AnyBuffer> indices,
                              ffi::Result<ffi::AnyBuffer> indptr,
                              ffi::ResultBuffer<ffi::S32> count) {
  const int64_t rows = Count(*indptr) - 1;
  if (mat.dimensions().size() != 2 || mat.dimensions()[0] != rows ||
      indices->element_type() != indptr->element_type())
    return ffi::Error::InvalidArgument("dense_places: operands do not agree");
  const int64_t n = mat.dimensions()[1];
  return SwitchNumber(mat.element_type(), [&](auto value) {
    using V = decltype(value);
    return SwitchIndex(indices->element_type(), [&](auto index) {
      using I = decltype(index);
      return FindPlaces<V, I>(pool, Data<V>(mat), rows, n, Count(*indices), Data<I>(*indices),
                              Data<I>(*indptr), count->typed_data());
    });
  });
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(kDensePlaces, DensePlacesHandler,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::Buffer<ffi::S32>>());
}  // namespace rarefy
