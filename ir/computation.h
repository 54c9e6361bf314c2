// A function of the module: parameters, instructions, root.
#pragma once
#include <atomic>
#include <vector>

#include "ir/instruction.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hlo {

/// Forward iteration over instructions in list order. The current one may be removed if the next
/// is fetched first (as make_early_inc_range does).
class InstructionIterator {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = Instruction*;
  using difference_type = std::ptrdiff_t;
  using pointer = Instruction**;
  using reference = Instruction*;
  explicit InstructionIterator(Instruction* at) : at_(at) {}
  Instruction* operator*() const { return at_; }
  InstructionIterator& operator++() {
    at_ = at_->next();
    return *this;
  }
  InstructionIterator operator++(int) {
    auto old = *this;
    ++*this;
    return old;
  }
  bool operator==(const InstructionIterator&) const = default;

 private:
  Instruction* at_;
};

class Computation {
 public:
  Computation(const Computation&) = delete;
  Computation& operator=(const Computation&) = delete;
  ~Computation();

  [[nodiscard]] llvm::StringRef name() const { return name_; }
  void set_name(llvm::StringRef name) { name_ = name; }
  [[nodiscard]] Module* module() const { return module_; }
  [[nodiscard]] Loc loc() const { return loc_; }
  void set_loc(Loc loc) { loc_ = loc; }

  [[nodiscard]] llvm::iterator_range<InstructionIterator> instructions() const {
    return {InstructionIterator(first_), InstructionIterator(nullptr)};
  }
  [[nodiscard]] int64_t instruction_count() const { return count_; }
  /// The instructions of one opcode in list order; no walk if the module has none.
  [[nodiscard]] std::vector<Instruction*> InstructionsOf(OpKind kind) const;
  /// Whether any instruction calls computations.
  [[nodiscard]] bool has_calls() const { return calls_ != 0; }
  [[nodiscard]] Instruction* first() const { return first_; }
  [[nodiscard]] Instruction* root() const { return root_; }
  void set_root(Instruction* root) { root_ = root; }
  /// By parameter number; entries may be null while a computation is being built.
  [[nodiscard]] llvm::ArrayRef<Instruction*> parameters() const { return parameters_; }
  [[nodiscard]] Instruction* parameter(int64_t i) const { return parameters_[static_cast<size_t>(i)]; }

  /// Appends an instruction (before `before` if given). Nothing is checked or inferred: see Builder.
  /// A parameter registers itself under its number, which must not be taken and be < 2^20.
  Instruction* Add(OpKind kind, Shape shape, llvm::StringRef name, llvm::ArrayRef<Instruction*> operands,
                   Attrs attrs = {}, llvm::ArrayRef<Computation*> callees = {},
                   Instruction* before = nullptr);
  /// Removes and deletes. It must have no users and not be the root. Parameters keep their numbers:
  /// removing one is only allowed for the last.
  void Remove(Instruction* instruction);
  /// As Remove, for all parameters that `unneeded` names; the others move down. It is asked once of each, in
  /// order, under its old number. Callers are not touched. Takes time linear in the computation.
  void RemoveParameters(llvm::function_ref<bool(const Instruction&)> unneeded);
  /// Numbers instructions 0…count-1 in list order (Instruction::number()).
  void NumberInstructions();
  /// Operands and control predecessors before users, in XLA's printing order (hlo-text §7.1).
  [[nodiscard]] std::vector<Instruction*> PostOrder() const;

  /// Instructions in execution order if the module is scheduled, else empty.
  [[nodiscard]] const std::vector<Instruction*>& schedule() const { return schedule_; }
  void set_schedule(std::vector<Instruction*> order) { schedule_ = std::move(order); }
  [[nodiscard]] bool has_schedule() const { return !schedule_.empty(); }

  /// The instructions that call this computation, in no particular order.
  [[nodiscard]] llvm::ArrayRef<Instruction*> callers() const { return callers_.list(); }
  [[nodiscard]] bool IsFusion() const;  // called by a fusion instruction
  [[nodiscard]] bool IsEntry() const;
  [[nodiscard]] llvm::StringRef execution_thread() const { return execution_thread_; }
  void set_execution_thread(llvm::StringRef thread) { execution_thread_ = thread; }
  /// `(p: f32[2]) -> f32[2]` as shapes.
  [[nodiscard]] std::vector<Shape> ParameterShapes() const;

  /// What an analysis remembers of this computation and all it calls; 0: nothing. Forgotten when calls here
  /// or below change, or instructions that may do more than compute their value. Whoever remembers something
  /// of a computation does so of its callees too.
  [[nodiscard]] uint8_t summary() const { return summary_.load(std::memory_order_relaxed); }
  void set_summary(uint8_t summary) const { summary_.store(summary, std::memory_order_relaxed); }

 private:
  friend class Module;
  friend class Instruction;
  Computation(Module* module, llvm::StringRef name) : module_(module), name_(name) {}
  /// Of this computation and its callers.
  void ForgetSummary();
  /// Unlinks and deletes an instruction that neither parameters() nor schedule() holds any more.
  void Destroy(Instruction* instruction);

  Module* module_;
  llvm::StringRef name_;
  llvm::StringRef execution_thread_ = "main";
  Instruction* first_ = nullptr;
  Instruction* last_ = nullptr;
  Instruction* root_ = nullptr;
  int64_t count_ = 0;
  int64_t calls_ = 0;  // instructions with callees
  std::vector<Instruction*> parameters_;
  std::vector<Instruction*> schedule_;
  UserList callers_;
  Loc loc_;
  mutable std::atomic<uint8_t> summary_{0};  // threads may find the same at the same time
};

}  // namespace hlo
