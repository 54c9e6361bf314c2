// Starting, calling and ending functions that were compiled ahead of time.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "backends/cpu/chain_runner.h"
#include "backends/cpu/eval_step.h"
#include "backends/cpu/host_steps.h"
#include "backends/cpu/product_runner.h"
#include "backends/cpu/runtime/call.h"
#include "backends/cpu/runtime/program.h"
#include "backends/cpu/structured_runner.h"
#include "backends/cpu/weights_file.h"
#include "backends/kernel/routine.h"
#include "backends/products/common/vnni_kernels.h"
#include "ir/support/buffer.h"
#include "ir/support/parallel.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/xxhash.h"

namespace hlo::runtime {
namespace {

/// What products may use here.
gemm::Target TargetHere(const gemm::Rates& rates) {
  gemm::Target target{gemm::HostIsa()};
  target.rates = rates;
  target.libraries = false;
#if defined(__x86_64__)
  if (target.isa < gemm::Isa::Avx512) return target;
#endif
  target.amx = gemm::TileRegisterKernels() != nullptr;
  target.pairs = gemm::PairKernels() != nullptr;
  target.fours = gemm::FourKernels() != nullptr;
  return target;
}

/// Addresses for measurements, of which only what is touched takes memory.
class Reserve {
 public:
  Reserve() {
    for (bytes_ = kMost; bytes_ >= kLeast; bytes_ /= 2) {
      void* data =
          mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (data == MAP_FAILED) continue;
      data_ = static_cast<uint8_t*>(data);
      return;
    }
  }
  ~Reserve() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  Reserve(const Reserve&) = delete;
  Reserve& operator=(const Reserve&) = delete;
  [[nodiscard]] uint8_t* data() const { return data_; }
  [[nodiscard]] size_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kMost = size_t{1} << 38, kLeast = size_t{1} << 28;
  uint8_t* data_ = nullptr;
  size_t bytes_ = 0;
};

/// Bytes of an array where code has it.
size_t BytesOf(const cpu::Leaf& leaf) { return static_cast<size_t>(std::max<int64_t>(leaf.slice.size, 0)); }

/// A chain whose kernel lies in the object.
class ArchiveChain final : public cpu::ChainRunner {
 public:
  ArchiveChain(const cpu::Step& step, cpu::ChainParts parts, cpu::PointerList& pointers,
               const Program::Kernel& kernel)
      : ChainRunner(step, std::move(parts), pointers), kernel_(kernel) {}
  [[nodiscard]] std::string Explain() const override { return Describe("kernel"); }

 private:
  void RunKernel(void* const* buffers, int64_t begin, int64_t end) const override {
    kernel_.run(buffers, begin, end);
  }
  const Program::Kernel& kernel_;
};

/// A part of an array, by the number of the array.
cpu::Slice WithinArrays(const cpu::Slice& slice, llvm::ArrayRef<cpu::Slice> arrays) {
  const auto holds = [&](const cpu::Slice& a) {
    return a.buffer == slice.buffer && a.offset <= slice.offset &&
           slice.offset + slice.size <= a.offset + a.size;
  };
  const auto* array = llvm::find_if(arrays, holds);
  if (slice.buffer < 0 || array == arrays.end()) return {};
  return {.buffer = static_cast<int32_t>(array - arrays.begin()),
          .offset = slice.offset - array->offset,
          .size = slice.size};
}

}  // namespace

/// A program that was started.
class State {
 public:
  State(const Program& program, std::unique_ptr<cpu::HostSteps> steps, const Helpers& helpers)
      : steps_(std::move(steps)), helpers_(helpers), target_(TargetHere(steps_->rates)) {
    calls_.resize(steps_->rows.size() + program.kernel_count);
    for (const Program::Kernel& kernel : llvm::ArrayRef(program.kernels, program.kernel_count))
      calls_[static_cast<size_t>(kernel.call)] = {&RunKernel, &kernel};
    for (const cpu::HostSteps::Row& row : steps_->rows)
      if (!row.chain) PlanCallees(*row.step->instruction);
    work.planned_threads = helpers_.threads;
    ready_.reserve(steps_->rows.size());
    for (cpu::HostSteps::Row& row : steps_->rows) {
      MakeReady(row);
      // The kernel of a chain has its number.
      calls_[static_cast<size_t>(row.number)] = {&RunStep, &ready_.back()};
    }
    work.planned_threads = 1;
    Measure();
  }

  [[nodiscard]] kernel::RoutineHost host() const { return {nullptr, calls_.data()}; }
  [[nodiscard]] const Helpers& helpers() const { return helpers_; }
  [[nodiscard]] const PartBytes& bytes() const { return bytes_; }

 private:
  struct Ready {
    State* state;
    std::unique_ptr<cpu::StepRunner> runner;
    cpu::PointerList pointers;
    size_t arrays;
    bool evaluates;
  };

  /// Nothing is planned within calls. What code computes has no plans: constants of it may be left out.
  void PlanCallees(const Instruction& inst) {
    for (const Computation* callee : inst.callees()) {
      plans_.Get(*callee);
      for (const Instruction* inner : callee->instructions()) PlanCallees(*inner);
    }
  }

  void MakeReady(cpu::HostSteps::Row& row) {
    Ready& ready = ready_.emplace_back();
    cpu::Step& step = *row.step;
    ready.state = this;
    const cpu::HostArrays arrays = cpu::ArraysOf(step);
    ready.arrays = arrays.slices.size();
    ready.runner = RunnerFor(row, ready.pointers);
    ready.evaluates = step.kind == cpu::StepKind::Evaluate;
    // Runners know which of their arrays are the same; where each of them lies calls tell.
    int32_t number = 0;
    const auto renumber = [&](cpu::Value& value) {
      for (cpu::Leaf& leaf : value.leaves) leaf.slice = {.buffer = number++, .size = leaf.slice.size};
    };
    for (cpu::Value& operand : step.operands) renumber(operand);
    renumber(step.result);
    for (size_t i = 0; i < ready.pointers.pointers.size(); ++i) {
      cpu::Slice& pointer = ready.pointers.pointers[i];
      // Others than chains have all of their arrays, in their order.
      pointer = row.chain ? WithinArrays(pointer, arrays.slices)
                          : cpu::Slice{.buffer = static_cast<int32_t>(i % ready.arrays)};
    }
  }

  std::unique_ptr<cpu::StepRunner> RunnerFor(cpu::HostSteps::Row& row, cpu::PointerList& pointers) const {
    cpu::Step& step = *row.step;
    const Instruction& inst = *step.instruction;
    if (row.chain) {
      const cpu::Chain& chain = row.chain->chain;
      cpu::ChainParts parts{chain, row.chain->block, cpu::RowProduct(*chain.first, target_, row.ways[0]), {}};
      if (chain.last != nullptr) parts.last.emplace(cpu::RowProduct(*chain.last, target_, row.ways[1]));
      const void* kernel = calls_[static_cast<size_t>(row.number)].what;
      return std::make_unique<ArchiveChain>(step, std::move(parts), pointers,
                                            *static_cast<const Program::Kernel*>(kernel));
    }
    if (step.kind == cpu::StepKind::Product) {
      if (row.ways.empty()) row.ways.push_back(nullptr);
#if defined(__aarch64__)
      // Who compiled did not know of instructions for fours of bytes. Sums of integers are the same by any
      // way.
      if (target_.fours && IsIntegral(inst.shape().element_type()))
        std::fill(row.ways.begin(), row.ways.end(), nullptr);
#endif
      return cpu::MakeProductRunner(step, pointers, {target_}, cpu::MakeProducts(inst, target_, row.ways));
    }
    if (step.kind == cpu::StepKind::Structured)
      if (structured::Planner* planner = structured::PlannerFor(inst))
        if (Result<structured::Plan> plan = planner(inst, target_.isa))
          return cpu::MakeStructuredRunner(step, pointers, std::move(*plan));
    step.kind = cpu::StepKind::Evaluate;
    return cpu::LoadEvaluation(step);
  }

  static void RunStep(const void* what, void* const* arrays) {
    const Ready& ready = *static_cast<const Ready*>(what);
    // Stays for the steps that follow.
    const bool has_device = ready.evaluates && !work.call->measures();
    Device& device = has_device ? work.call->device() : ready.state->devices_.device(0);
    const Arena::Mark before = work.call->BeginStep();
    RunReady(ready, arrays, device);
    work.call->EndStep(before);
  }

  static void RunReady(const Ready& ready, void* const* arrays, Device& device) {
    cpu::Frame frame(ready.arrays, 0, ready.state->plans_, device, nullptr);
    for (size_t i = 0; i < ready.arrays; ++i) frame.SetBase(i, static_cast<uint8_t*>(arrays[i]));
    frame.ResolvePointers(ready.pointers.pointers);
    if (!ready.runner->Run(frame)) GiveUp(kFailed);
  }

  static void RunKernel(const void* what, void* const* arrays) {
    const auto& kernel = *static_cast<const Program::Kernel*>(what);
    ParallelFor(0, kernel.extent, kernel.grain,
                [&](int64_t begin, int64_t end) { kernel.run(arrays, begin, end); });
  }

  /// Runs all steps on zeros.
  void Measure() {
    const Reserve reserve;
    if (reserve.data() == nullptr) return;
    const size_t half = reserve.bytes() / static_cast<size_t>(2 * helpers_.threads + 2);
    for (size_t i = 0; i < ready_.size(); ++i) {
      std::vector<Buffer<uint8_t>> arrays;
      std::vector<void*> pointers;
      const cpu::Step& step = *steps_->rows[i].step;
      const auto add = [&](const cpu::Value& value) {
        for (const cpu::Leaf& leaf : value.leaves) {
          arrays.push_back(MakeBuffer<uint8_t>(BytesOf(leaf)));
          std::memset(arrays.back().get(), 0, BytesOf(leaf));
          pointers.push_back(arrays.back().get());
        }
      };
      for (const cpu::Value& operand : step.operands) add(operand);
      add(step.result);
      MeasureStep(ready_[i], pointers.data(), {{.arena = half}, {.arena = half}}, reserve.data());
    }
    // What depends on the values has room, too.
    for (PartSize* size : {&bytes_.outside, &bytes_.inside}) size->arena += size->Bytes() / 4 + kSpare;
    const auto evaluated = llvm::count_if(ready_, [](const Ready& ready) { return ready.evaluates; });
    bytes_.outside.arena += static_cast<size_t>(evaluated) * kKeptOfDevice;
  }

  void MeasureStep(const Ready& ready, void* const* arrays, const PartBytes& room, uint8_t* memory) {
    struct What {
      const Ready& ready;
      void* const* arrays;
    } what{ready, arrays};
    const auto run = [](void* self) {
      RunStep(&static_cast<What*>(self)->ready, static_cast<What*>(self)->arrays);
    };
    // First with memory of the heap: what stays for later calls is made.
    {
      Call call(helpers_, room, memory, /*measures=*/true);
      RunFor(call, {}, /*in_loop=*/true, run, &what);
    }
    Call call(helpers_, room, memory, /*measures=*/true);
    RunFor(call, call.OutsideLoops(), /*in_loop=*/false, run, &what);
    const PartBytes peaks = call.Peaks();
    bytes_.outside.Raise(peaks.outside);
    bytes_.inside.Raise(peaks.inside);
  }

  static constexpr size_t kSpare = size_t{64} << 10;
  static constexpr size_t kKeptOfDevice = 256;  // for steps that follow: a counter of random numbers
  std::unique_ptr<cpu::HostSteps> steps_;
  Helpers helpers_;
  gemm::Target target_;
  ExecutionPlans plans_;
  DeviceGroup devices_{1, 1, 0, std::chrono::seconds(1)};  // for ops that have none
  std::vector<Ready> ready_;
  std::vector<kernel::HostCall> calls_;
  PartBytes bytes_;
};

namespace {

/// Each has memory of its own; more would have nothing to do.
constexpr int kMostThreads = 1024;

size_t TempBytes(const Program& program) {
  const auto alignment = static_cast<size_t>(program.alignment);
  return (static_cast<size_t>(program.temp_bytes) + alignment - 1) / alignment * alignment;
}

}  // namespace
}  // namespace hlo::runtime

using namespace hlo::runtime;

int hlo_rt_start(Program* program, int threads, Threads* run, void* context) {
  if (program->state != nullptr) return kDone;
  auto steps = hlo::cpu::ReadHostSteps({reinterpret_cast<const char*>(program->steps), program->steps_bytes});
  if (steps == nullptr) return kOtherArchive;
  Helpers helpers;
  if (threads > 1 && run != nullptr) helpers = {std::min(threads, kMostThreads), run, context};
  program->state = new State(*program, std::move(steps), helpers);
  return kDone;
}

size_t hlo_rt_temp_bytes(const Program* program) {
  if (program->state == nullptr) return 0;
  return TempBytes(*program) + Call::BytesFor(program->state->helpers(), program->state->bytes());
}

int hlo_rt_run(const Program* program, void* const* args, void* const* results, void* temp) {
  const State* state = program->state;
  if (state == nullptr || (program->weights_bytes > 0 && program->weights == nullptr)) return kNotStarted;
  if (temp == nullptr) return kNullPointer;
  if (reinterpret_cast<uintptr_t>(temp) % static_cast<uintptr_t>(program->alignment) != 0) return kMisaligned;
  struct What {
    const Program& program;
    void* const* args;
    void* const* results;
    void* temp;
    hlo::kernel::RoutineHost host;
    int code;
  } what{*program, args, results, temp, state->host(), kDone};
  Call call(state->helpers(), state->bytes(), static_cast<uint8_t*>(temp) + TempBytes(*program));
  RunFor(
      call, call.OutsideLoops(), /*in_loop=*/false,
      [](void* self) {
        auto& w = *static_cast<What*>(self);
        w.code = w.program.body(w.args, w.results, w.temp, &w.host);
      },
      &what);
  return call.code() != kDone ? call.code() : what.code;
}

void hlo_rt_end(Program* program) {
  if (program->weights != nullptr) munmap(const_cast<void*>(program->weights), program->weights_bytes);
  program->weights = nullptr;
  delete program->state;
  program->state = nullptr;
}

int hlo_rt_map_weights(Program* program, const char* path) {
  if (program->weights != nullptr) return kDone;
  if (path == nullptr) return kNullPointer;
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe would wait for who writes
  if (file < 0) return kOtherWeights;
  struct stat facts = {};
  void* data = MAP_FAILED;
  if (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0 &&
      static_cast<uint64_t>(facts.st_size) == program->weights_bytes)
    data = mmap(nullptr, program->weights_bytes, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (data == MAP_FAILED) return kOtherWeights;
  const auto* head = static_cast<const hlo::cpu::WeightsHead*>(data);
  if (std::memcmp(head->magic, hlo::cpu::kWeightsMagic, sizeof head->magic) != 0 ||
      head->bytes != program->weights_bytes || head->hash != program->weights_hash) {
    munmap(data, program->weights_bytes);
    return kOtherWeights;
  }
  program->weights = data;
  return kDone;
}

int hlo_rt_verify_weights(const Program* program) {
  if (program->weights == nullptr) return kNotStarted;
  constexpr size_t kHead = sizeof(hlo::cpu::WeightsHead);
  const llvm::ArrayRef content(static_cast<const uint8_t*>(program->weights) + kHead,
                               program->weights_bytes - kHead);
  return llvm::xxh3_64bits(content) == program->weights_hash ? kDone : kOtherWeights;
}
