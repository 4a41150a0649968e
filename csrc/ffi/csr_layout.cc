// XLA FFI entries of csr_layout.h: coo_to_csr, csr_to_coo and csr_transpose.
#include "kernels/csr_layout.h"

#include <algorithm>

#include "ffi/dispatch.h"
#include "ffi/parallel.h"
#include "ffi/row_sums.h"
#include "ffi/targets.h"

namespace rarefy {
namespace {

namespace ffi = xla::ffi;

constexpr double kEntryNanoseconds = 1.0;

// Calls body(begin, end) for ranges that cover [0, nse); once where there are none.
template <typename Body>
void ParallelSlots(ffi::ThreadPool& pool, int64_t nse, const Body& body) {
  const int64_t parts = PartsFor(pool, kEntryNanoseconds * static_cast<double>(nse));
  ParallelParts(pool, parts, [&](int64_t p) { body(nse * p / parts, nse * (p + 1) / parts); });
}

ffi::Error CooToCsrHandler(ffi::ThreadPool pool, ffi::AnyBuffer indices,
                           ffi::Result<ffi::AnyBuffer> columns, ffi::Result<ffi::AnyBuffer> indptr,
                           int64_t row_axis, int64_t n_cols) {
  const auto type = indices.element_type();
  const int64_t nse = Count(*columns), rows = Count(*indptr) - 1;
  if (columns->element_type() != type || indptr->element_type() != type ||
      Count(indices) != 2 * nse || rows < 0 || (row_axis != 0 && row_axis != 1))
    return ffi::Error::InvalidArgument("coo_to_csr: operands do not agree");
  return SwitchIndex(type, [&](auto index) {
    using I = decltype(index);
    ParallelSlots(pool, nse, [&](int64_t begin, int64_t end) {
      CooToCsr(Data<I>(indices), nse, row_axis, rows, n_cols, begin, end, Data<I>(*columns),
               Data<I>(*indptr));
    });
    return ffi::Error::Success();
  });
}

ffi::Error CsrToCooHandler(ffi::ThreadPool pool, ffi::AnyBuffer indices, ffi::AnyBuffer indptr,
                           ffi::Result<ffi::AnyBuffer> out, int64_t n_cols) {
  const auto type = indices.element_type();
  const int64_t nse = Count(indices), rows = Count(indptr) - 1;
  if (indptr.element_type() != type || out->element_type() != type || Count(*out) != 2 * nse ||
      rows < 0)
    return ffi::Error::InvalidArgument("csr_to_coo: operands do not agree");
  return SwitchIndex(type, [&](auto index) {
    using I = decltype(index);
    ParallelSlots(pool, nse, [&](int64_t begin, int64_t end) {
      CsrToCoo(Data<I>(indices), Data<I>(indptr), rows, n_cols, begin, end, Data<I>(*out));
    });
    return ffi::Error::Success();
  });
}

ffi::Error CsrTransposeHandler(ffi::AnyBuffer indices, ffi::AnyBuffer indptr,
                               ffi::Result<ffi::AnyBuffer> rows, ffi::Result<ffi::AnyBuffer> starts,
                               ffi::ResultBuffer<ffi::S32> order) {
  const auto type = indices.element_type();
  const int64_t nse = Count(indices), n_rows = Count(indptr) - 1, n_cols = Count(*starts) - 1;
  if (indptr.element_type() != type || rows->element_type() != type ||
      starts->element_type() != type || Count(*rows) != nse || Count(*order) != nse || n_rows < 0 ||
      n_cols < 0)
    return ffi::Error::InvalidArgument("csr_transpose: operands do not agree");
  return SwitchIndex(type, [&](auto index) {
    using I = decltype(index);
    CsrTranspose(Data<I>(indices), Data<I>(indptr), n_rows, nse, n_cols, Data<I>(*rows),
                 order->typed_data(), Data<I>(*starts));
    return ffi::Error::Success();
  });
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(kCooToCsr, CooToCsrHandler,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<int64_t>("row_axis")
                                  .Attr<int64_t>("n_cols"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(kCsrToCoo, CsrToCooHandler,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<int64_t>("n_cols"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(kCsrTranspose, CsrTransposeHandler,
                              ffi::Ffi::Bind()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::Buffer<ffi::S32>>());
}  // namespace rarefy
