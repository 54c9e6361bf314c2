// Products of matrices as NVIDIA's library takes them.
#pragma once
#include <optional>
#include <string>

#include "backends/gpu/libraries/cublas_lt.h"
#include "ir/instruction.h"
#include "ir/support/result.h"

namespace hlo::gpu {

/// A row of product_types.def.
struct ProductTypes {
  ElementType operands, result;
  CublasCompute compute;
  ElementType scale;
  bool fused;
  int64_t apart;
};

/// A matrix that lies in an array: `columns` columns of `rows` elements side by side, each `leading` elements
/// behind the one before. All counts are of elements.
struct LibraryMatrix {
  int64_t array = -1;  // number of the fusion's operand; -1: its result
  ElementType type = ElementType::F32;
  bool transposed = false;  // as it is multiplied
  int64_t rows = 0, columns = 0, leading = 0;
  int64_t offset = 0;                         // of the first element
  int64_t batch_stride = 0, call_stride = 0;  // to the next of a batch, and of the next call
};

/// D = relu(alpha * A * B + C + bias), for each of a batch, the whole in several calls.
struct LibraryProduct {
  const ProductTypes* types = nullptr;
  int64_t rows = 0, columns = 0, sum = 0, batch = 1, calls = 1;
  LibraryMatrix a, b, d;
  std::optional<LibraryMatrix> c;
  std::optional<LibraryMatrix> bias;  // of `rows` elements, the same for all columns
  double alpha = 1;
  bool relu = false;

  /// All but the bias, the result last.
  [[nodiscard]] llvm::SmallVector<const LibraryMatrix*, 4> Matrices() const;
};

/// What a fusion computes as one product of the library. Declines, saying why, where it is none or where it
/// pays no call of a library.
Result<LibraryProduct> ProductOf(const Instruction& fusion);
/// A fusion that is none as a whole: the last of its instructions up to which it is one that is large enough
/// to be done apart from the rest. Null: there is none.
Instruction* ProductApart(const Instruction& fusion);
/// Whether a dot may come to be one that is done apart, whatever passes make of it.
bool MayBeApart(const Instruction& dot);
/// Where its arrays begin, of arrays of the fusion.
ProductAddresses AddressesOf(const LibraryProduct& product, const LibraryArrays& at);
/// Every figure of it; operands by their names.
std::string ToString(const LibraryProduct& product, const Instruction& fusion);

}  // namespace hlo::gpu
