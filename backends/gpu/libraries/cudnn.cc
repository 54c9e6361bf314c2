#include "backends/gpu/libraries/cudnn.h"

#include "backends/gpu/libraries/cudnn_descriptor.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo::gpu {
namespace {

constexpr llvm::StringLiteral kNames[] = {"libcudnn.so.9"};
/// Errors of these thousands say that there is no such function, rather than that something went wrong.
constexpr int kStatusKind = 1000;

constexpr LibraryStatus kStatuses[] = {
#define CUDNN_STATUS(Kind, code, name, text) {static_cast<int>(CudnnStatus::Kind), name, text},
#include "backends/gpu/libraries/cudnn_statuses.def"
};
constexpr LibraryFunction kFunctions[] = {
#define CUDNN_FUNCTION(name, symbol, parameters) {#symbol, offsetof(CudnnApi, name)},
#include "backends/gpu/libraries/cudnn_functions.def"
};

KeptLibrary<CudnnApi>& Library() {
  static KeptLibrary<CudnnApi> library(kNames, kFunctions);
  return library;
}

}  // namespace

Result<CudnnApi> ReadCudnn(void* library) { return Library().Read(library); }

Result<std::shared_ptr<Cudnn>> Cudnn::Open(const LibraryOptions& options, const LentDriver* lent) {
  HLO_TRY(const CudnnApi api, Library().Load(options, lent));
  auto opened = std::shared_ptr<Cudnn>(new Cudnn(api));
  HLO_CHECK_OK(opened->Check(api.Create(&opened->handle_), "cudnnCreate"));
  return opened;
}

Result<std::shared_ptr<Cudnn>> Cudnn::OpenFor(const LibraryOptions& options, llvm::StringRef device) {
  HLO_TRY(const auto loaded, Library().Load(options));
  auto opened = std::shared_ptr<Cudnn>(new Cudnn(loaded.second));
  HLO_TRY(Descriptor described, Descriptor::Make(*opened, CudnnDescriptorKind::Device));
  HLO_CHECK_OK(described.SetEach(CudnnAttribute::DeviceText, CudnnAttributeType::Char,
                                 llvm::ArrayRef(device.data(), device.size())));
  HLO_CHECK_OK(described.Finish());
  opened->device_ = std::make_unique<Descriptor>(std::move(described));
  return opened;
}

bool Cudnn::IsThere(const LibraryOptions& options) { return Library().Load(options).has_value(); }

Cudnn::Cudnn(const CudnnApi& api) : api_(api) {}

Cudnn::~Cudnn() {
  device_.reset();
  // Nobody could do anything about errors.
  if (handle_ != nullptr) (void)api_.Destroy(handle_);
}

Status Cudnn::Check(CudnnStatus status, const char* function) const {
  const int code = static_cast<int>(status), family = code / kStatusKind * kStatusKind;
  return CheckStatus(kStatuses, code, family == static_cast<int>(CudnnStatus::NotSupported), function,
                     family);
}

Status Cudnn::Execute(void* stream, CudnnDescriptor plan, CudnnDescriptor arrays) {
  const std::lock_guard lock(mutex_);
  HLO_CHECK_OK(Check(api_.SetStream(handle_, stream), "cudnnSetStream"));
  return Check(api_.Execute(handle_, plan, arrays), "cudnnBackendExecute");
}

Result<Descriptor> Descriptor::Make(const Cudnn& library, CudnnDescriptorKind kind) {
  Descriptor made(library);
  HLO_CHECK_OK(
      library.Check(library.api().CreateDescriptor(kind, &made.handle_), "cudnnBackendCreateDescriptor"));
  return made;
}

Descriptor::~Descriptor() {
  // Nobody could do anything about errors.
  if (handle_ != nullptr) (void)library_->api().DestroyDescriptor(handle_);
}

Status Descriptor::SetAll(CudnnAttribute attribute, CudnnAttributeType type, size_t count,
                          const void* values) {
  return library_->Check(
      library_->api().SetAttribute(handle_, attribute, type, static_cast<int64_t>(count), values),
      "cudnnBackendSetAttribute");
}

Result<size_t> Descriptor::GetAll(CudnnAttribute attribute, CudnnAttributeType type, size_t most,
                                  void* values) const {
  int64_t count = 0;
  HLO_CHECK_OK(library_->Check(
      library_->api().GetAttribute(handle_, attribute, type, static_cast<int64_t>(most), &count, values),
      "cudnnBackendGetAttribute"));
  return std::min(static_cast<size_t>(std::max<int64_t>(count, 0)), most);
}

Status Descriptor::Finish() {
  return library_->Check(library_->api().Finalize(handle_), "cudnnBackendFinalize");
}

}  // namespace hlo::gpu
