#include "backends/gpu/libraries/cufft.h"

#include <mutex>

#include "backends/gpu/libraries/fft.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace hlo::gpu {
namespace {

constexpr llvm::StringLiteral kNames[] = {"libcufft.so.12", "libcufft.so.11"};
/// Where a copy of the operand begins in the workspace, whose first part is the library's. Bytes.
constexpr uint64_t kAlignment = 256;

constexpr LibraryStatus kStatuses[] = {
#define CUFFT_STATUS(Kind, code, name, text) {static_cast<int>(CufftStatus::Kind), name, text},
#include "backends/gpu/libraries/cufft_statuses.def"
};

constexpr LibraryFunction kFunctions[] = {
#define CUFFT_FUNCTION(name, symbol, parameters) {#symbol, offsetof(CufftApi, name)},
#include "backends/gpu/libraries/cufft_functions.def"
};

KeptLibrary<CufftApi>& Kept() {
  static KeptLibrary<CufftApi> kept(kNames, kFunctions);
  return kept;
}

/// The diagnostic of an answer of a function: runtime-gpu, or declined where the library has no such
/// transform.
Status Check(CufftStatus status, const char* function) {
  const bool lacks = status == CufftStatus::NotSupported || status == CufftStatus::NotImplemented ||
                     status == CufftStatus::InvalidSize;
  return CheckStatus(kStatuses, static_cast<int>(status), lacks, function);
}

class Cufft final : public OpenLibraryOnGpu {
 public:
  explicit Cufft(const CufftApi& api) : api_(api) {}
  [[nodiscard]] const CufftApi& api() const { return api_; }

 private:
  CufftApi api_;
};

/// How each type of transform is asked for.
struct ExecRow {
  CufftType type;
  CufftStatus (*CufftApi::*both_ways)(CufftHandle, void*, void*, int);
  CufftStatus (*CufftApi::*one_way)(CufftHandle, void*, void*);
  const char* symbol;
  /// The library writes over what it transforms.
  bool spoils;
};
constexpr ExecRow kExecs[] = {
    {CufftType::C2C, &CufftApi::ExecC2C, nullptr, "cufftExecC2C", false},
    {CufftType::R2C, nullptr, &CufftApi::ExecR2C, "cufftExecR2C", false},
    {CufftType::C2R, nullptr, &CufftApi::ExecC2R, "cufftExecC2R", true},
    {CufftType::Z2Z, &CufftApi::ExecZ2Z, nullptr, "cufftExecZ2Z", false},
    {CufftType::D2Z, nullptr, &CufftApi::ExecD2Z, "cufftExecD2Z", false},
    {CufftType::Z2D, nullptr, &CufftApi::ExecZ2D, "cufftExecZ2D", true},
};

class FftPlan final : public LibraryPlan {
 public:
  FftPlan(std::shared_ptr<Cufft> library, const LibraryFft& fft)
      : library_(std::move(library)),
        exec_(*llvm::find_if(kExecs, [&](const ExecRow& row) { return row.type == fft.types->type; })),
        direction_(fft.types->transform == FftType::IFFT ? kCufftInverse : kCufftForward) {}
  ~FftPlan() override {
    // Nobody could do anything about errors.
    if (made_) (void)library_->api().Destroy(plan_);
  }

  Status Make(const LibraryFft& fft) {
    const CufftApi& api = library_->api();
    HLO_CHECK_OK(Check(api.Create(&plan_), "cufftCreate"));
    made_ = true;
    HLO_CHECK_OK(Check(api.SetAutoAllocation(plan_, 0), "cufftSetAutoAllocation"));
    llvm::SmallVector<long long, 3> lengths(fft.lengths.begin(), fft.lengths.end()), from = lengths,
                                                                                     to = lengths;
    const long long half = lengths.back() / 2 + 1;
    if (fft.types->transform == FftType::RFFT) to.back() = half;
    if (fft.types->transform == FftType::IRFFT) from.back() = half;
    const auto product = [](llvm::ArrayRef<long long> sizes) {
      long long elements = 1;
      for (const long long size : sizes) elements *= size;
      return elements;
    };
    HLO_CHECK_OK(Check(
        api.MakePlanMany(plan_, static_cast<int>(lengths.size()), lengths.data(), from.data(), 1,
                         product(from), to.data(), 1, product(to), fft.types->type, fft.batch, &own_bytes_),
        "cufftMakePlanMany64"));
    if (exec_.spoils)
      copied_bytes_ = static_cast<size_t>(fft.batch * product(from) * 2 * Info(fft.types->real).host_bytes());
    return {};
  }

  [[nodiscard]] size_t workspace_bytes() const override { return CopyPlace() + copied_bytes_; }
  Status Run(const LibraryCall& call) const override {
    uint64_t from = call.at.operands.front();
    if (exec_.spoils) {
      const uint64_t copy = call.workspace + CopyPlace();
      HLO_CHECK_OK(call.copy(copy, from, copied_bytes_));
      from = copy;
    }
    const CufftApi& api = library_->api();
    // A plan knows its stream and its memory.
    const std::lock_guard lock(mutex_);
    HLO_CHECK_OK(Check(api.SetStream(plan_, call.stream), "cufftSetStream"));
    HLO_CHECK_OK(Check(api.SetWorkArea(plan_, AtAddress(call.workspace)), "cufftSetWorkArea"));
    void* const to = AtAddress(call.at.results.front());
    const CufftStatus status = exec_.both_ways != nullptr
                                   ? (api.*exec_.both_ways)(plan_, AtAddress(from), to, direction_)
                                   : (api.*exec_.one_way)(plan_, AtAddress(from), to);
    // Nothing is lost by that: another way says so if the GPU is.
    if (status == CufftStatus::ExecFailed) return Decline({}, "{0} failed", exec_.symbol);
    return Check(status, exec_.symbol);
  }

 private:
  /// The library's part comes first, and never is empty.
  [[nodiscard]] size_t CopyPlace() const {
    return llvm::alignTo(std::max(own_bytes_, size_t{1}), kAlignment);
  }

  std::shared_ptr<Cufft> library_;
  const ExecRow& exec_;
  int direction_;
  CufftHandle plan_ = 0;
  bool made_ = false;
  size_t own_bytes_ = 0, copied_bytes_ = 0;
  mutable std::mutex mutex_;
};

class FftWork final : public LibraryWork {
 public:
  explicit FftWork(LibraryFft fft) : fft_(std::move(fft)) {}
  [[nodiscard]] std::string ToString(const Instruction&) const override { return gpu::ToString(fft_); }
  [[nodiscard]] Result<std::unique_ptr<LibraryPlan>> Plan(LibraryPtr library,
                                                          const LibraryArrays&) const override {
    auto plan = std::make_unique<FftPlan>(std::static_pointer_cast<Cufft>(std::move(library)), fft_);
    HLO_CHECK_OK(plan->Make(fft_));
    return plan;
  }

 private:
  LibraryFft fft_;
};

}  // namespace

Result<CufftApi> ReadCufft(void* library) { return Kept().Read(library); }

Result<std::unique_ptr<LibraryWork>> DescribeCufft(const Instruction& inst) {
  HLO_TRY(LibraryFft fft, LibraryFftOf(inst));
  return std::make_unique<FftWork>(std::move(fft));
}
bool IsCufftThere(const LibraryOptions& options) { return Kept().Load(options).has_value(); }
Result<LibraryPtr> OpenCufft(const LibraryOptions& options, const LentDriver* lent) {
  HLO_TRY(const CufftApi api, Kept().Load(options, lent));
  return std::make_shared<Cufft>(api);
}

}  // namespace hlo::gpu
