// Parts of the printer that its files share. Not for use elsewhere.
#pragma once
#include "ir/print.h"
#include "llvm/ADT/DenseMap.h"

namespace hlo::print_internal {

/// `value` as C's `%.Ng`.
void PrintGeneral(llvm::raw_ostream& os, double value, int digits);
/// `{1,2}`.
void PrintDims(llvm::raw_ostream& os, llvm::ArrayRef<int64_t> dims);
/// `{true,false}`.
void PrintBools(llvm::raw_ostream& os, llvm::ArrayRef<bool> values);
void PrintIndex(llvm::raw_ostream& os, const ShapeIndex& index);

/// The name of an instruction or computation where it is mentioned: `%` and id as the options say.
void PrintName(llvm::raw_ostream& os, llvm::StringRef name, const PrintOptions& options);

void PrintFrontendAttributes(llvm::raw_ostream& os, llvm::ArrayRef<FrontendAttribute> attributes);
/// The braces and fields of `metadata={…}`. `tables` is for inline stack frames, else null.
void PrintMetadata(llvm::raw_ostream& os, const OpMetadata& metadata, const PrintOptions& options,
                   const StackTables* tables);
/// Whether `metadata=` is printed at all.
bool HasPrintedMetadata(const OpMetadata& metadata);
/// `{"name" {1,0}}`.
void PrintOriginLeaf(llvm::raw_ostream& os, llvm::StringRef name, const ShapeIndex& index);
void PrintMesh(llvm::raw_ostream& os, const Mesh& mesh);

/// Whether a field of the attribute struct is printed with these options (callee fields aside).
bool IsFieldShown(const Instruction& instruction, const FieldInfo& field, const PrintOptions& options);

/// Whether ops wrapping `computation` print as `X-start`, `X-update`, `X-done`: it holds nothing but its
/// parameters and its root, whatever that is (errata-2 1). Other orders and uses of the parameters are lost.
bool HasAsyncSugar(const Computation& computation);

/// Prints modules, computations and instructions; holds the state of nested bodies.
class TextPrinter {
 public:
  TextPrinter(llvm::raw_ostream& os, const PrintOptions& options)
      : os_(os), options_(options), indent_(options.indent) {}

  void PrintModule(const Module& module);
  void PrintComputation(const Computation& computation);
  /// `name = shape opcode(operands), attributes`, without indentation, `ROOT` and line end.
  void PrintInstruction(const Instruction& instruction);

 private:
  /// The computation that an async op runs if it is printed as the op's name says; else null.
  const Computation* Sugared(const Instruction& instruction);
  void PrintModuleAttributes(const Module& module);
  void PrintHeader(const Computation& computation);
  void PrintInstructionList(const Computation& computation);
  void PrintOperands(const Instruction& instruction);
  void PrintOperand(const Instruction& operand);
  /// `%source#0#1` for omitted get-tuple-elements, the name of a value otherwise.
  void PrintValue(const Instruction& value);
  [[nodiscard]] bool IsOmitted(const Instruction& instruction) const;
  void PrintConstant(const Instruction& instruction);
  void PrintOpAttributes(const Instruction& instruction, const Computation* sugared);
  void PrintCallee(const Instruction& instruction, const FieldInfo& field, bool sugared);
  /// What a sugared async-start prints of the root that it wraps (errata-2 3).
  void PrintWrapped(const Instruction& start, const Instruction& root);
  void PrintFrame(const Instruction& instruction);
  /// The part of the frame up to `result_accuracy`.
  void PrintFirstOfFrame(const Instruction& instruction, bool frontend_attributes);
  void PrintControlPredecessors(llvm::ArrayRef<Instruction*> predecessors);
  void Spaces(int levels) { os_.indent(static_cast<unsigned>(2 * std::max(levels, 0))); }

  llvm::raw_ostream& os_;
  const PrintOptions& options_;
  int indent_;
  bool nested_ = false;  // inside the inline body of an instruction
  bool in_computation_ = false;
  llvm::DenseMap<const Instruction*, const Computation*> sugared_;  // of updates: their chains may be long
  llvm::DenseMap<const Instruction*, unsigned> canonical_ids_;      // of the computation being printed
};

}  // namespace hlo::print_internal
