// gpu_kernels [--gpu-target=NAME|FILE] [--every=N] [--why] [--counts] FILE|FOLDER...: every kernel that the
// GPU backend makes of the modules, as PTX on the emulated GPU with all its checks, against the
// interpretation of its Kernel IR: the same bits, but for what NaNs hold. --why says what is refused,
// --counts what each kernel took: sectors of memory, bytes, cycles of shared memory and branches, with the
// fewest there could be.
#include <cmath>
#include <cstring>
#include <random>

#include "backends/cpu/jit.h"
#include "backends/cpu/machine.h"
#include "backends/gpu/codegen/ptx_module.h"
#include "backends/gpu/compile/kernels.h"
#include "backends/gpu/emulator/device.h"
#include "backends/gpu/passes/passes.h"
#include "backends/gpu/ptx/parser.h"
#include "backends/kernel/interpret.h"
#include "backends/kernel/threads.h"
#include "backends/kernel/visit.h"
#include "ir/numeric/narrow_float.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"
#include "parser/parser.h"
#include "passes/pass_manager.h"

namespace hlo {
namespace {

/// Elements of a kernel's arrays together: more take the interpreter long.
constexpr int64_t kMostElements = 1 << 18;
constexpr uint64_t kDeviceMemory = 64 << 20;

struct Totals {
  int64_t modules = 0, refused = 0, kernels = 0, large = 0, failed = 0;
  bool why = false, counts = false;
};

/// Small whole numbers.
std::vector<uint8_t> FillWhole(ElementType type, int64_t count, std::mt19937_64& random) {
  constexpr uint64_t kNumbers = 16;
  constexpr double kLeast = -8;
  const auto size = static_cast<size_t>(Info(type).host_bytes());
  std::vector<uint8_t> bytes(static_cast<size_t>(count) * size);
  for (size_t i = 0; i < bytes.size(); i += size) {
    const double number = static_cast<double>(random() % kNumbers) + kLeast;
    const uint64_t bits = FromDouble(type, number);
    std::memcpy(bytes.data() + i, &bits, size);
  }
  return bytes;
}

/// Numbers around zero, in steps that narrow types have: sums of what functions make of them are not much
/// smaller than their terms, nor what is made of those.
std::vector<uint8_t> FillAroundZero(ElementType type, int64_t count, std::mt19937_64& random) {
  constexpr int64_t kSteps = 64;
  constexpr double kStep = 1. / 32;
  const ElementType of = IsComplex(type) ? RealPartType(type) : type;
  const auto size = static_cast<size_t>(Info(of).host_bytes());
  std::vector<uint8_t> bytes(static_cast<size_t>(count * Info(type).host_bytes()));
  for (size_t i = 0; i < bytes.size(); i += size) {
    const auto number = static_cast<int64_t>(random() % (2 * kSteps)) - kSteps;
    const uint64_t bits = FromDouble(of, static_cast<double>(number) * kStep);
    std::memcpy(bytes.data() + i, &bits, size);
  }
  return bytes;
}

/// Numbers of moderate size, some of them anything.
std::vector<uint8_t> Fill(ElementType type, int64_t count, std::mt19937_64& random) {
  const auto size = static_cast<size_t>(Info(type).host_bytes());
  std::vector<uint8_t> bytes(static_cast<size_t>(count) * size);
  const auto part = [&](uint8_t* to, ElementType of, size_t width) {
    uint64_t bits = random();
    const double real = static_cast<double>(static_cast<int64_t>(random() % 4096) - 2048) / 256;
    const bool any = random() % 16 == 0;
    if (IsPred(of)) {
      bits &= 1;
    } else if (of == ElementType::F64 && !any) {
      std::memcpy(&bits, &real, sizeof bits);
    } else if (of == ElementType::F32 && !any) {
      const auto narrow = static_cast<float>(real);
      std::memcpy(&bits, &narrow, sizeof narrow);
    } else if (IsIntegral(of)) {
      // Of narrow types only their own bits, in the form in which they are stored.
      const int unused = 64 - std::min<int>(Info(of).bits, any ? 64 : 6);
      bits = IsSigned(of) ? static_cast<uint64_t>(static_cast<int64_t>(bits << unused) >> unused)
                          : bits << unused >> unused;
    } else if (Info(of).bits < 8) {
      bits &= (uint64_t{1} << Info(of).bits) - 1;
    }
    std::memcpy(to, &bits, width);
  };
  for (size_t i = 0; i < bytes.size(); i += size) {
    const bool complex = IsComplex(type);
    const ElementType of = complex ? RealPartType(type) : type;
    const size_t width = complex ? size / 2 : size;
    part(bytes.data() + i, of, width);
    if (complex) part(bytes.data() + i + width, of, width);
  }
  return bytes;
}

uint64_t CodeOf(ElementType type, const uint8_t* bytes) {
  uint64_t code = 0;
  std::memcpy(&code, bytes, static_cast<size_t>(Info(type).host_bytes()));
  return code;
}

/// Calls `f` with the parts of elements that differ, those of complex numbers one by one.
bool BothParts(ElementType type, const uint8_t* x, const uint8_t* y,
               llvm::function_ref<bool(ElementType type, uint64_t x, uint64_t y)> f) {
  if (!IsComplex(type)) return f(type, CodeOf(type, x), CodeOf(type, y));
  const ElementType part = RealPartType(type);
  const int bytes = Info(part).host_bytes();
  return f(part, CodeOf(part, x), CodeOf(part, y)) &&
         f(part, CodeOf(part, x + bytes), CodeOf(part, y + bytes));
}
bool IsSame(ElementType type, uint64_t x, uint64_t y) {
  return x == y || (IsFloat(type) && IsNanCode(type, x) && IsNanCode(type, y));
}
/// What a few units of the last place of some operations come to, where numbers are as large as `scale`.
bool IsNear(ElementType type, uint64_t x, uint64_t y, double scale) {
  if (IsSame(type, x, y)) return true;
  if (!IsFloat(type)) return false;
  constexpr double kOfF64 = 1e-13, kOfF32 = 1e-5, kOfNarrow = 1e-2;
  const double relative = type == ElementType::F64 ? kOfF64 : type == ElementType::F32 ? kOfF32 : kOfNarrow;
  const double a = ToDouble(type, x), b = ToDouble(type, y);
  return std::abs(a - b) <= relative * (scale + std::abs(b));
}
/// The largest finite number of an array, but 1 at most.
double ScaleOf(ElementType type, llvm::ArrayRef<uint8_t> array) {
  double largest = 0;
  const auto size = static_cast<size_t>(Info(type).host_bytes());
  for (size_t at = 0; at < array.size(); at += size)
    BothParts(type, array.data() + at, array.data() + at, [&](ElementType part, uint64_t x, uint64_t) {
      const double value = IsFloat(part) ? std::abs(ToDouble(part, x)) : 1.0;
      if (std::isfinite(value)) largest = std::max(largest, value);
      return true;
    });
  return std::min(largest, 1.0);
}

/// The loops of a kernel without what threads do, one after the other; nothing for others.
std::optional<kernel::Kernel> Unbound(const kernel::Kernel& kernel) {
  kernel::Kernel copy = kernel::Clone(kernel);
  kernel::ForEachStmt(copy.body, [](kernel::Stmt& stmt) {
    if (auto* loop = std::get_if<kernel::LoopStmt>(&stmt)) loop->loop.binding = kernel::Binding::None;
  });
  if (!kernel::CheckWithoutThreads(copy)) return std::nullopt;
  return copy;
}

bool HasFunctions(const kernel::Kernel& kernel) {
  bool has = false;
  kernel::ForEachStmt(kernel.body, [&](const kernel::Stmt& stmt) {
    const auto* op = std::get_if<kernel::OpStmt>(&stmt);
    has |= op != nullptr && Info(op->kind).category == OpCategory::Transcendental;
  });
  return has;
}

/// Whether functions are those of this machine's library, in the interpreter, so that results are a little
/// different: they are given numbers of which no operation makes that much.
bool IsComparedNearly(const kernel::Kernel& kernel) { return HasFunctions(kernel) && !Unbound(kernel); }

/// How units round sums is theirs: they are given numbers that no order rounds.
bool HasUnits(const kernel::Kernel& kernel) {
  bool has = false;
  kernel::ForEachStmt(kernel.body, [&](const kernel::Stmt& stmt) {
    const auto* multiply = std::get_if<kernel::MultiplyMatrixStmt>(&stmt);
    has |= multiply != nullptr && IsFloat(multiply->unit.type) && !kernel::IsOfLanes(multiply->unit);
  });
  return has;
}

/// Whether updates are promised to go to different places, so that nothing orders them.
bool HasUniqueUpdates(const GpuKernel& planned) {
  const auto is_promised = [](const Instruction* inst) {
    const auto* scatter = inst->attrs().GetIf<ScatterAttrs>();
    return scatter != nullptr && scatter->unique_indices;
  };
  return llvm::any_of(planned.instructions, [&](const Instruction* inst) {
    return inst->kind() == OpKind::Fusion ? llvm::any_of(inst->callee()->instructions(), is_promised)
                                          : is_promised(inst);
  });
}

/// The numbers from 0 on, which are different and sorted.
std::vector<uint8_t> FillCounting(ElementType type, int64_t count) {
  const auto size = static_cast<size_t>(Info(type).host_bytes());
  std::vector<uint8_t> bytes(static_cast<size_t>(count) * size);
  for (uint64_t i = 0; i < static_cast<uint64_t>(count); ++i) std::memcpy(bytes.data() + i * size, &i, size);
  return bytes;
}

/// Addresses of the emulated device are those of the host.
uint8_t* PointerTo(uint64_t address) {
  return reinterpret_cast<uint8_t*>(address);  // NOLINT(performance-no-int-to-ptr)
}

class KernelRun {
 public:
  /// `unique`: numbers that may be places are different.
  KernelRun(const kernel::Kernel& kernel, uint64_t seed, bool unique, bool count)
      : kernel_(kernel), seed_(seed), count_(count) {
    std::mt19937_64 random(seed);
    // What is counted is no exception.
    const bool whole = count || HasUnits(kernel);
    const bool around_zero = IsComparedNearly(kernel);
    for (const kernel::Buffer& buffer : kernel.buffers) {
      const bool global = buffer.space == kernel::Space::Global;
      const bool real = IsFloat(buffer.type) || IsComplex(buffer.type);
      const auto fill = whole && IsFloat(buffer.type) ? FillWhole
                        : around_zero && real         ? FillAroundZero
                                                      : Fill;
      const bool places = unique && IsIntegral(buffer.type) && !IsPred(buffer.type);
      memory_.push_back(!global  ? std::vector<uint8_t>()
                        : places ? FillCounting(buffer.type, buffer.count)
                                 : fill(buffer.type, buffer.count, random));
    }
  }

  /// Of a run that went well.
  [[nodiscard]] const gpu::Counts& counts() const { return counts_; }
  /// Bytes of the arrays, each of which has to be moved once.
  [[nodiscard]] uint64_t bytes() const {
    uint64_t bytes = 0;
    for (const std::vector<uint8_t>& buffer : memory_) bytes += buffer.size();
    return bytes;
  }
  /// There is no code for it.
  [[nodiscard]] bool refused() const { return refused_; }
  /// What is wrong; empty: nothing.
  std::string Run(const gpu::Target& target) {
    std::vector<std::vector<uint8_t>> expected = memory_;
    std::vector<void*> pointers;
    for (auto& buffer : expected) pointers.push_back(buffer.data());
    const bool exact = RunHere(pointers);
    if (!exact)
      if (const Status status = kernel::Interpret(kernel_, pointers); !status)
        return "interpreted: " + status.error().message;
    const bool near = !exact && HasFunctions(kernel_);
    const Status launched = Launch(target);
    refused_ = !launched && IsDeclined(launched.error());
    if (!launched) return launched.error().message;
    for (size_t i = 0; i < memory_.size(); ++i) {
      const ElementType type = kernel_.buffers[i].type;
      const auto size = static_cast<size_t>(Info(type).host_bytes());
      const double scale = near ? ScaleOf(type, expected[i]) : 0;
      const auto agree = [&](ElementType part, uint64_t x, uint64_t y) {
        return near ? IsNear(part, x, y, scale) : IsSame(part, x, y);
      };
      for (size_t at = 0; at < memory_[i].size(); at += size)
        if (!BothParts(type, memory_[i].data() + at, expected[i].data() + at, agree))
          return llvm::formatv("b{0}[{1}] is {2}, expected {3}", i, at / size,
                               llvm::toHex(llvm::ArrayRef(memory_[i]).slice(at, size)),
                               llvm::toHex(llvm::ArrayRef(expected[i]).slice(at, size)))
              .str();
    }
    return "";
  }

 private:
  /// By code for this machine, if there is any.
  bool RunHere(const std::vector<void*>& pointers) const {
    std::optional<kernel::Kernel> kernel = Unbound(kernel_);
    if (!kernel) return false;
    cpu::Jit jit(cpu::HostMachine());
    const auto number = jit.Add(std::move(*kernel));
    if (!number || !jit.Compile()) return false;
    jit.Function (*number)(pointers.data(), 0, 1);
    return true;
  }

  Status Launch(const gpu::Target& target) {
    HLO_TRY(gpu::PtxModule code, gpu::PtxModule::Create(target));
    HLO_CHECK_OK(code.Add(kernel_));
    HLO_TRY(const std::string text, code.Print(gpu::PtxForm::Ptx));
    const auto source = std::make_shared<SourceBuffer>("kernel.ptx", text);
    HLO_TRY(const auto module, ptx::ParseModule(source));
    gpu::DeviceOptions options;
    options.memory = kDeviceMemory;
    options.sm = module->sm;
    options.seed = seed_;
    options.count = count_;
    HLO_TRY(const auto device, gpu::Device::Create(options));
    HLO_TRY(const auto loaded, gpu::LoadedModule::Load(module, *device));
    std::vector<uint64_t> params;
    std::vector<std::pair<size_t, uint64_t>> places;
    for (size_t i = 0; i < memory_.size(); ++i) {
      if (kernel_.buffers[i].space != kernel::Space::Global) continue;
      const uint64_t address = *device->memory().Allocate(std::max<size_t>(memory_[i].size(), 1));
      std::memcpy(PointerTo(address), memory_[i].data(), memory_[i].size());
      device->memory().SetWritten(address, memory_[i].size(), true);
      params.push_back(address);
      places.emplace_back(i, address);
    }
    const std::array<int64_t, 3> grid = kernel::ShapeOfGrid(kernel_);
    const auto [lanes, x, y, z] = kernel::ShapeOfBlocks(kernel_).extents;
    const std::array<int64_t, 3> block = {x * lanes, y, z};
    gpu::LaunchSize size;
    for (size_t i = 0; i < grid.size(); ++i) {
      size.grid[i] = static_cast<unsigned>(grid[i]);
      size.block[i] = static_cast<unsigned>(block[i]);
    }
    const ptx::Function* entry = module->FindEntry(kernel_.name);
    const gpu::Fault fault =
        device->Launch(*loaded, *entry, size, reinterpret_cast<const uint8_t*>(params.data()));
    if (fault) return Error("kernel-invalid", {}, "{0}", fault.text);
    counts_ = device->counts();
    for (const auto& [i, address] : places)
      std::memcpy(memory_[i].data(), PointerTo(address), memory_[i].size());
    return {};
  }

  const kernel::Kernel& kernel_;
  uint64_t seed_;
  bool count_ = false;
  bool refused_ = false;
  gpu::Counts counts_;
  std::vector<std::vector<uint8_t>> memory_;  // by buffer
};

void PrintCounts(const std::string& file, const GpuKernel& planned, const KernelRun& run) {
  const gpu::Counts& c = run.counts();
  llvm::outs() << llvm::formatv(
      "counts {0} {1} sectors {2} of {3}, bytes {4} of {5}, shared {6} of {7}, divergent {8} of {9}; {10}\n",
      llvm::sys::path::filename(file), planned.name, c.sectors, c.fewest_sectors,
      c.bytes_read + c.bytes_written, run.bytes(), c.shared_cycles, c.fewest_shared_cycles,
      c.divergent_branches, c.branches, planned.plan->schedule);
}

Status RunFile(const std::string& file, const gpu::Target& target, Totals& totals) {
  auto text = llvm::MemoryBuffer::getFile(file);
  if (!text) return Error("input-open", {}, "{0}", text.getError().message());
  ParseResult parsed = ParseModule(std::make_shared<SourceBuffer>(file, (*text)->getBuffer().str()));
  if (!parsed.module) return Error("input-format", {}, "the module does not parse");
  const compile::Machine machine = gpu::MachineOf(target);
  RewriteControls controls;
  controls.machine = &machine;
  PassManager manager(controls, {});
  HLO_TRY(const auto pipeline, ParsePipeline(gpu::PipelineFor(2)));
  HLO_TRY([[maybe_unused]] const bool changed, manager.Run(*parsed.module, pipeline));
  HLO_TRY(const std::vector<GpuKernel> kernels, PlanGpuKernels(*parsed.module, machine));
  uint64_t seed = llvm::xxh3_64bits(llvm::sys::path::filename(file));  // the same whatever else is run
  for (const GpuKernel& planned : kernels) {
    kernel::Kernel kernel = kernel::Clone(planned.plan->lowered.kernel);
    kernel.name = planned.name;
    int64_t elements = 0;
    for (const kernel::Buffer& buffer : kernel.buffers) elements += buffer.count;
    if (elements > kMostElements) {
      ++totals.large;
      continue;
    }
    ++totals.kernels;
    KernelRun run(kernel, seed++, HasUniqueUpdates(planned), totals.counts);
    const std::string wrong = run.Run(target);
    if (run.refused()) ++totals.refused;
    if (run.refused() && totals.why) llvm::outs() << file << ": refused: " << wrong << '\n';
    if (wrong.empty() && totals.counts) PrintCounts(file, planned, run);
    if (wrong.empty() || run.refused()) continue;
    ++totals.failed;
    llvm::errs() << file << ": " << planned.name << " (" << planned.plan->schedule << "): " << wrong << '\n';
  }
  return {};
}

/// The file, or the modules in a folder, by name.
std::vector<std::string> FilesOf(llvm::StringRef path) {
  if (!llvm::sys::fs::is_directory(path)) return {path.str()};
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(path, error), end; it != end && !error; it.increment(error))
    if (llvm::StringRef(it->path()).ends_with(".hlo")) files.push_back(it->path());
  llvm::sort(files);
  return files;
}

int Main(llvm::ArrayRef<const char*> arguments) {
  Totals totals;
  auto target = gpu::FindTarget("h100");
  size_t every = 1, number = 0;
  for (const char* argument : arguments) {
    llvm::StringRef word = argument;
    if (word.starts_with("--gpu-target=")) {
      target = gpu::FindTarget(word.split('=').second);
      if (!target) break;
      continue;
    }
    if (word == "--why" || word == "--counts") {
      (word == "--why" ? totals.why : totals.counts) = true;
      continue;
    }
    if (word.consume_front("--every=")) {
      if (word.getAsInteger(10, every) || every == 0) return 2;
      continue;
    }
    for (const std::string& file : FilesOf(argument)) {
      if (number++ % every != 0) continue;
      ++totals.modules;
      const Status status = RunFile(file, *target, totals);
      if (status) continue;
      const bool refused = llvm::StringRef(status.error().id.text()).starts_with("unsupported-");
      ++(refused ? totals.refused : totals.failed);
      if (!refused) llvm::errs() << file << ": " << status.error().message << '\n';
      if (refused && totals.why) llvm::outs() << file << ": refused: " << status.error().message << '\n';
    }
  }
  if (!target) {
    llvm::errs() << target.error().message << '\n';
    return 2;
  }
  llvm::outs() << totals.modules << " modules, " << totals.kernels << " kernels run, " << totals.large
               << " too large, " << totals.refused << " refused, " << totals.failed << " failed\n";
  return totals.failed == 0 && totals.kernels > 0 ? 0 : 1;
}

}  // namespace
}  // namespace hlo

int main(int argc, char** argv) {
  return hlo::Main(llvm::ArrayRef<const char*>(argv + 1, static_cast<size_t>(argc - 1)));
}
