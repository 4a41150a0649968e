// XLA FFI entry of take_rows.
#include "kernels/take_rows.h"

#include <algorithm>

#include "ffi/dispatch.h"
#include "ffi/parallel.h"
#include "ffi/row_sums.h"
#include "ffi/targets.h"
#include "kernels/pages.h"

namespace rarefy {
namespace {

namespace ffi = xla::ffi;

template <int64_t kRowBytes, typename I>
void Run(ffi::ThreadPool& pool, const char* table, const I* rows, int64_t n, int64_t k,
         int64_t row_bytes, char* out) {
  const Cost cost = GatherCost(row_bytes);
  const int64_t parts = std::min(k, PartsFor(pool, static_cast<double>(k) * cost.entry));
  ParallelParts(pool, parts, [&](int64_t p) {
    RunBest<TakeRows<I, kRowBytes>>(table, rows, n, row_bytes, k * p / parts, k * (p + 1) / parts,
                                    out);
  });
}

ffi::Error TakeRowsHandler(ffi::ThreadPool pool, ffi::AnyBuffer table, ffi::AnyBuffer rows,
                           ffi::Result<ffi::AnyBuffer> out) {
  const int64_t n = table.dimensions()[0], k = Count(rows), d = RowSize(table);
  if (out->element_type() != table.element_type() || Count(*out) != k * d)
    return ffi::Error::InvalidArgument("take_rows: operands do not agree");
  if (Count(*out) == 0) return ffi::Error::Success();
  const int64_t row_bytes = static_cast<int64_t>(out->size_bytes()) / k;
  PreferHugePages(out->untyped_data(), k * row_bytes);
  return SwitchIndex(rows.element_type(), [&](auto index) {
    using I = decltype(index);
    const auto run = [&](auto* function) {
      function(pool, Data<char>(table), Data<I>(rows), n, k, row_bytes, Data<char>(*out));
      return ffi::Error::Success();
    };
    switch (row_bytes) {
      case 2:
        return run(Run<2, I>);
      case 4:
        return run(Run<4, I>);
      case 8:
        return run(Run<8, I>);
      case 16:
        return run(Run<16, I>);
      case 64:
        return run(Run<64, I>);
      default:
        return run(Run<0, I>);
    }
  });
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(kTakeRows, TakeRowsHandler,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>());
}  // namespace rarefy
