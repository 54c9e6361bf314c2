#include "tools/run/gpu.h"

namespace hlo {
namespace {

/// Bytes of memory that the emulated GPU's tables take for each byte of its own; all of it counts against a
/// limit, used or not.
constexpr int64_t kBytesPerByte = 32;

tl::unexpected<Diagnostic> Refuse(llvm::StringRef found, const char* expected) {
  return Error("usage-option", {}, "option '--gpu-emu': found '{0}', expected {1}", found, expected);
}

/// MemAlloc@3=CUDA_ERROR_OUT_OF_MEMORY
Result<gpu::PlannedFault> ParseFault(llvm::StringRef text) {
  gpu::PlannedFault fault;
  const auto [place, error] = text.split('=');
  const auto [function, call] = place.split('@');
  fault.function = function.str();
  const auto named = [&](const gpu::DriverFunction& f) { return f.name == function; };
  const bool known = llvm::any_of(gpu::DriverFunctions(), named);
  const std::optional<gpu::CuResult> result = gpu::ResultNamed(error);
  if (!known || !result || call.getAsInteger(10, fault.call) || fault.call == 0)
    return Refuse(text, "fault=FUNCTION@CALL=ERROR, as fault=MemAlloc@1=CUDA_ERROR_OUT_OF_MEMORY");
  fault.result = *result;
  return fault;
}

Status Set(gpu::EmulatedDriverOptions& emulation, llvm::StringRef item) {
  const auto [key, value] = item.split('=');
  gpu::DeviceOptions& device = emulation.device;
  if (key == "seed") {
    if (value.getAsInteger(10, device.seed)) return Refuse(item, "seed=N");
  } else if (key == "memory") {
    if (value.getAsInteger(10, device.memory) || device.memory == 0) return Refuse(item, "memory=BYTES");
  } else if (key == "checks") {
    if (value != "on" && value != "off") return Refuse(item, "checks=on or checks=off");
    device.check_races = value == "on";
  } else if (key == "devices") {
    constexpr int kMost = 64;
    if (value.getAsInteger(10, emulation.devices) || emulation.devices < 1 || emulation.devices > kMost)
      return Refuse(item, "devices=N, 1 to 64");
  } else if (key == "driver") {
    if (value.getAsInteger(10, emulation.version) || emulation.version < gpu::kOldestDriver)
      return Refuse(item, "driver=VERSION, as driver=12080 for CUDA 12.8");
  } else if (key == "fault") {
    HLO_TRY(gpu::PlannedFault fault, ParseFault(value));
    emulation.faults.push_back(std::move(fault));
  } else {
    return Refuse(item, "seed=, memory=, checks=, devices=, driver= or fault=");
  }
  return {};
}

gpu::LibraryOptions LibrariesOf(const RunOptions& options) {
  using Use = gpu::LibraryOptions::Use;
  // Their sums have no order that anybody prescribes.
  if (options.gpu_libraries == "off" || options.passes.strict_fp) return {Use::Off};
  if (options.gpu_libraries.empty() || options.gpu_libraries == "auto") return {Use::Auto};
  return {Use::Named, options.gpu_libraries};
}

}  // namespace

Result<GpuRunOptions> GpuOptionsOf(const RunOptions& options) {
  GpuRunOptions gpu;
  HLO_TRY(gpu.target, gpu::FindTarget(options.gpu_target));
  gpu.wait_each = options.gpu_sync;
  gpu.graphs = static_cast<gpu::GraphUse>(options.gpu_graphs);
  for (const llvm::StringRef number : options.gpu_devices.items)
    if (constexpr int kMost = 1 << 16;
        number.getAsInteger(10, gpu.gpus.emplace_back()) || gpu.gpus.back() < 0 || gpu.gpus.back() > kMost)
      return Error("usage-option", {}, "option '--gpu-devices': found '{0}', expected the number of a GPU",
                   number);
  gpu.side_streams = static_cast<gpu::SideStreams>(options.gpu_streams);
  gpu.libraries = LibrariesOf(options);
  if (!options.passes.deterministic)
    gpu.tuning = {static_cast<gpu::Tuning>(options.autotune), options.autotune_results};
  gpu::EmulatedDriverOptions& emulation = gpu.platform.emulation;
  emulation.device.memory = 0;
  emulation.device.count = options.Profiling() || gpu.tuning.tuning == gpu::Tuning::On;
  if (options.memory_limit.bytes > 0)
    emulation.device.memory =
        static_cast<uint64_t>(std::max<int64_t>(options.memory_limit.bytes / kBytesPerByte, 1));
  for (const llvm::StringRef item : options.gpu_emu) HLO_CHECK_OK(Set(emulation, item));
  return gpu;
}

bool HasLibraryConvolutions(const RunOptions& options) {
  return HasGpuLibrary("cuDNN", LibrariesOf(options), options.platform == Platform::GpuEmu);
}

Status CheckNccl(const RunOptions& options) {
  if (!IsGpu(options.platform))
    return Error(
        "unavailable-nccl", {},
        "no launcher 'nccl' for --platform={0}: it is for --platform=gpu, where devices have a GPU each",
        WordOf(options.platform));
  if (HasGpuLibrary("NCCL", LibrariesOf(options), options.platform == Platform::GpuEmu)) return {};
  return Error("unavailable-nccl", {}, "no launcher 'nccl': {0}",
               options.gpu_libraries == "off" || options.passes.strict_fp
                   ? "with --gpu-libraries=off and --strict-fp the host computes collectives"
                   : "libnccl.so.2 of NVIDIA's is not there");
}

Result<cpu::Peaks> GpuPeaks(const RunOptions& options) {
  HLO_TRY(const gpu::Target target, gpu::FindTarget(options.gpu_target));
  const double clocks = static_cast<double>(target.multiprocessors) * static_cast<double>(target.clock_hz);
  // A multiply-add counts 2.
  cpu::Peaks peaks;
  peaks.f32 = 2 * clocks * static_cast<double>(target.f32_per_clock);
  peaks.f64 = 2 * clocks * static_cast<double>(target.f64_per_clock);
  const auto products = [&](double others, ElementType type) {
    return std::max(others, 2 * target.MatrixRate(type));
  };
  peaks.bf16 = products(peaks.f32, ElementType::BF16);
  peaks.s8 = products(peaks.f32, ElementType::S8);
  // The units for f32 round what they multiply.
  peaks.f32_products = options.gpu_tf32 ? products(peaks.f32, ElementType::F32) : peaks.f32;
  peaks.f64_products = products(peaks.f64, ElementType::F64);
  peaks.device = target.name;
  peaks.levels = {{"memory", INT64_MAX, static_cast<double>(target.memory_bandwidth)}};
  return peaks;
}

}  // namespace hlo
