// A program: computations, entry, configuration.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ir/computation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Allocator.h"

namespace hlo {

/// `{out}: (param, {index}, kind)` of input_output_alias.
struct InputOutputAlias {
  ShapeIndex output;
  int64_t parameter = 0;
  ShapeIndex parameter_index;
  bool must_alias = false;
  bool operator==(const InputOutputAlias&) const = default;
};
struct BufferDonor {
  int64_t parameter = 0;
  ShapeIndex index;
  bool operator==(const BufferDonor&) const = default;
};
/// `entry_computation_layout={(shape, …)->shape}`.
struct EntryLayout {
  std::vector<Shape> parameters;
  Shape result;
};
/// One entry of origin_recovery_table: `{old} : {new}[, "module"]`.
struct OriginRecovery {
  llvm::StringRef old_name, new_name;
  ShapeIndex old_index, new_index;
  std::shared_ptr<Module> recovery;  // may be null
};
struct DebugAttribute {
  llvm::StringRef name;
  struct Item {
    bool fusion_debugger = false;   // log_mode
    bool default_log_mode = false;  // log_mode=default is written
    int64_t callback_id = 0, op_id = 0;
    bool partitioned = false;
  };
  std::vector<Item> items;
};

/// File, function, location and frame tables of the header; ids are 1-based, 0 = none.
struct StackTables {
  struct Location {
    int32_t file = 0, function = 0, line = 0, end_line = 0, column = 0, end_column = 0;
  };
  struct Frame {
    int32_t location = 0, parent = 0;
  };  // parent 0 = none
  std::vector<llvm::StringRef> files, functions;
  std::vector<Location> locations;
  std::vector<Frame> frames;
  [[nodiscard]] bool empty() const {
    return frames.empty() && files.empty() && functions.empty() && locations.empty();
  }
};

struct ModuleConfig {
  bool is_scheduled = false;
  std::vector<InputOutputAlias> input_output_alias;  // sorted by output index (pre-order)
  std::vector<BufferDonor> buffer_donors;            // sorted
  bool alias_passthrough_params = false;
  std::optional<EntryLayout> entry_layout;  // set by the parser always
  llvm::SmallVector<bool, 2> spmd_propagation_to_parameters = {false};
  llvm::SmallVector<bool, 2> spmd_propagation_to_output = {false};
  int64_t replica_count = 1;
  int64_t num_partitions = 1;
  std::vector<FrontendAttribute> frontend_attributes;
  std::vector<OriginRecovery> origin_recovery_table;
  std::vector<DebugAttribute> debug_attributes;
  std::string unknown_attributes;  // verbatim `, name=value` text of attributes this version does not know
};

/// Owns its computations, the strings they use, and shares the source text.
class Module {
 public:
  explicit Module(llvm::StringRef name);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  [[nodiscard]] llvm::StringRef name() const { return name_; }
  void set_name(llvm::StringRef name) { name_ = Save(name); }
  ModuleConfig config;
  StackTables stack_tables;

  /// In order of completion in the text (hlo-text §7.1), callees normally before callers.
  [[nodiscard]] llvm::ArrayRef<std::unique_ptr<Computation>> computations() const { return computations_; }
  [[nodiscard]] Computation* entry() const { return entry_; }
  void set_entry(Computation* entry) { entry_ = entry; }
  /// Appends an empty computation; the name is made unique and saved by the caller if need be.
  Computation* AddComputation(llvm::StringRef name);
  /// Makes a computation the last one.
  void MoveToEnd(Computation* computation);
  /// Deletes computations that only each other call; the entry is none of them.
  void RemoveComputations(llvm::ArrayRef<Computation*> dead);
  /// Deletes the computation made last, which nobody calls.
  void RemoveLastComputation();
  /// Computations in XLA's printing order (errata-text A1).
  [[nodiscard]] std::vector<Computation*> PrintOrder() const;
  /// Callees before callers, each once.
  [[nodiscard]] std::vector<Computation*> PostOrder() const;
  [[nodiscard]] Computation* FindComputation(llvm::StringRef name) const;
  [[nodiscard]] int64_t InstructionCount() const;
  /// Instructions of one opcode in all computations, known without a walk.
  [[nodiscard]] int64_t CountOf(OpKind kind) const { return kind_counts_[static_cast<size_t>(kind)]; }

  /// Copies a string (metadata) into the module's arena.
  llvm::StringRef Save(llvm::StringRef text);
  const OpMetadata* Save(const OpMetadata& metadata);
  /// Keeps `source` alive as long as the module; strings into it need not be saved.
  void KeepSource(SourcePtr source);
  [[nodiscard]] llvm::ArrayRef<SourcePtr> sources() const { return sources_; }

  /// Names nobody has yet (hlo-text §7.2). A name that can stay is returned as it came, so `wanted`
  /// must be arena- or source-owned.
  llvm::StringRef UniqueInstructionName(llvm::StringRef wanted);
  llvm::StringRef UniqueComputationName(llvm::StringRef wanted);

  /// Marks the instructions made from now on (Instruction::stamp()); not copied by Clone().
  [[nodiscard]] uint16_t stamp() const { return stamp_; }
  void set_stamp(uint16_t stamp) { stamp_ = stamp; }

  /// Deep copy sharing only immutable data and sources.
  [[nodiscard]] std::unique_ptr<Module> Clone() const;

 private:
  friend class Computation;
  class NameTable;
  /// Room for one instruction of that opcode.
  void* InstructionMemory(OpKind kind);
  /// Destroys an instruction and keeps its room for another.
  void Delete(Instruction* instruction);
  llvm::StringRef name_;
  llvm::BumpPtrAllocator arena_;
  llvm::BumpPtrAllocatorImpl<llvm::MallocAllocator, 16384> instruction_arena_;
  std::vector<void*> free_instructions_;  // room in it for reuse
  std::vector<int64_t> kind_counts_;      // by opcode
  std::vector<SourcePtr> sources_;
  std::vector<std::unique_ptr<Computation>> computations_;
  Computation* entry_ = nullptr;
  uint16_t stamp_ = 0;
  std::unique_ptr<NameTable> instruction_names_, computation_names_;
};

/// Copies the instructions of `from` into the empty computation `to` of the same or another module.
/// `map_callee` gives the computation to call instead; names are copied as they are.
void CloneInto(const Computation& from, Computation& to,
               llvm::function_ref<Computation*(Computation*)> map_callee);
/// Copies one instruction with new operands and callees; metadata and extras (less control edges) too.
Instruction* CloneInstruction(const Instruction& from, Computation& to, llvm::ArrayRef<Instruction*> operands,
                              llvm::ArrayRef<Computation*> callees, llvm::StringRef name);

/// Hash of the module that renaming and reordering do not change (ops with equal meaning in equal
/// places hash equal). Metadata is ignored.
uint64_t Fingerprint(const Module& module);
uint64_t Fingerprint(const Computation& computation);
/// Fingerprints of many computations that call each other, each computed once. Who changes a computation
/// meanwhile must keep what it computes.
class Fingerprints {
 public:
  Fingerprints();
  ~Fingerprints();
  Fingerprints(const Fingerprints&) = delete;
  Fingerprints& operator=(const Fingerprints&) = delete;
  uint64_t Of(const Computation& computation);
  /// As InstructionFingerprints.
  static llvm::DenseMap<const Instruction*, uint64_t> OfInstructions(const Computation& computation);

 private:
  class Hasher;
  std::unique_ptr<Hasher> hasher_;
};
/// Hash of what each instruction of the computation computes; equal values hash equal.
llvm::DenseMap<const Instruction*, uint64_t> InstructionFingerprints(const Computation& computation);

}  // namespace hlo
