#include "backends/gpu/libraries/cublas_lt.h"

#include <cstring>

#include "backends/gpu/libraries/product.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo::gpu {
namespace {

constexpr llvm::StringLiteral kNames[] = {"libcublasLt.so.13", "libcublasLt.so.12"};
/// The most bytes that an algorithm may take besides the arrays: what NVIDIA recommends for Hopper.
constexpr uint64_t kMostWorkspace = uint64_t{32} << 20;

constexpr LibraryStatus kStatuses[] = {
#define CUBLAS_STATUS(Kind, code, name, text) {static_cast<int>(CublasStatus::Kind), name, text},
#include "backends/gpu/libraries/cublas_statuses.def"
};

constexpr LibraryFunction kFunctions[] = {
#define CUBLAS_LT_FUNCTION(name, symbol, parameters) {#symbol, offsetof(CublasLtApi, name)},
#include "backends/gpu/libraries/cublas_lt_functions.def"
};

struct TypeRow {
  ElementType type;
  CudaType number;
};
constexpr TypeRow kTypes[] = {{ElementType::F16, CudaType::F16}, {ElementType::BF16, CudaType::BF16},
                              {ElementType::F32, CudaType::F32}, {ElementType::F64, CudaType::F64},
                              {ElementType::S8, CudaType::S8},   {ElementType::S32, CudaType::S32}};
CudaType NumberOf(ElementType type) {
  return llvm::find_if(kTypes, [&](const TypeRow& row) { return row.type == type; })->number;
}

struct ComputeRow {
  CublasCompute compute;
  llvm::StringLiteral text;
};
constexpr ComputeRow kComputes[] = {{CublasCompute::F32, "f32"},
                                    {CublasCompute::F64, "f64"},
                                    {CublasCompute::S32, "s32"},
                                    {CublasCompute::FastTF32, "tf32"}};

/// A factor in the type that the library takes it in.
struct Factor {
  Factor(ElementType type, double value) {
    const auto narrow = static_cast<float>(value);
    const auto whole = static_cast<int32_t>(value);
    if (type == ElementType::F64) std::memcpy(&bytes[0], &value, sizeof value);
    if (type == ElementType::F32) std::memcpy(&bytes[0], &narrow, sizeof narrow);
    if (type == ElementType::S32) std::memcpy(&bytes[0], &whole, sizeof whole);
  }
  alignas(double) char bytes[sizeof(double)] = {};
};

CublasEpilogue EpilogueOf(const LibraryProduct& product) {
  if (product.bias) return product.relu ? CublasEpilogue::ReluBias : CublasEpilogue::Bias;
  return product.relu ? CublasEpilogue::Relu : CublasEpilogue::None;
}

KeptLibrary<CublasLtApi>& Kept() {
  static KeptLibrary<CublasLtApi> kept(kNames, kFunctions);
  return kept;
}

}  // namespace

llvm::StringRef ToString(CublasCompute compute) {
  return llvm::find_if(kComputes, [&](const ComputeRow& row) { return row.compute == compute; })->text;
}

Result<CublasLtApi> ReadCublasLt(void* library) { return Kept().Read(library); }

Result<std::shared_ptr<CublasLt>> CublasLt::Open(const LibraryOptions& options, const LentDriver* lent) {
  HLO_TRY(const CublasLtApi api, Kept().Load(options, lent));
  auto opened = std::shared_ptr<CublasLt>(new CublasLt(api));
  HLO_CHECK_OK(opened->Check(api.Create(&opened->handle_), "cublasLtCreate"));
  return opened;
}

bool CublasLt::IsThere(const LibraryOptions& options) { return Kept().Load(options).has_value(); }

CublasLt::~CublasLt() {
  // Nobody could do anything about errors.
  if (handle_ != nullptr) (void)api_.Destroy(handle_);
}

Status CublasLt::Check(CublasStatus status, const char* function) const {
  return CheckStatus(kStatuses, static_cast<int>(status), status == CublasStatus::NotSupported, function);
}

ProductPlan::ProductPlan(std::shared_ptr<CublasLt> library, const LibraryProduct& product)
    : library_(std::move(library)), product_(std::make_unique<LibraryProduct>(product)) {}

ProductPlan::~ProductPlan() {
  for (const CublasLayout layout : {a_, b_, c_, d_})
    if (layout != nullptr) (void)library_->api().MatrixLayoutDestroy(layout);
}

Result<std::unique_ptr<ProductPlan>> ProductPlan::Make(std::shared_ptr<CublasLt> library,
                                                       const LibraryProduct& product,
                                                       const ProductAddresses& alignments) {
  auto plan = std::unique_ptr<ProductPlan>(new ProductPlan(std::move(library), product));
  HLO_CHECK_OK(plan->Describe());
  HLO_CHECK_OK(plan->Search(alignments));
  return plan;
}

Status ProductPlan::Describe() {
  const CublasLtApi& api = library_->api();
  const auto batch = static_cast<int32_t>(product_->batch);
  const auto describe = [&](CublasLayout& layout, const LibraryMatrix& matrix) -> Status {
    HLO_CHECK_OK(library_->Check(
        api.MatrixLayoutCreate(&layout, NumberOf(matrix.type), static_cast<uint64_t>(matrix.rows),
                               static_cast<uint64_t>(matrix.columns), matrix.leading),
        "cublasLtMatrixLayoutCreate"));
    const auto set = [&](CublasLayoutAttribute attribute, const auto& value) {
      return library_->Check(api.MatrixLayoutSetAttribute(layout, attribute, &value, sizeof value),
                             "cublasLtMatrixLayoutSetAttribute");
    };
    HLO_CHECK_OK(set(CublasLayoutAttribute::BatchCount, batch));
    return set(CublasLayoutAttribute::BatchStride, matrix.batch_stride);
  };
  HLO_CHECK_OK(describe(a_, product_->a));
  HLO_CHECK_OK(describe(b_, product_->b));
  if (product_->c) HLO_CHECK_OK(describe(c_, *product_->c));
  return describe(d_, product_->d);
}

Result<CublasDesc> ProductPlan::MakeDesc(uint64_t bias) const {
  const CublasLtApi& api = library_->api();
  CublasDesc desc = nullptr;
  HLO_CHECK_OK(
      library_->Check(api.MatmulDescCreate(&desc, product_->types->compute, NumberOf(product_->types->scale)),
                      "cublasLtMatmulDescCreate"));
  auto destroy = llvm::make_scope_exit([&] { (void)api.MatmulDescDestroy(desc); });
  const auto set = [&](CublasDescAttribute attribute, const auto& value) {
    return library_->Check(api.MatmulDescSetAttribute(desc, attribute, &value, sizeof value),
                           "cublasLtMatmulDescSetAttribute");
  };
  const auto transposed = [](const LibraryMatrix& matrix) {
    return matrix.transposed ? CublasTranspose::Yes : CublasTranspose::No;
  };
  HLO_CHECK_OK(set(CublasDescAttribute::TransposeA, transposed(product_->a)));
  HLO_CHECK_OK(set(CublasDescAttribute::TransposeB, transposed(product_->b)));
  HLO_CHECK_OK(set(CublasDescAttribute::Epilogue, EpilogueOf(*product_)));
  if (product_->bias) HLO_CHECK_OK(set(CublasDescAttribute::BiasPointer, bias));
  destroy.release();
  return desc;
}

Status ProductPlan::Search(const ProductAddresses& alignments) {
  const CublasLtApi& api = library_->api();
  // What is seen of an address is how it is aligned.
  HLO_TRY(const CublasDesc desc, MakeDesc(alignments.bias));
  const auto destroy = llvm::make_scope_exit([&] { (void)api.MatmulDescDestroy(desc); });
  CublasSearch search = nullptr;
  HLO_CHECK_OK(library_->Check(api.MatmulPreferenceCreate(&search), "cublasLtMatmulPreferenceCreate"));
  const auto end = llvm::make_scope_exit([&] { (void)api.MatmulPreferenceDestroy(search); });
  const auto set = [&](CublasSearchAttribute attribute, const auto& value) {
    return library_->Check(api.MatmulPreferenceSetAttribute(search, attribute, &value, sizeof value),
                           "cublasLtMatmulPreferenceSetAttribute");
  };
  HLO_CHECK_OK(set(CublasSearchAttribute::WorkspaceBytes, kMostWorkspace));
  const uint64_t of_c = product_->c ? alignments.c : alignments.d;
  for (const auto& [attribute, alignment] : {std::pair(CublasSearchAttribute::AlignmentA, alignments.a),
                                             {CublasSearchAttribute::AlignmentB, alignments.b},
                                             {CublasSearchAttribute::AlignmentC, of_c},
                                             {CublasSearchAttribute::AlignmentD, alignments.d}})
    HLO_CHECK_OK(set(attribute, static_cast<uint32_t>(alignment)));
  int count = 0;
  HLO_CHECK_OK(
      library_->Check(api.MatmulAlgoGetHeuristic(library_->handle(), desc, a_, b_, c_ != nullptr ? c_ : d_,
                                                 d_, search, 1, &found_, &count),
                      "cublasLtMatmulAlgoGetHeuristic"));
  if (count == 0) return Decline({}, "cublasLtMatmulAlgoGetHeuristic finds no way");
  return library_->Check(found_.state, "cublasLtMatmulAlgoGetHeuristic");
}

Status ProductPlan::Run(const LibraryCall& whole) const {
  const ProductAddresses at = AddressesOf(*product_, whole.at);
  HLO_TRY(const CublasDesc desc, MakeDesc(at.bias));
  const auto destroy = llvm::make_scope_exit([&] { (void)library_->api().MatmulDescDestroy(desc); });
  for (int64_t call = 0; call < product_->calls; ++call) {
    const auto moved = [&](uint64_t address, const LibraryMatrix& matrix) {
      return address + static_cast<uint64_t>(call * matrix.call_stride * Info(matrix.type).host_bytes());
    };
    ProductAddresses here = at;
    here.a = moved(at.a, product_->a);
    here.b = moved(at.b, product_->b);
    here.d = moved(at.d, product_->d);
    if (product_->c) here.c = moved(at.c, *product_->c);
    HLO_CHECK_OK(RunCall(desc, here, whole.workspace, whole.stream));
  }
  return {};
}

Status ProductPlan::RunCall(CublasDesc desc, const ProductAddresses& at, uint64_t workspace,
                            void* stream) const {
  const Factor alpha(product_->types->scale, product_->alpha),
      beta(product_->types->scale, product_->c ? 1 : 0);
  const CublasLayout c = product_->c ? c_ : d_;
  return library_->Check(
      library_->api().Matmul(library_->handle(), desc, &alpha.bytes[0], AtAddress(at.a), a_, AtAddress(at.b),
                             b_, &beta.bytes[0], AtAddress(product_->c ? at.c : at.d), c, AtAddress(at.d), d_,
                             &found_.algorithm, AtAddress(workspace), workspace_bytes(), stream),
      "cublasLtMatmul");
}

}  // namespace hlo::gpu
