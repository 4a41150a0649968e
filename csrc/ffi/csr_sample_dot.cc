// XLA FFI entry of the dense products at the stored places of a csr pattern.
#include "kernels/csr_sample_dot.h"

#include <algorithm>

#include "ffi/dispatch.h"
#include "ffi/parallel.h"
#include "ffi/row_sums.h"
#include "ffi/targets.h"

namespace rarefy {
namespace {

namespace ffi = xla::ffi;

ffi::Error CsrSampleDotHandler(ffi::ThreadPool pool, ffi::AnyBuffer indices, ffi::AnyBuffer indptr,
                               ffi::AnyBuffer lhs, ffi::AnyBuffer rhs,
                               ffi::Result<ffi::AnyBuffer> out) {
  const int64_t nse = Count(indices), m = Count(indptr) - 1, k = RowSize(lhs);
  const int64_t n = rhs.dimensions()[0];
  if (m < 0 || lhs.dimensions()[0] != m || RowSize(rhs) != k || Count(*out) != nse ||
      indices.element_type() != indptr.element_type() || lhs.element_type() != rhs.element_type())
    return ffi::Error::InvalidArgument("csr_sample_dot: operands do not agree");
  return SwitchValue(lhs.element_type(), [&](auto value) {
    using V = decltype(value);
    return SwitchIndex(indices.element_type(), [&](auto index) {
      using I = decltype(index);
      const double cost = GatherCost(k * int64_t{sizeof(V)}).entry;
      const int64_t parts = PartsFor(pool, cost * static_cast<double>(nse));
      ParallelParts(pool, parts, [&](int64_t part) {
        RunBest<CsrSampleDot<V, I>>(
            static_cast<const I*>(Data<I>(indices)), static_cast<const I*>(Data<I>(indptr)), m, nse,
            static_cast<const V*>(Data<V>(lhs)), static_cast<const V*>(Data<V>(rhs)), n, k,
            nse * part / parts, nse * (part + 1) / parts, Data<V>(*out));
      });
      return ffi::Error::Success();
    });
  });
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(kCsrSampleDot, CsrSampleDotHandler,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>());
}  // namespace rarefy
