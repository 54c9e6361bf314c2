// One operation of a computation.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/attrs.h"
#include "ir/metadata.h"
#include "ir/op.h"
#include "ir/shape.h"
#include "ir/support/source.h"
#include "llvm/ADT/DenseMap.h"

namespace hlo {

class Computation;
class Instruction;
class Module;

/// The instructions that use a value: each once, in order of first use (removal moves the last one
/// into the gap). Removal is O(1) however many users there are.
class UserList {
 public:
  [[nodiscard]] llvm::ArrayRef<Instruction*> list() const { return users_; }
  void Add(Instruction* user);  // no effect if present
  /// As Add, for a user whose operands are just being set: it can only be the last one.
  void AddFresh(Instruction* user) {
    if (users_.empty() || users_.back() != user) Append(user);
  }
  void Remove(Instruction* user);  // no effect if absent
  [[nodiscard]] bool Contains(const Instruction* user) const;

 private:
  void Append(Instruction* user) {
    if (position_) (*position_)[user] = static_cast<unsigned>(users_.size());
    users_.push_back(user);
  }
  /// Makes the map of positions if the list is long enough for one.
  void Index() const;
  static constexpr size_t kIndexed = 16;  // from here on a map finds positions, made when first asked for one
  llvm::SmallVector<Instruction*, 2> users_;
  mutable std::unique_ptr<llvm::DenseMap<const Instruction*, unsigned>> position_;
};

/// Rarely used parts of an instruction, allocated when one of them is set.
struct InstructionExtras {
  ShardingPtr sharding;
  std::vector<FrontendAttribute> frontend_attributes;  // sorted by key
  std::vector<Instruction*> control_predecessors, control_successors;
  std::optional<Statistics> statistics;
  ResultAccuracy result_accuracy;
  std::shared_ptr<const Origin> origin;
  llvm::StringRef backend_config;      // raw text: JSON dict or unescaped string
  llvm::StringRef unknown_attributes;  // verbatim `, name=value` text kept by --unknown-attributes=keep
};

/// An instruction is made by its computation (Computation::Add) and owned by it. It holds facts and
/// edges; rules about opcodes live elsewhere. Strings live as long as the module.
class Instruction {
 public:
  Instruction(const Instruction&) = delete;
  Instruction& operator=(const Instruction&) = delete;
  ~Instruction();

  [[nodiscard]] OpKind kind() const { return kind_; }
  [[nodiscard]] const OpInfo& info() const { return Info(kind_); }
  [[nodiscard]] llvm::StringRef name() const { return name_; }
  void set_name(llvm::StringRef name) { name_ = name; }  // must be arena- or source-owned
  [[nodiscard]] const Shape& shape() const { return shape_; }
  void set_shape(Shape shape) { shape_ = std::move(shape); }
  [[nodiscard]] Computation* parent() const { return parent_; }
  [[nodiscard]] Module* module() const;

  [[nodiscard]] llvm::ArrayRef<Instruction*> operands() const { return operands_; }
  [[nodiscard]] Instruction* operand(int64_t i) const { return operands_[static_cast<size_t>(i)]; }
  [[nodiscard]] int64_t operand_count() const { return static_cast<int64_t>(operands_.size()); }
  void SetOperand(int64_t i, Instruction* value);
  void SetOperands(llvm::ArrayRef<Instruction*> values);
  /// Every operand that is `old` becomes `by`.
  void ReplaceOperand(Instruction* old, Instruction* by);
  [[nodiscard]] llvm::ArrayRef<Instruction*> users() const { return users_.list(); }
  /// Every use of this value becomes a use of `other`; the root too.
  void ReplaceAllUsesWith(Instruction* other);

  /// Called computations in XLA's callee order: while = body, condition; select-and-scatter =
  /// select, scatter; conditional = branches.
  [[nodiscard]] llvm::ArrayRef<Computation*> callees() const { return callees_; }
  [[nodiscard]] Computation* callee(int64_t i = 0) const { return callees_[static_cast<size_t>(i)]; }
  void SetCallees(llvm::ArrayRef<Computation*> callees);

  [[nodiscard]] const Attrs& attrs() const { return attrs_; }
  template <class T>
  [[nodiscard]] const T& attr() const {
    return attrs_.Get<T>();
  }
  Attrs& mutable_attrs();

  /// Null if there is none; arena-owned, shared freely between instructions of a module.
  [[nodiscard]] const OpMetadata* metadata() const { return metadata_; }
  void set_metadata(const OpMetadata* metadata) { metadata_ = metadata; }
  [[nodiscard]] const InstructionExtras& extras() const { return extras_ ? *extras_ : kNoExtras; }
  [[nodiscard]] bool has_extras() const { return extras_ != nullptr; }
  InstructionExtras& MutableExtras();
  void AddControlPredecessor(Instruction* before);
  void DropControlEdges();

  [[nodiscard]] bool IsRoot() const;
  /// Position of the name in the source text; `end` is the end of the name. Parts of the
  /// instruction (shape, operands, attributes) are found by parser-free re-scanning, see ir/locate.h.
  [[nodiscard]] Loc loc() const { return loc_; }
  void set_loc(Loc loc) { loc_ = loc; }
  /// The module's stamp (Module::set_stamp) when this was made: which step of a pipeline did it; 0: the text.
  [[nodiscard]] uint16_t stamp() const { return stamp_; }
  /// Dense number within the computation for side tables; see Computation::NumberInstructions().
  [[nodiscard]] int32_t number() const { return number_; }

  /// Neighbours in list order (text order).
  [[nodiscard]] Instruction* next() const { return next_; }
  [[nodiscard]] Instruction* prev() const { return prev_; }

 private:
  friend class Computation;
  explicit Instruction(OpKind kind) : kind_(kind) {}
  /// Where each operand stands, for instructions with many of them.
  using OperandPlaces = llvm::DenseMap<const Instruction*, llvm::SmallVector<uint32_t, 1>>;
  static constexpr size_t kManyOperands = 32;
  /// Null for few operands; made when first asked for.
  OperandPlaces* Places();
  static const InstructionExtras kNoExtras;

  // What walks over a computation read comes first, in one cache line.
  OpKind kind_;
  uint16_t stamp_ = 0;
  int32_t number_ = -1;
  Instruction* next_ = nullptr;
  Shape shape_;
  llvm::SmallVector<Instruction*, 2> operands_;
  std::unique_ptr<InstructionExtras> extras_;
  UserList users_;
  llvm::SmallVector<Computation*, 1> callees_;
  Attrs attrs_;
  llvm::StringRef name_;
  Computation* parent_ = nullptr;
  Instruction* prev_ = nullptr;
  const OpMetadata* metadata_ = nullptr;
  Loc loc_;
  std::unique_ptr<OperandPlaces> places_;
};

}  // namespace hlo
