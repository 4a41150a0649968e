// XLA FFI entries of rows_update, one for each optimizer.
#include "kernels/rows_update.h"

#include <algorithm>

#include "ffi/dispatch.h"
#include "ffi/in_place.h"
#include "ffi/parallel.h"
#include "ffi/targets.h"

namespace rarefy {
namespace {

namespace ffi = xla::ffi;

// Bytes of table rows that one part updates: some 20 us, several times what waking a thread costs
// (benchmarks/test_rows.py).
constexpr int64_t kPartBytes = 1 << 16;

// Operands (weight, states..., rows, grad, hyper), results (weight, states...).
template <template <typename> typename Rule>
ffi::Error RowsUpdateHandler(ffi::ThreadPool pool, ffi::RemainingArgs args,
                             ffi::RemainingRets rets) {
  constexpr int kTables = Rule<float>::kStates + 1;
  if (args.size() != kTables + 3 || rets.size() != kTables) {
    return ffi::Error::InvalidArgument("rows_update: wrong number of buffers");
  }
  const auto rows = *args.get<ffi::AnyBuffer>(kTables);
  const auto grad = *args.get<ffi::AnyBuffer>(kTables + 1);
  const auto hyper = *args.get<ffi::AnyBuffer>(kTables + 2);
  const auto weight = *args.get<ffi::AnyBuffer>(0);
  void* tables[kTables];
  TakeTables(args, rets, tables);
  const int64_t n = weight.dimensions()[0], k = Count(rows), d = RowSize(weight);
  if (Count(grad) != k * d || Count(hyper) != Rule<float>::kHyper ||
      grad.element_type() != weight.element_type())
    return ffi::Error::InvalidArgument("rows_update: operands do not agree");
  if (k * d == 0) return ffi::Error::Success();
  return SwitchValue(weight.element_type(), [&](auto value) {
    using V = decltype(value);
    using R = Rule<Accumulator<V>>;
    return SwitchIndex(rows.element_type(), [&](auto index) {
      using I = decltype(index);
      RowsUpdateOperands<R, V, I> operands{{}, Data<I>(rows), Data<V>(grad), n, k, d};
      for (int t = 0; t < kTables; ++t) operands.tables[t] = static_cast<V*>(tables[t]);
      const R rule(Data<Accumulator<V>>(hyper));
      const int64_t bytes = k * d * static_cast<int64_t>(sizeof(V)) * kTables;
      const int64_t parts = std::clamp<int64_t>(bytes / kPartBytes, 1, std::min<int64_t>(k, 256));
      ParallelParts(pool, parts, [&](int64_t p) {
        RunBest<RowsUpdate<R, V, I>>(rule, operands, k * p / parts, k * (p + 1) / parts);
      });
      return ffi::Error::Success();
    });
  });
}

}  // namespace

#define RAREFY_ROWS_UPDATE(symbol, Rule) \
  XLA_FFI_DEFINE_HANDLER_SYMBOL(         \
      symbol, RowsUpdateHandler<Rule>,   \
      ffi::Ffi::Bind().Ctx<ffi::ThreadPool>().RemainingArgs().RemainingRets())
RAREFY_ROWS_UPDATE(kRowsUpdateSgd, Sgd);
RAREFY_ROWS_UPDATE(kRowsUpdateSgdMom, SgdMom);
RAREFY_ROWS_UPDATE(kRowsUpdateAdam, Adam);
RAREFY_ROWS_UPDATE(kRowsUpdateAdaGrad, AdaGrad);
RAREFY_ROWS_UPDATE(kRowsUpdateFtrl, Ftrl);
#undef RAREFY_ROWS_UPDATE

}  // namespace rarefy
