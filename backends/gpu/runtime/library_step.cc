// Steps that libraries do.
#include "backends/gpu/runtime/steps.h"
#include "ir/eval/collective.h"
#include "llvm/ADT/DenseSet.h"

namespace hlo::gpu {
namespace {

/// Why the arrays of a step are not such that a library can take them.
const char* WhyNot(const Step& step) {
  if (!step.call.copies.empty()) return "it writes over an operand";
  for (const Leaf& result : step.result.leaves) {
    if (result.slice.sizes >= 0) return "its size is not known";
    for (const Value& operand : step.operands)
      for (const Leaf& leaf : operand.leaves) {
        if (leaf.slice.sizes >= 0) return "sizes of an operand are not known";
        if (leaf.slice.Overlaps(result.slice)) return "it writes over an operand";
      }
  }
  return nullptr;
}

/// What the first library that can do the step is told, or why one that knows of it cannot.
LibraryStep LibraryStepOf(const Step& step) {
  LibraryStep found;
  for (const LibraryInfo& library : Libraries()) {
    if (!library.concerns(*step.instruction)) continue;
    auto work = library.describe(*step.instruction);
    if (const char* const why = work ? WhyNot(step) : nullptr) return {&library, nullptr, why};
    if (work) return {&library, std::move(*work), ""};
    if (found.library == nullptr) found = {&library, nullptr, std::move(work).error().message};
  }
  return found;
}

/// A number for each array of a step.
LibraryArrays ForEachArray(const Step& step, llvm::function_ref<uint64_t(const Slice&)> number) {
  LibraryArrays numbers;
  for (const Value& operand : step.operands)
    for (const Leaf& leaf : operand.leaves) numbers.operands.push_back(number(leaf.slice));
  for (const Leaf& leaf : step.result.leaves) numbers.results.push_back(number(leaf.slice));
  return numbers;
}

/// Of the addresses of arrays in all runs: buffers begin at multiples of the most.
LibraryArrays Alignments(const Step& step) {
  return ForEachArray(step, [](const Slice& slice) {
    const uint64_t all = static_cast<uint64_t>(kDeviceAlignment) | static_cast<uint64_t>(slice.offset);
    return all & (~all + 1);
  });
}

/// Meets the other members of a collective: the last one that comes asks for what all of them do.
Status Meet(Frame& frame, const Instruction& inst, const MemberNumbers& mine,
            llvm::function_ref<Status(llvm::ArrayRef<MemberNumbers>)> ask) {
  using Values = DeviceGroup::Values;
  Device& device = frame.context().device();
  HLO_TRY(const std::vector<int64_t> members, CollectiveMembers(inst, device));
  if (members.empty()) return Decline({}, "it takes no part");
  const auto combine = [&](std::vector<Values>& brought,
                           llvm::ArrayRef<size_t> to) -> Result<std::vector<Values>> {
    std::vector<MemberNumbers> all;
    llvm::SmallDenseSet<uint64_t> gpus;
    for (const Values& values : brought)
      if (!values.empty()) {
        const auto numbers = values.front().Data<uint64_t>();
        if (numbers[1] == 0) continue;  // of one that is absent: zeros, and no stream
        all.emplace_back(numbers.begin(), numbers.end());
        gpus.insert(all.back().front());
      }
    // Others may be absent, in other processes, or on the same GPU.
    const bool apart = gpus.size() == brought.size() && device.group().network() == nullptr;
    Status asked = apart ? ask(all) : Decline({}, "");
    if (!asked && !IsDeclined(asked.error())) return Error(std::move(asked).error());
    return std::vector<Values>(to.size(), {Literal::Scalar(ElementType::Pred, asked.has_value())});
  };
  const auto count = static_cast<int64_t>(mine.size());
  Literal numbers = Literal::Make(Shape::ArrayWithDefaultLayout(ElementType::U64, {count}));
  llvm::copy(mine, numbers.MutableSpan<uint64_t>().begin());
  HLO_TRY(const Values done, device.group().Exchange(device, inst, members, {std::move(numbers)}, combine));
  // The one that asked did so for several GPUs.
  HLO_CHECK_OK(frame.stream().gpu().MakeCurrent());
  if (done.front().Bits(0) == 0) return Decline({}, "the library does not do it");
  return {};
}

class LibraryRunner final : public StepRunner {
 public:
  LibraryRunner(const Step& step, std::unique_ptr<StepRunner> otherwise, LibraryStep library)
      : step_(step), otherwise_(std::move(otherwise)), library_(std::move(library)) {}

  Status Run(Frame& frame) const override {
    const LibraryPlan* const plan = frame.PlanOf(step_);
    if (plan == nullptr || (plan->meets_others() && frame.stream().gpu().count() == 1))
      return otherwise_->Run(frame);
    frame.Observe(*step_.instruction);
    Stream& stream = frame.stream();
    // Says so if it is lost.
    HLO_CHECK_OK(stream.gpu().MakeCurrent());
    for (const Leaf& leaf : step_.result.leaves)
      if (leaf.slice.buffer >= 0)
        stream.gpu().Forget(stream.handle(), frame.At(leaf.slice), static_cast<size_t>(leaf.slice.size));
    const auto copy = [&](uint64_t to, uint64_t from, size_t bytes) { return stream.Copy(to, from, bytes); };
    const auto upload = [&](uint64_t to, const void* from, size_t bytes) {
      return stream.ToDevice(to, from, bytes);
    };
    const auto meet = [&](const MemberNumbers& mine,
                          llvm::function_ref<Status(llvm::ArrayRef<MemberNumbers>)> ask) {
      return Meet(frame, *step_.instruction, mine, ask);
    };
    Status done = plan->Run({ForEachArray(step_, [&](const Slice& slice) { return frame.At(slice); }),
                             frame.Workspace(), stream.handle(), copy, upload, stream.gpu().ordinal(), meet});
    if (!done && IsDeclined(done.error())) return otherwise_->Run(frame);
    frame.DoneBy(library_.library->name);
    return done;
  }
  [[nodiscard]] std::string Explain() const override { return otherwise_->Explain(); }
  [[nodiscard]] bool MayBeRecorded() const override { return otherwise_->MayBeRecorded(); }
  [[nodiscard]] const LibraryStep* library_step() const override { return &library_; }

 private:
  const Step& step_;
  std::unique_ptr<StepRunner> otherwise_;
  LibraryStep library_;
};

/// The libraries that plans need on a GPU, opened when the first one does.
class Opened {
 public:
  Opened(const LibraryOptions& options, const LentDriver* lent, llvm::function_ref<void(Diagnostic)> report)
      : options_(options), lent_(lent), report_(report) {}
  /// Null: there is none, and nobody asked for it by name.
  Result<LibraryPtr> Find(const LibraryInfo& library) {
    if (const auto it = opened_.find(&library); it != opened_.end()) return it->second;
    Result<LibraryPtr> opened = library.open(options_, lent_);
    if (!opened) {
      HLO_CHECK_OK(Excuse(library, std::move(opened).error()));
      opened = LibraryPtr();
    }
    return opened_[&library] = *opened;
  }
  /// What went wrong is an error where libraries are named, and else a remark, the first of each library.
  Status Excuse(const LibraryInfo& library, Diagnostic error) {
    if (options_.use == LibraryOptions::Use::Named) {
      if (IsDeclined(error)) error.id = "unavailable-library";
      return Error(std::move(error));
    }
    if (!IsDeclined(error)) Tell(library, std::move(error));
    return {};
  }
  /// A library that is there has no way for a step that it was expected to do. Whoever names libraries sees
  /// in profiles which one did what.
  void NoWay(const LibraryInfo& library, Diagnostic error) {
    if (options_.use == LibraryOptions::Use::Named) return;
    error.id = "unavailable-library";
    Tell(library, std::move(error));
  }

 private:
  void Tell(const LibraryInfo& library, Diagnostic error) {
    if (!told_.insert(&library).second) return;
    error.severity = Severity::Remark;
    error.Note(("kernels of our own do what " + library.name + " would").str());
    report_(std::move(error));
  }

  const LibraryOptions& options_;
  const LentDriver* lent_;
  llvm::function_ref<void(Diagnostic)> report_;
  llvm::DenseMap<const LibraryInfo*, LibraryPtr> opened_;
  llvm::SmallDenseSet<const LibraryInfo*> told_;
};

}  // namespace

std::unique_ptr<StepRunner> LoadLibrary(const Step& step, std::unique_ptr<StepRunner> otherwise) {
  LibraryStep library = LibraryStepOf(step);
  if (library.library == nullptr) return otherwise;
  return std::make_unique<LibraryRunner>(step, std::move(otherwise), std::move(library));
}

Result<LibraryPlans> PlanLibraries(const Program& program, const LibraryOptions& options,
                                   const LentDriver* lent, llvm::function_ref<void(Diagnostic)> report) {
  LibraryPlans plans;
  if (!UsesLibraries(options, /*emulated=*/lent != nullptr)) return plans;
  Opened opened(options, lent, report);
  std::vector<const Sequence*> work = {&program.entry};
  while (!work.empty()) {
    const Sequence& sequence = *work.back();
    work.pop_back();
    for (const std::unique_ptr<Step>& step : sequence) {
      for (const Sequence& part : step->parts) work.push_back(&part);
      const LibraryStep* const wanted = RunnerOf(*step).library_step();
      if (wanted == nullptr || wanted->work == nullptr) continue;
      HLO_TRY(LibraryPtr library, opened.Find(*wanted->library));
      if (library == nullptr) continue;
      auto plan = wanted->work->Plan(std::move(library), Alignments(*step));
      if (plan)
        plans[step.get()] = std::move(*plan);
      else if (IsDeclined(plan.error()))
        opened.NoWay(*wanted->library, std::move(plan).error());
      else
        HLO_CHECK_OK(opened.Excuse(*wanted->library, std::move(plan).error()));
    }
  }
  return plans;
}

}  // namespace hlo::gpu
