// Products among what libraries do.
#include "backends/gpu/libraries/product.h"

namespace hlo::gpu {
namespace {

/// Addresses that are multiples of more are no better. Bytes.
constexpr uint64_t kMostAlignment = 256;

uint64_t BeginOf(const LibraryMatrix& matrix) {
  return static_cast<uint64_t>(matrix.offset * Info(matrix.type).host_bytes());
}
uint64_t NumberOf(const LibraryMatrix& matrix, const LibraryArrays& arrays) {
  return matrix.array < 0 ? arrays.results.front() : arrays.operands[static_cast<size_t>(matrix.array)];
}

/// A number for each array that there is.
ProductAddresses ForEach(const LibraryProduct& product,
                         llvm::function_ref<uint64_t(const LibraryMatrix&)> number) {
  ProductAddresses numbers;
  numbers.a = number(product.a);
  numbers.b = number(product.b);
  numbers.d = number(product.d);
  if (product.c) numbers.c = number(*product.c);
  if (product.bias) numbers.bias = number(*product.bias);
  return numbers;
}

/// Of the addresses of matrices in all calls.
ProductAddresses Alignments(const LibraryProduct& product, const LibraryArrays& of_arrays) {
  return ForEach(product, [&](const LibraryMatrix& matrix) {
    const int64_t bytes = Info(matrix.type).host_bytes();
    const uint64_t all = kMostAlignment | NumberOf(matrix, of_arrays) | BeginOf(matrix) |
                         static_cast<uint64_t>(matrix.call_stride * bytes);
    return all & (~all + 1);
  });
}

class ProductWork final : public LibraryWork {
 public:
  explicit ProductWork(const LibraryProduct& product) : product_(product) {}
  [[nodiscard]] std::string ToString(const Instruction& inst) const override {
    return gpu::ToString(product_, inst);
  }
  [[nodiscard]] Result<std::unique_ptr<LibraryPlan>> Plan(LibraryPtr library,
                                                          const LibraryArrays& alignments) const override {
    return ProductPlan::Make(std::static_pointer_cast<CublasLt>(std::move(library)), product_,
                             Alignments(product_, alignments));
  }

 private:
  LibraryProduct product_;
};

}  // namespace

ProductAddresses AddressesOf(const LibraryProduct& product, const LibraryArrays& at) {
  return ForEach(product,
                 [&](const LibraryMatrix& matrix) { return NumberOf(matrix, at) + BeginOf(matrix); });
}

Result<std::unique_ptr<LibraryWork>> DescribeCublasLt(const Instruction& inst) {
  HLO_TRY(const LibraryProduct product, ProductOf(inst));
  return std::make_unique<ProductWork>(product);
}
bool IsCublasLtThere(const LibraryOptions& options) { return CublasLt::IsThere(options); }
Result<LibraryPtr> OpenCublasLt(const LibraryOptions& options, const LentDriver* lent) {
  return CublasLt::Open(options, lent);
}

}  // namespace hlo::gpu
