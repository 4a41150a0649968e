// XLA FFI entry of the sums of the rows of a csr matrix.
#include "kernels/csr_sum_rows.h"

#include "ffi/dispatch.h"
#include "ffi/parallel.h"
#include "ffi/row_sums.h"
#include "ffi/targets.h"

namespace rarefy {
namespace {

namespace ffi = xla::ffi;

// From the third-level cache, measured on Zen 4.
constexpr Cost kCost{4.0, 0.3};

ffi::Error CsrSumRowsHandler(ffi::ThreadPool pool, ffi::AnyBuffer data, ffi::AnyBuffer indices,
                             ffi::AnyBuffer indptr, ffi::Result<ffi::AnyBuffer> out,
                             int64_t n_cols) {
  const int64_t nse = Count(data), m = Count(indptr) - 1;
  if (m < 0 || Count(indices) != nse || indices.element_type() != indptr.element_type() ||
      data.element_type() != out->element_type() || Count(*out) != m)
    return ffi::Error::InvalidArgument("csr_sum_rows: operands do not agree");
  if (m == 0) return ffi::Error::Success();
  return SwitchValue(data.element_type(), [&](auto value) {
    using V = decltype(value);
    return SwitchIndex(indices.element_type(), [&](auto index) {
      using I = decltype(index);
      const V* const values = Data<V>(data);
      const I *const columns = Data<I>(indices), *const starts = Data<I>(indptr);
      const bool done = ParallelRowSums<V>(
          pool, starts, m, nse, 1, kCost, Data<V>(*out),
          [&](int64_t begin, int64_t end, V* to, std::atomic<int>* skipped) {
            RunBest<CsrSumRows<V, I>>(values, columns, nse, n_cols, starts, begin, end, to,
                                      skipped);
          },
          [&](int64_t begin, int64_t end, Accumulator<V>* partial) {
            RunBest<CsrSumSegment<V, I>>(values, columns, n_cols, begin, end, partial);
          });
      return done ? ffi::Error::Success() : OutOfMemory();
    });
  });
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(kCsrSumRows, CsrSumRowsHandler,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<int64_t>("n_cols"));
}  // namespace rarefy
