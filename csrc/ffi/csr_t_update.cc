// XLA FFI entries of csr_t_update, one for each optimizer.
#include "kernels/csr_t_update.h"

#include <algorithm>

#include "ffi/dispatch.h"
#include "ffi/in_place.h"
#include "ffi/parallel.h"
#include "ffi/targets.h"

namespace rarefy {
namespace {

namespace ffi = xla::ffi;

// Entries that one thread deals with alone: some 40 us (benchmarks/test_rows.py).
constexpr int64_t kPartEntries = 1 << 13;

template <typename Rule, typename V, typename I>
ffi::Error Run(ffi::ThreadPool& pool, const CsrTUpdateOperands<Rule, V, I>& operands,
               const V* hyper) {
  static thread_local Scratch records, rows;
  const int64_t parts = std::min<int64_t>(pool.num_threads(), operands.nse / kPartEntries);
  CsrTUpdate<Rule, V, I> update(operands, Rule(hyper), parts);
  const bool done = update.Run(
      records, [&](int64_t n, const auto& body) { ParallelParts(pool, n, body); },
      []() -> Scratch& { return rows; });
  records.Trim();
  return done ? ffi::Error::Success() : OutOfMemory();
}

// Operands (weight, states..., data, indices, indptr, dense, hyper), results (weight, states...).
template <template <typename> typename Rule>
ffi::Error CsrTUpdateHandler(ffi::ThreadPool pool, ffi::RemainingArgs args,
                             ffi::RemainingRets rets) {
  constexpr int kTables = Rule<float>::kStates + 1;
  if (args.size() != kTables + 5 || rets.size() != kTables) {
    return ffi::Error::InvalidArgument("csr_t_update: wrong number of buffers");
  }
  const auto weight = *args.get<ffi::AnyBuffer>(0);
  const auto data = *args.get<ffi::AnyBuffer>(kTables);
  const auto indices = *args.get<ffi::AnyBuffer>(kTables + 1);
  const auto indptr = *args.get<ffi::AnyBuffer>(kTables + 2);
  const auto dense = *args.get<ffi::AnyBuffer>(kTables + 3);
  const auto hyper = *args.get<ffi::AnyBuffer>(kTables + 4);
  void* tables[kTables];
  TakeTables(args, rets, tables);
  const int64_t n = weight.dimensions()[0], k = RowSize(weight), nse = Count(data);
  const int64_t m = Count(indptr) - 1;
  if (m < 0 || m > INT32_MAX || nse > INT32_MAX || Count(indices) != nse || Count(dense) != m * k ||
      Count(hyper) != Rule<float>::kHyper || indptr.element_type() != indices.element_type() ||
      data.element_type() != weight.element_type() || dense.element_type() != data.element_type())
    return ffi::Error::InvalidArgument("csr_t_update: operands do not agree");
  if (n * k == 0 || nse == 0) return ffi::Error::Success();
  const auto run = [&](auto value) {
    using V = decltype(value);
    using R = Rule<V>;
    return SwitchIndex(indices.element_type(), [&](auto index) {
      using I = decltype(index);
      CsrTUpdateOperands<R, V, I> operands{
          {}, Data<V>(data), Data<I>(indices), Data<I>(indptr), Data<V>(dense), nse, m, n, k};
      for (int t = 0; t < kTables; ++t) operands.tables[t] = static_cast<V*>(tables[t]);
      return Run<R, V, I>(pool, operands, Data<V>(hyper));
    });
  };
  switch (weight.element_type()) {
    case ffi::F32:
      return run(float());
    case ffi::F64:
      return run(double());
    default:
      return ffi::Error::InvalidArgument("csr_t_update: tables must be float32 or float64");
  }
}

}  // namespace

#define RAREFY_CSR_T_UPDATE(symbol, Rule) \
  XLA_FFI_DEFINE_HANDLER_SYMBOL(          \
      symbol, CsrTUpdateHandler<Rule>,    \
      ffi::Ffi::Bind().Ctx<ffi::ThreadPool>().RemainingArgs().RemainingRets())
RAREFY_CSR_T_UPDATE(kCsrTUpdateSgd, Sgd);
RAREFY_CSR_T_UPDATE(kCsrTUpdateSgdMom, SgdMom);
RAREFY_CSR_T_UPDATE(kCsrTUpdateAdam, Adam);
RAREFY_CSR_T_UPDATE(kCsrTUpdateAdaGrad, AdaGrad);
RAREFY_CSR_T_UPDATE(kCsrTUpdateFtrl, Ftrl);
#undef RAREFY_CSR_T_UPDATE

}  // namespace rarefy
