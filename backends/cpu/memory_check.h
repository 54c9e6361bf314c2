// Finds steps that write where they must not, or use what nobody has written (tools.md §3.7, --check-memory).
#pragma once
#include <map>

#include "backends/cpu/program.h"
#include "passes/analysis/buffer_assignment.h"

namespace hlo::cpu {

/// What the steps of one device came to in the first of several runs.
struct StepLog {
  std::vector<uint64_t> hashes;               // of results, by number of the step
  size_t suspect = SIZE_MAX;                  // the first step with other results in the second run
  std::vector<std::vector<uint8_t>> results;  // of it, by leaf
};

/// Watches one run on one device. All buffers lie between red zones, temporaries within their heap too; red
/// zones and everything unwritten hold the same byte, another one in another run. After each step it looks at
/// the red zones, and compares results between runs. It does not see: writes that jump over the red zones, or
/// that put back what was there; reads that do not change a result; scratch memory that libraries keep
/// between calls.
class MemoryCheck final : public InstructionListener {
 public:
  static constexpr int64_t kRedZone = 64;
  /// Record: hashes go to the log. Thorough: the same, and what must not be written is compared after each
  /// step. Compare: results are held against the log. Explain: the suspect's results are held against its
  /// results in the log, element by element.
  enum class Mode : uint8_t { Record, Thorough, Compare, Explain };
  static uint8_t Filling(Mode mode) { return mode == Mode::Compare ? 0x00 : UINT8_MAX; }

  /// `assignment` is the program's, with kRedZone between temporaries.
  MemoryCheck(const Program& program, const BufferAssignment& assignment, Mode mode, StepLog& log);
  /// Memory for a buffer; a copy of `value` if that is an array.
  uint8_t* Place(size_t buffer, const Literal& value);
  bool Begin(const Instruction& inst) override;
  /// Errors memory-overrun, memory-unwritten, memory-changed.
  Status End(const Instruction& inst) override;
  /// Once all steps are done. Error memory-changed.
  Status Finish();

 private:
  /// Red zones around a place that holds, or held last, what `instruction` computed.
  struct Guard {
    const uint8_t* end;
    const Instruction* instruction;
    const char* kind;
  };
  struct Output {
    uint8_t* data;
    Shape shape;
    int64_t bytes;
    int64_t room;  // bytes up to the red zone
    bool temporary;
    bool in_place;  // lies on an operand
  };
  void SetGuard(uint8_t* begin, int64_t size, const Instruction& inst, const char* kind);
  Status CheckZones(const Instruction& inst) const;
  Status CheckReadOnly(const Instruction* inst) const;
  Status CheckResults(const Instruction& inst, llvm::ArrayRef<Output> outputs);
  Status ExplainResults(const Instruction& inst, llvm::ArrayRef<Output> outputs) const;
  /// What is compared of a step's results. Large arrays that loops update in place are looked at less and
  /// less often: all of one at each step would make loops quadratic.
  std::vector<Output> ComparedOutputs(const Instruction& inst);
  /// The arrays that a step writes.
  const std::vector<Output>& OutputsOf(const Instruction& inst);
  [[nodiscard]] bool LiesOnOperand(const Instruction& inst, const BufferSlice& slice) const;

  const Program& program_;
  const BufferAssignment& assignment_;
  Mode mode_;
  uint8_t filling_;
  StepLog& log_;
  size_t step_ = 0;
  llvm::DenseMap<const Instruction*, std::vector<Output>> outputs_;
  llvm::DenseMap<const Instruction*, uint64_t> updates_;  // in place, of large arrays
  std::vector<std::shared_ptr<void>> memory_;             // by buffer
  std::vector<uint8_t*> bases_;
  std::vector<Literal> read_only_;          // by buffer: what it must still hold at the end
  std::map<const uint8_t*, Guard> guards_;  // by their beginning; none overlap
};

}  // namespace hlo::cpu
