#include "backends/cpu/copy_step.h"

#include <cstring>

#include "backends/cpu/routine_step.h"
#include "ir/support/parallel.h"

namespace hlo::cpu {
namespace {

constexpr int64_t kPieceBytes = 1 << 20;

class CopyStep final : public Step {
 public:
  CopyStep(const Instruction& inst, Program& program, const Slice& from, const Slice& to)
      : inst_(inst), from_(from), to_(to), pointers_(program.AddPointers({from, to})), size_(to.size) {}

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
  [[nodiscard]] const Instruction* instruction() const override { return &inst_; }
  [[nodiscard]] std::string Explain() const override { return "copy"; }
  bool AddTo(RoutineBuilder& routine) const override { return routine.Copy(from_, to_); }

 private:
  const Instruction& inst_;
  Slice from_, to_;
  size_t pointers_;  // source, target
  int64_t size_;
};

}  // namespace

std::unique_ptr<Step> MakeCopyStep(const Instruction& inst, Program& program, const Slice& from,
                                   const Slice& to) {
  return std::make_unique<CopyStep>(inst, program, from, to);
}

}  // namespace hlo::cpu
