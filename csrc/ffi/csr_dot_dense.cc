// XLA FFI entry of csr @ dense: checks buffers, picks the types, splits rows over the pool.
#include "kernels/csr_dot_dense.h"

#include <algorithm>

#include "ffi/dispatch.h"
#include "ffi/parallel.h"
#include "ffi/targets.h"

namespace rarefy {
namespace {

namespace ffi = xla::ffi;

ffi::Error CsrDotDense(ffi::ThreadPool pool, ffi::AnyBuffer data, ffi::AnyBuffer indices,
                       ffi::AnyBuffer indptr, ffi::AnyBuffer dense,
                       ffi::Result<ffi::AnyBuffer> out) {
  const int64_t m = indptr.element_count() - 1;
  const int64_t n_cols = dense.dimensions()[0];
  const int64_t k = n_cols == 0 ? 0 : static_cast<int64_t>(dense.element_count()) / n_cols;
  return SwitchValue(data.element_type(), [&](auto value) {
    using V = decltype(value);
    return SwitchIndex(indices.element_type(), [&](auto index) {
      using I = decltype(index);
      const int64_t parts = std::min<int64_t>(m, 64);
      ParallelParts(pool, parts, [&](int64_t p) {
        CsrDotDenseRows<V, I, V>(Data<V>(data), Data<I>(indices), Data<I>(indptr), Data<V>(dense),
                                 n_cols, k, m * p / parts, m * (p + 1) / parts, Data<V>(*out));
      });
      return ffi::Error::Success();
    });
  });
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(kCsrDotDense, CsrDotDense,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>());
}  // namespace rarefy
