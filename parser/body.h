// Parsing of computation bodies: the scope of one computation and the drafts of its instructions.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "ir/module.h"
#include "ir/support/name_map.h"
#include "llvm/ADT/DenseSet.h"
#include "parser/cursor.h"

namespace hlo {

/// A computation by its name in the text.
struct NamedComputation {
  Computation* computation = nullptr;
  Loc loc;
};

/// An instruction by its name in the text.
struct NamedInstruction {
  Instruction* instruction = nullptr;  // null: failed, or still being read
  uint32_t begin = 0;                  // of the name where it is defined
  bool defined = false;                // false: only used so far
  bool complete = false;
};

/// What all bodies of one text share.
struct ModuleScope {
  explicit ModuleScope(Cursor& c) : cursor(c), module(*c.module()) {}
  Cursor& cursor;
  Module& module;
  NameMap<NamedComputation> computations;
  llvm::SmallVector<NameMap<NamedInstruction>, 1> idle_names;     // empty tables of the bodies read so far
  llvm::DenseSet<const Computation*> broken;                      // computations with errors
  llvm::DenseSet<const Computation*> made_by_start;               // for words like `add-start`
  std::array<int64_t, 256> anonymous{};                           // nested operands seen per opcode
  llvm::DenseMap<const Computation*, Instruction*> async_starts;  // computation -> the start that wraps it
  llvm::SmallVector<const Instruction*, 0> starts_in_order;
  llvm::DenseMap<const Instruction*, const Instruction*> starts_of_updates;
  /// Reads the computation of this name if it stands further down in the text; null: there is no further.
  std::function<void(llvm::StringRef name)> read_ahead;

  /// Adds a computation named so (sanitised) to the module; its final name comes with Complete().
  Computation* Begin(llvm::StringRef name, Loc loc);
  /// Moves the computation behind those completed before, and makes its names unique.
  void Complete(Computation& computation);
  void MakeInstructionNamesUnique(Computation& computation);
};

/// An instruction while it is read.
struct Draft {
  OpKind kind = OpKind::Parameter;
  Token opcode;
  uint32_t begin = 0;  // of the right-hand side
  Shape shape;         // null: not written
  Loc shape_loc;
  llvm::SmallVector<Instruction*, 4> operands;
  llvm::SmallVector<Loc, 4> operand_locs;
  Attrs attrs;
  llvm::SmallVector<Computation*, 2> callees;
  uint32_t seen = 0;          // bit per field of the attribute table
  uint32_t generic_seen = 0;  // bit per generic attribute
  uint32_t extra_seen = 0;    // bit per lenient attribute
  const OpMetadata* metadata = nullptr;
  std::unique_ptr<InstructionExtras> extras;
  bool incomplete = false;        // depends on something that was reported already
  std::optional<OpKind> wrapped;  // async sugar: the opcode before -start, -update or -done

  /// What few instructions have.
  struct RareParts {
    llvm::SmallVector<Instruction*, 2> control_predecessors;
    std::string unknown_attributes;
    // Async sugar.
    Attrs wrapped_attrs;  // of the wrapped opcode
    llvm::SmallVector<Computation*, 2> wrapped_callees;
    llvm::StringRef async_thread;  // async_execution_thread, if written
    uint32_t wrapped_seen = 0;
  };
  std::unique_ptr<RareParts> rare;  // null: none of them

  InstructionExtras& Extras() {
    if (!extras) extras = std::make_unique<InstructionExtras>();
    return *extras;
  }
  RareParts& Rare() {
    if (!rare) rare = std::make_unique<RareParts>();
    return *rare;
  }
  [[nodiscard]] bool Seen(llvm::StringRef field) const;
};

/// Reads one body.
class BodyParser {
 public:
  BodyParser(ModuleScope& scope, Computation& computation)
      : scope_(scope), c_(scope.cursor), computation_(computation) {
    if (!scope.idle_names.empty()) names_ = scope.idle_names.pop_back_val();
  }
  ~BodyParser() {
    names_.Clear();
    scope_.idle_names.push_back(std::move(names_));
  }
  BodyParser(const BodyParser&) = delete;
  BodyParser& operator=(const BodyParser&) = delete;

  /// body = '{' instruction {instruction} '}' .
  bool ParseBody();
  /// single = (['ROOT'] name '=' rhs | rhs) Eof .
  bool ParseSingle();

  [[nodiscard]] Cursor& cursor() const { return c_; }
  [[nodiscard]] ModuleScope& scope() const { return scope_; }
  [[nodiscard]] Computation& computation() const { return computation_; }
  /// True once an instruction of the body failed.
  [[nodiscard]] bool has_failed() const { return failed_; }

  /// The instruction named by the current token; null after an error, also if its definition failed
  /// (then `failed` is set and nothing is reported).
  Instruction* ParseReference(bool& failed);
  /// A computation name, or a body that becomes a computation named `_`.
  bool ParseCallee(Computation*& out);

 private:
  // parse_computation.cc
  bool ParseInstructions();
  bool ParseInstruction();
  bool ParseNameOfInstruction(Token& name);
  void Define(llvm::StringRef name, Loc loc, Instruction* instruction) {
    names_.Insert(name) = {instruction, loc.begin, loc.valid(), true};
  }
  [[nodiscard]] Loc PlaceOf(const NamedInstruction& known, llvm::StringRef name) const;
  void DefineFailed(const Token& name, const Draft& draft);
  bool CheckParameters(const Loc& end);

  // parse_instruction.cc
  bool ParseRhs(Draft& draft);
  bool ParseOpcode(Draft& draft);
  bool ParseArguments(Draft& draft);
  bool ParseParameterNumber(Draft& draft);
  bool ParseConstant(Draft& draft);
  bool ParseOperands(Draft& draft);
  bool ParseOperand(Draft& draft);
  bool ParseNestedOperand(Draft& outer, Shape shape, uint32_t begin);
  bool ParseOperandName(Draft& draft, const Shape& shape, uint32_t begin);
  bool OtherShapeDeclared(const Shape& shape, const Instruction& operand, Loc loc);
  Instruction* ParseTuplePath(Instruction* tuple, uint32_t begin);
  Instruction* AddImplicitParameter(llvm::StringRef name, Shape shape, Loc loc);
  bool UndefinedName(const Token& name);
  bool CheckOperandCount(Draft& draft);
  Instruction* Create(Draft& draft, llvm::StringRef name, Loc loc);
  bool InferMissingShape(Instruction& instruction, const Draft& draft);

  ModuleScope& scope_;
  Cursor& c_;
  Computation& computation_;
  NameMap<NamedInstruction> names_;
  Instruction* last_ = nullptr;
  Instruction* root_ = nullptr;
  bool failed_ = false;  // an instruction failed
  bool single_ = false;  // the text is one instruction: unknown operands become parameters
  int64_t implicit_parameters_ = 0;
};

// --- Attributes (parse_attrs.cc) ---
/// Reads {',' attr} of an instruction.
bool ParseAttributes(BodyParser& body, Draft& draft);
/// Reports required attributes that are absent.
bool CheckRequiredAttributes(Cursor& c, const Draft& draft);

// --- Rules of single opcodes (op_rules.cc) ---
/// Checks that XLA's parser makes, and shapes that it replaces, once everything has been read.
bool ApplyOpRules(BodyParser& body, Draft& draft);

// --- Async sugar (parse_async.cc) ---
/// Splits `copy-start` and the like; nothing if `word` is no such opcode.
std::optional<std::pair<OpKind, OpKind>> SplitAsyncOpcode(llvm::StringRef word);
/// Makes the wrapped computation of a sugared async op, and checks async ops against each other.
bool FinishAsync(BodyParser& body, Draft& draft);
/// Notes a finished async-start.
void RegisterAsync(BodyParser& body, Instruction& instruction);
/// Gives the computations that async-starts call their execution threads, once all has been read.
void AssignThreads(ModuleScope& scope);

// --- Recovery (recover.cc) ---
/// After an error in the instruction that starts at `start`: moves to the next instruction or to the
/// brace that closes the body.
void RecoverInstruction(Cursor& c, uint32_t start);
/// After an error in the header of a computation: moves behind its body.
void RecoverComputation(Cursor& c, uint32_t start);
/// True if a computation seems to start here, at the beginning of a line.
bool AtComputationStart(const Cursor& c);

}  // namespace hlo
