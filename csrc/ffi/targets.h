// Every XLA FFI handler of the module, by name. module.cc hands them to Python from this one list.
#pragma once

#include "xla/ffi/api/c_api.h"

#define RAREFY_FFI_TARGETS(X)                        \
  X(rarefy_coo_dot_dense, kCooDotDense)              \
  X(rarefy_coo_to_csr, kCooToCsr)                    \
  X(rarefy_csr_combine, kCsrCombine)                 \
  X(rarefy_csr_dot_csr, kCsrDotCsr)                  \
  X(rarefy_csr_dot_csr_places, kCsrDotCsrPlaces)     \
  X(rarefy_csr_dot_dense, kCsrDotDense)              \
  X(rarefy_csr_matmul, kCsrMatmul)                   \
  X(rarefy_csr_merge, kCsrMerge)                     \
  X(rarefy_csr_sample_dot, kCsrSampleDot)            \
  X(rarefy_csr_sum_rows, kCsrSumRows)                \
  X(rarefy_csr_t_dot_dense, kCsrTDotDense)           \
  X(rarefy_csr_t_dot_rows, kCsrTDotRows)             \
  X(rarefy_csr_t_update_adagrad, kCsrTUpdateAdaGrad) \
  X(rarefy_csr_t_update_adam, kCsrTUpdateAdam)       \
  X(rarefy_csr_t_update_ftrl, kCsrTUpdateFtrl)       \
  X(rarefy_csr_t_update_sgd, kCsrTUpdateSgd)         \
  X(rarefy_csr_t_update_sgd_mom, kCsrTUpdateSgdMom)  \
  X(rarefy_csr_to_coo, kCsrToCoo)                    \
  X(rarefy_csr_transpose, kCsrTranspose)             \
  X(rarefy_csr_turn, kCsrTurn)                       \
  X(rarefy_dense_places, kDensePlaces)               \
  X(rarefy_group_cells, kGroupCells)                 \
  X(rarefy_group_rows, kGroupRows)                   \
  X(rarefy_random_uniform, kRandomUniform)           \
  X(rarefy_rows_update_adagrad, kRowsUpdateAdaGrad)  \
  X(rarefy_rows_update_adam, kRowsUpdateAdam)        \
  X(rarefy_rows_update_ftrl, kRowsUpdateFtrl)        \
  X(rarefy_rows_update_sgd, kRowsUpdateSgd)          \
  X(rarefy_rows_update_sgd_mom, kRowsUpdateSgdMom)   \
  X(rarefy_segment_rows, kSegmentRows)               \
  X(rarefy_take_rows, kTakeRows)                     \
  X(rarefy_zeros, kZeros)

namespace rarefy {
#define RAREFY_DECLARE(name, symbol) \
  extern "C" XLA_FFI_Error* symbol(XLA_FFI_CallFrame* call_frame);
RAREFY_FFI_TARGETS(RAREFY_DECLARE)
#undef RAREFY_DECLARE
}  // namespace rarefy
