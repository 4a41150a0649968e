// XLA FFI entries of csr_layout.h: coo_to_csr, csr_to_coo, csr_transpose and csr_turn.
#include "kernels/csr_layout.h"

#include <algorithm>

#include "ffi/dispatch.h"
#include "ffi/parallel.h"
#include "ffi/row_sums.h"
#include "ffi/targets.h"
#include "kernels/scratch.h"

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

template <typename V, typename I>
ffi::Error Turn(ffi::ThreadPool& pool, const CsrTurn<V, I>& a, int64_t m, V* values, I* rows,
                I* starts) {
  // More chunks share the work better, but each has to count every column.
  const int64_t work = PartsFor(pool, 3 * kEntryNanoseconds * static_cast<double>(a.nse));
  const int64_t fit = a.nse / (2 * std::max<int64_t>(a.n_cols, 1));
  const int64_t chunks = std::clamp<int64_t>(std::min({work, fit, m, pool.num_threads()}), 1, 64);
  static thread_local Scratch scratch;
  auto* const counts =
      static_cast<I*>(scratch.Get(chunks * a.n_cols * static_cast<int64_t>(sizeof(I))));
  if (counts == nullptr) return OutOfMemory();
  const auto bound = [&](int64_t chunk) -> int64_t {
    if (chunk == chunks) return m;
    const auto at = static_cast<I>(a.nse / chunks * chunk);
    return chunk == 0 ? 0 : std::lower_bound(a.indptr, a.indptr + m, at) - a.indptr;
  };
  ParallelParts(pool, chunks, [&](int64_t chunk) {
    a.Count(bound(chunk), bound(chunk + 1), counts + chunk * a.n_cols);
  });
  a.Place(chunks, counts, starts);
  const auto used = static_cast<int64_t>(starts[a.n_cols]);
  if (used > a.nse) return ffi::Error::InvalidArgument("csr_turn: indptr falls");
  ParallelParts(pool, chunks, [&](int64_t chunk) {
    a.Move(bound(chunk), bound(chunk + 1), counts + chunk * a.n_cols, values, rows);
  });
  scratch.Trim();
  std::fill(values + used, values + a.nse, V{});
  std::fill(rows + used, rows + a.nse, static_cast<I>(m));
  return ffi::Error::Success();
}

ffi::Error CsrTurnHandler(ffi::ThreadPool pool, ffi::AnyBuffer data, ffi::AnyBuffer indices,
                          ffi::AnyBuffer indptr, ffi::Result<ffi::AnyBuffer> values,
                          ffi::Result<ffi::AnyBuffer> rows, ffi::Result<ffi::AnyBuffer> starts) {
  const auto type = indices.element_type();
  const int64_t nse = Count(indices), m = Count(indptr) - 1, n_cols = Count(*starts) - 1;
  if (indptr.element_type() != type || rows->element_type() != type ||
      starts->element_type() != type || Count(*rows) != nse || Count(data) != nse ||
      Count(*values) != nse || values->element_type() != data.element_type() || m < 0 || n_cols < 0)
    return ffi::Error::InvalidArgument("csr_turn: operands do not agree");
  return SwitchIndex(type, [&](auto index) {
    using I = decltype(index);
    const auto run = [&](auto bits) {
      using V = decltype(bits);
      const CsrTurn<V, I> a{Data<V>(data), Data<I>(indices), Data<I>(indptr), nse, n_cols};
      return Turn<V, I>(pool, a, m, Data<V>(*values), Data<I>(*rows), Data<I>(*starts));
    };
    switch (nse > 0 ? static_cast<int64_t>(data.size_bytes()) / nse : 4) {
      case 1:
        return run(uint8_t());
      case 2:
        return run(uint16_t());
      case 4:
        return run(uint32_t());
      case 8:
        return run(uint64_t());
      default:
        return ffi::Error::InvalidArgument("csr_turn: elements must have 1, 2, 4 or 8 bytes");
    }
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

XLA_FFI_DEFINE_HANDLER_SYMBOL(kCsrTurn, CsrTurnHandler,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>());
}  // namespace rarefy
