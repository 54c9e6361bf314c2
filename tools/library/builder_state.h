// What a builder holds, and what enqueueing an operation takes.
#pragma once
#include <memory>
#include <set>
#include <string>

#include "hlo/builder.h"
#include "ir/builder.h"
#include "ir/module.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "tools/library/convert.h"

namespace hlo_toolkit::internal {

/// A name that HLO text reads back: other characters become `_`, and words that mean something there get one
/// more.
std::string CleanName(std::string_view written);

class Emission;
/// Makes the instructions of one call; gives the one that the caller gets.
using EmitFunction = llvm::function_ref<hlo::Result<hlo::Instruction*>(Emission&)>;

/// The module under construction. Its entry is what is built; computations that it uses are copied beside,
/// each once.
class BuilderState {
 public:
  BuilderState(XlaBuilder* builder, std::string_view name) : builder_(builder) { Start(name); }

  static BuilderState& Of(XlaBuilder& builder) { return *builder.state_; }

  /// Keeps the error, if it is the first, with the place in front; ends the program where that was asked for.
  XlaOp Fail(const Status& status, const Location& location);
  [[nodiscard]] const Status& error() const { return error_; }
  void set_die(bool die) { die_ = die; }
  [[nodiscard]] bool die() const { return die_; }

  /// The instruction of a handle; `what` names it in the error that there is none.
  [[nodiscard]] hlo::Result<hlo::Instruction*> Find(XlaOp op, llvm::StringRef what) const;
  /// The computation of the module that is `computation`, copied at the first use.
  hlo::Result<hlo::Computation*> Import(const XlaComputation& computation);
  /// A scalar computation x op y of the type, made at its first use.
  hlo::Result<hlo::Computation*> Reducer(hlo::OpKind kind, hlo::ElementType type);
  /// A computation that was made in the module.
  void Own(hlo::Computation* made) { ids_[made] = NextComputationId(); }
  XlaOp Enqueue(hlo::Instruction* instruction);
  /// Of the call that follows: what it adds is from there.
  void set_place(const Location& place);
  /// Where the call stands that made what the verifier complains about; `otherwise` if that is no call's.
  [[nodiscard]] Location PlaceOf(const hlo::Diagnostic& error, const Location& otherwise) const;
  /// The token of the latest transfer to or from the host; null before the first.
  [[nodiscard]] hlo::Instruction*& host_token() { return host_token_; }
  void SetFrontendAttribute(hlo::Instruction& instruction, const std::string& key, const std::string& value);

  [[nodiscard]] hlo::Module& module() { return *module_; }
  [[nodiscard]] hlo::Computation& computation() { return *computation_; }
  /// What would be returned now; null of a builder where nothing was enqueued.
  [[nodiscard]] hlo::Instruction* root() const { return return_value_ ? return_value_ : last_; }
  void set_return_value(hlo::Instruction* value) { return_value_ = value; }
  // What operations get while it is set.
  void set_metadata(std::optional<OpMetadata> metadata);
  [[nodiscard]] const std::optional<OpMetadata>& metadata() const { return metadata_; }
  void set_one_shot_metadata(OpMetadata metadata) { one_shot_metadata_ = std::move(metadata); }
  hlo::Status SetSharding(const std::optional<OpSharding>& sharding);
  [[nodiscard]] const std::optional<OpSharding>& sharding() const { return sharding_; }
  hlo::Status SetFrontendAttributes(FrontendAttributes attributes);
  [[nodiscard]] const FrontendAttributes& frontend_attributes() const { return frontend_attributes_; }
  /// Gives it to an instruction that was added, and to the result of a call.
  void Decorate(hlo::Instruction& added);
  void DecorateResult(hlo::Instruction& result);

  /// The module as it is, complete; another one begins.
  hlo::Result<XlaComputation> Finish(hlo::Instruction* root);
  /// The module as it is, complete, for readers; null while it has no root or lacks parameters.
  const hlo::Module* Current();

 private:
  void Start(std::string_view name);
  hlo::Status CheckParameters() const;
  void Complete(hlo::Instruction* root);
  const hlo::OpMetadata* SaveMetadata(const OpMetadata& metadata);

  XlaBuilder* builder_;
  std::unique_ptr<hlo::Module> module_;
  hlo::Computation* computation_ = nullptr;
  std::vector<hlo::Instruction*> ops_;  // by the low part of handles
  int64_t generation_ = 0;              // their high part: Build()s so far
  std::set<std::string> files_;         // of places
  Location place_ = Location::At("", 0);
  llvm::DenseMap<const hlo::Instruction*, Location> places_;
  llvm::DenseMap<uint64_t, hlo::Computation*> imported_;
  llvm::DenseMap<const hlo::Computation*, uint64_t> ids_;
  llvm::DenseMap<std::pair<unsigned, unsigned>, hlo::Computation*> reducers_;
  hlo::Instruction* last_ = nullptr;
  hlo::Instruction* return_value_ = nullptr;
  hlo::Instruction* host_token_ = nullptr;
  std::optional<OpMetadata> metadata_, one_shot_metadata_;
  const hlo::OpMetadata* saved_metadata_ = nullptr;  // metadata_ in the module, once it was needed
  std::optional<OpSharding> sharding_;
  hlo::ShardingPtr parsed_sharding_;
  FrontendAttributes frontend_attributes_;
  Status error_;
  bool die_ = false;
};

/// One call: its operands as instructions, and what adds others. Everything is added with inferred shapes or
/// shapes that the rules check.
class Emission {
 public:
  Emission(BuilderState& state, llvm::ArrayRef<hlo::Instruction*> operands)
      : state_(state), operands_(operands) {}

  [[nodiscard]] BuilderState& state() { return state_; }
  [[nodiscard]] llvm::ArrayRef<hlo::Instruction*> operands() const { return operands_; }
  [[nodiscard]] hlo::Instruction* operand(size_t i) const { return operands_[i]; }
  [[nodiscard]] const hlo::Shape& shape(size_t i) const { return operands_[i]->shape(); }
  /// Operand i is an array, or the error that it is none.
  [[nodiscard]] hlo::Result<const hlo::Shape*> Array(size_t i) const;
  /// Operand i, which `what` names, is a scalar of the type, or the error that it is not.
  [[nodiscard]] hlo::Status ScalarOf(size_t i, hlo::ElementType type, llvm::StringRef what) const;

  hlo::Result<hlo::Instruction*> Add(hlo::OpKind kind, llvm::ArrayRef<hlo::Instruction*> operands,
                                     hlo::Attrs attrs = {}, llvm::ArrayRef<hlo::Computation*> callees = {});
  hlo::Result<hlo::Instruction*> AddWithShape(hlo::OpKind kind, hlo::Shape shape,
                                              llvm::ArrayRef<hlo::Instruction*> operands,
                                              hlo::Attrs attrs = {},
                                              llvm::ArrayRef<hlo::Computation*> callees = {},
                                              llvm::StringRef name = "");
  hlo::Instruction* Constant(const hlo::Literal& literal);
  /// A scalar of the type with the value of a small number.
  hlo::Result<hlo::Instruction*> Number(hlo::ElementType type, double value);

 private:
  BuilderState& state_;
  llvm::ArrayRef<hlo::Instruction*> operands_;
};

/// Makes the instructions of one call in `builder`, or where that is null in the builder of the first operand
/// that has one. All errors end here.
XlaOp Emit(XlaBuilder* builder, Span<const XlaOp> operands, const Location& location, EmitFunction make);

/// `x` in the sizes of `like`, an array: a scalar repeated. Itself if it has these sizes.
hlo::Result<hlo::Instruction*> BroadcastScalar(Emission& emission, hlo::Instruction* x,
                                               const hlo::Shape& like);
/// Both with one shape of dimensions, by the rules of broadcasting (ops-elementwise §4).
hlo::Result<std::pair<hlo::Instruction*, hlo::Instruction*>> BroadcastPair(Emission& emission,
                                                                           hlo::Instruction* lhs,
                                                                           hlo::Instruction* rhs,
                                                                           Span<const int64_t> dimensions);
/// Dimension i becomes dimension `to[i]` of an array with these sizes; where it has size 1 it is repeated.
hlo::Result<hlo::Instruction*> BroadcastTo(Emission& emission, hlo::Instruction* x,
                                           llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<bool> dynamic,
                                           llvm::ArrayRef<int64_t> to);

inline hlo::Dims ToDims(Span<const int64_t> values) { return {values.begin(), values.end()}; }

}  // namespace hlo_toolkit::internal
