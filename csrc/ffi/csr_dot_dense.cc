// XLA FFI entry of csr @ dense.
#include "kernels/csr_dot_dense.h"

#include "ffi/dispatch.h"
#include "ffi/parallel.h"
#include "ffi/row_sums.h"
#include "ffi/targets.h"

namespace rarefy {

template <typename V, typename I>
void CsrDotDenseRows(const CsrDense<V, I>& a, const I* indptr, int64_t base, int64_t row_begin,
                     int64_t row_end, const SumsOut<V>& out, std::atomic<int>* skipped) {
  RunBest<CsrDotDense<V, I>>(a, indptr, base, row_begin, row_end, out, skipped);
}

#define RAREFY_INSTANTIATE(V, I)                                                            \
  template void CsrDotDenseRows(const CsrDense<V, I>&, const I*, int64_t, int64_t, int64_t, \
                                const SumsOut<V>&, std::atomic<int>*);
RAREFY_INSTANTIATE(float, int32_t)
RAREFY_INSTANTIATE(float, int64_t)
RAREFY_INSTANTIATE(double, int32_t)
RAREFY_INSTANTIATE(double, int64_t)
RAREFY_INSTANTIATE(Half, int32_t)
RAREFY_INSTANTIATE(Half, int64_t)
RAREFY_INSTANTIATE(BFloat16, int32_t)
RAREFY_INSTANTIATE(BFloat16, int64_t)
#undef RAREFY_INSTANTIATE

namespace {

namespace ffi = xla::ffi;

ffi::Error CsrDotDenseHandler(ffi::ThreadPool pool, ffi::AnyBuffer data, ffi::AnyBuffer indices,
                              ffi::AnyBuffer indptr, ffi::AnyBuffer dense,
                              ffi::Result<ffi::AnyBuffer> out) {
  const int64_t nse = Count(data), m = Count(indptr) - 1, k = RowSize(dense);
  if (m < 0 || Count(indices) != nse || indices.element_type() != indptr.element_type() ||
      data.element_type() != dense.element_type() || Count(*out) != m * k)
    return ffi::Error::InvalidArgument("csr_dot_dense: operands do not agree");
  if (Count(*out) == 0) return ffi::Error::Success();
  return SwitchValue(data.element_type(), [&](auto value) {
    using V = decltype(value);
    return SwitchIndex(indices.element_type(), [&](auto index) {
      using I = decltype(index);
      const CsrDense<V, I> a{Data<V>(data),  Data<I>(indices),      nse,
                             Data<V>(dense), dense.dimensions()[0], k};
      return ParallelCsrDotDense(pool, a, static_cast<const I*>(Data<I>(indptr)), m, Data<V>(*out))
                 ? ffi::Error::Success()
                 : OutOfMemory();
    });
  });
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(kCsrDotDense, CsrDotDenseHandler,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>());
}  // namespace rarefy
