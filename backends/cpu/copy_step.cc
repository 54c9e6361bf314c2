#include "backends/cpu/copy_step.h"

#include <cstring>

#include "backends/cpu/routine_step.h"
#include "ir/support/parallel.h"

namespace hlo::cpu {
namespace {

constexpr int64_t kPieceBytes = 1 << 20;

class CopyRunner final : public StepRunner {
 public:
  CopyRunner(const Step& step, Program& program)
      : inst_(*step.instruction),
        from_(step.operands[0].leaves[0].slice),
        to_(step.result.leaves[0].slice),
        pointers_(program.AddPointers({from_, to_})),
        size_(to_.size) {}

  Status Run(Frame& frame) const override {
    frame.Observe(inst_);
    const auto* from = static_cast<const uint8_t*>(frame.Pointers(pointers_)[0]);
    auto* to = static_cast<uint8_t*>(frame.Pointers(pointers_)[1]);
    if (from == to || size_ == 0) return {};  // arrays without elements may have no place
    if (size_ <= kPieceBytes) {
      std::memmove(to, from, static_cast<size_t>(size_));
      return {};
    }
    ParallelFor(0, size_, kPieceBytes, [&](int64_t begin, int64_t end) {
      std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
    });
    return {};
  }
  [[nodiscard]] std::string Explain() const override { return "copy"; }
  bool AddTo(RoutineBuilder& routine) const override { return routine.Copy(from_, to_); }

 private:
  const Instruction& inst_;
  Slice from_, to_;
  size_t pointers_;  // source, target
  int64_t size_;
};

}  // namespace

bool IsCopy(const Step& step) {
  // Reshapes are those of results that custom calls lay out: row by row all the same.
  const OpKind kind = step.instruction->kind();
  return (kind == OpKind::Copy || kind == OpKind::Reshape) && step.result.shape.IsArray() &&
         step.operands[0].leaves[0].slice.sizes < 0 && step.result.leaves[0].slice.sizes < 0;
}

std::unique_ptr<StepRunner> LoadCopy(const Step& step, Program& program) {
  return std::make_unique<CopyRunner>(step, program);
}

}  // namespace hlo::cpu
