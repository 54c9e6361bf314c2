#include "ir/verify.h"

#include "ir/support/interrupt.h"
#include "ir/verify_internal.h"

namespace hlo {
namespace verify {

void Report::Add(Diagnostic diagnostic, const Instruction* about) {
  last_kept_ = !full();
  if (about && !diagnostic.loc.valid() && diagnostic.context.empty()) diagnostic.context = ContextOf(*about);
  // Shape rule and structural check may find the same.
  if (!errors_.empty() && errors_.back().id == diagnostic.id &&
      errors_.back().loc.begin == diagnostic.loc.begin && errors_.back().message == diagnostic.message) {
    scratch_ = std::move(diagnostic);
    last_kept_ = false;
    return;
  }
  if (about && about->stamp() != 0 && about->stamp() <= options_.makers.size())
    diagnostic.Note(about->loc(), "created by " + options_.makers[about->stamp() - size_t{1}]);
  (last_kept_ ? errors_.emplace_back() : scratch_) = std::move(diagnostic);
}

Loc Report::HeaderLoc(llvm::StringRef message) const {
  // A source may hold several modules: the header is the last one before the computations.
  const auto computations = module_.computations();
  const Loc body = computations.empty() ? Loc() : computations[0]->loc();
  if (!body.valid()) return {};
  const llvm::StringRef text = body.source->text().take_front(body.begin);
  const size_t header = text.rfind("HloModule");
  if (header == llvm::StringRef::npos) return body;
  const llvm::StringRef quoted = message.split('\'').second.split('\'').first;
  const size_t attribute = quoted.empty() ? llvm::StringRef::npos : text.find((quoted + "=").str(), header);
  const size_t begin = attribute == llvm::StringRef::npos ? header : attribute;
  const size_t length =
      attribute == llvm::StringRef::npos ? llvm::StringRef("HloModule").size() : quoted.size();
  return {body.source, static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + length)};
}

namespace {

using Check = void (*)(const Instruction&, Report&);

/// What is checked besides the shape rule, by opcode.
struct OpChecks {
  OpKind kind;
  Check first;
  Check second = nullptr;
};
constexpr OpChecks kOpChecks[] = {
    {OpKind::Fusion, &VerifyFusion, &VerifyThread},
    {OpKind::While, &VerifyWhile, &VerifyThread},
    {OpKind::Conditional, &VerifyConditional, &VerifyThread},
    {OpKind::Call, &VerifyThread},
    {OpKind::CustomCall, &VerifyCustomCall},
    {OpKind::Bitcast, &VerifyBitcast},
    {OpKind::AsyncStart, &VerifyAsync},
    {OpKind::AsyncUpdate, &VerifyAsync},
    {OpKind::AsyncDone, &VerifyAsync},
    {OpKind::CopyStart, &VerifyPair},
    {OpKind::CopyDone, &VerifyPair},
    {OpKind::Send, &VerifySendRecv},
    {OpKind::SendDone, &VerifySendRecv},
    {OpKind::Recv, &VerifySendRecv},
    {OpKind::RecvDone, &VerifySendRecv},
    {OpKind::AllGather, &VerifyGroups},
    {OpKind::AllGatherStart, &VerifyGroups, &VerifyPair},
    {OpKind::AllGatherDone, &VerifyPair},
    {OpKind::AllReduce, &VerifyGroups},
    {OpKind::AllReduceStart, &VerifyGroups, &VerifyPair},
    {OpKind::AllReduceDone, &VerifyPair},
    {OpKind::ReduceScatter, &VerifyGroups},
    {OpKind::AllToAll, &VerifyGroups},
    {OpKind::RaggedAllToAll, &VerifyGroups},
    {OpKind::CollectiveBroadcast, &VerifyGroups},
    {OpKind::CollectivePermute, &VerifyPermute},
    {OpKind::CollectivePermuteStart, &VerifyPermute, &VerifyPair},
    {OpKind::CollectivePermuteDone, &VerifyPair},
};

/// Facts of one opcode as the verifier wants them: found once, read per instruction.
struct OpFacts {
  Check first = nullptr, second = nullptr;
  bool may_call = false;
  bool communicates = false;
};
llvm::ArrayRef<OpFacts> Facts() {
  static const std::vector<OpFacts> facts = [] {
    std::vector<OpFacts> table(AllOps().size());
    for (const OpInfo& info : AllOps()) {
      OpFacts& f = table[static_cast<size_t>(info.kind)];
      f.may_call = info.MayCall();
      f.communicates = info.category == OpCategory::Communication;
    }
    for (const OpChecks& c : kOpChecks) {
      table[static_cast<size_t>(c.kind)].first = c.first;
      table[static_cast<size_t>(c.kind)].second = c.second;
    }
    return table;
  }();
  return facts;
}

// In layout-sensitive mode only minor_to_major counts for these (ops-structured §1.2 rule 3, errata-text 55).
bool OnlyMinorToMajor(OpKind kind) {
  constexpr OpKind kKinds[] = {OpKind::Constant, OpKind::CopyStart, OpKind::Send, OpKind::Recv,
                               OpKind::Infeed};
  return llvm::is_contained(kKinds, kind);
}

ShapeComparison ComparisonFor(const Instruction& inst, const OpInfo& info, const VerifyOptions& options) {
  ShapeComparison how;
  if (!info.Is(kStrict)) {
    // An all-reduce may convert what it makes (errata-2 14).
    how.ignore_float_precision = options.allow_mixed_precision || inst.kind() == OpKind::AllReduce;
    return how;
  }
  if (!options.layout_sensitive) return how;
  how.layout = true;
  how.dynamic = options.dynamic_flags;
  how.minor_to_major_only = OnlyMinorToMajor(inst.kind());
  how.ignore_memory_space = how.ignore_tiles =
      inst.kind() == OpKind::DynamicUpdateSlice && inst.parent()->IsFusion();
  return how;
}

constexpr int64_t kHostMemorySpace = 5;

/// errata-text 56: what a copy between memory spaces, one of them the host's, must keep. True if it is one.
bool VerifyHostCopy(const Instruction& inst, Report& report) {
  const Shape& from = inst.operand(0)->shape();
  const Shape& to = inst.shape();
  if (!from.has_layout() || !to.has_layout() || from.layout().memory_space == to.layout().memory_space)
    return false;
  const bool to_host = to.layout().memory_space == kHostMemorySpace;
  if (!to_host && from.layout().memory_space != kHostMemorySpace) return false;
  ShapeComparison how;
  how.layout = how.dynamic = how.ignore_memory_space = true;
  if (to_host ? from.element_type() != to.element_type() : !Same(from, to, how))
    report.Error("verify-layout", inst, "{0} copies {1} {2} host memory as {3}, but must keep its {4}",
                 Name(inst), ToString(from), to_host ? "to" : "from", ToString(to),
                 to_host ? "element type" : "shape and layout");
  return true;
}

/// errata-2 16: a copy may lie otherwise, but its elements are as wide.
void VerifyCopiedWidth(const Instruction& inst, Report& report) {
  const Shape &from = inst.operand(0)->shape(), &to = inst.shape();
  if (!from.IsArray() || !to.IsArray() || !from.has_layout() || !to.has_layout()) return;
  const int64_t before = from.layout().element_size_bits, after = to.layout().element_size_bits;
  if (before != after)
    report.Error("verify-layout", inst, "{0} copies {1} as {2}, whose elements take another number of bits",
                 Name(inst), ToString(from), ToString(to));
}

/// A bitcast keeps the bytes where they are (ops-elementwise §6.4).
void VerifyMemorySpace(const Instruction& inst, Report& report) {
  const Shape& from = inst.operand(0)->shape();
  const Shape& to = inst.shape();
  if (!from.IsArray() || !to.IsArray()) return;
  if (from.has_layout() && to.has_layout() && from.layout().memory_space != to.layout().memory_space)
    report.Error("verify-layout", inst,
                 "{0} is declared {1}, but its operand {2} lies in another memory space", Name(inst),
                 ToString(to), ToString(from));
}

bool IsPermutation(llvm::ArrayRef<int64_t> m) {
  const auto rank = static_cast<int64_t>(m.size());
  bool descending = true;
  for (int64_t i = 0; i < rank; ++i) descending &= m[static_cast<size_t>(i)] == rank - 1 - i;
  if (descending) return true;
  llvm::SmallVector<bool, 8> seen(m.size());
  for (int64_t d : m) {
    if (d < 0 || d >= rank || seen[static_cast<size_t>(d)]) return false;
    seen[static_cast<size_t>(d)] = true;
  }
  return true;
}

/// Size and layout of an array; false after an error.
bool VerifyArray(const Instruction& inst, const Shape& shape, Report& report) {
  for (int64_t size : shape.dims()) {
    if (LLVM_LIKELY(size >= 0) || (size == kUnboundedSize && report.options().allow_unbounded_dynamism))
      continue;
    if (size == kUnboundedSize)
      report.Error("verify-dynamic", inst, "{0} has shape {1}, but unbounded dimensions are not allowed here",
                   Name(inst), shape);
    else
      report.Error("verify-size", inst, "{0} has shape {1} with the negative size {2}", Name(inst), shape,
                   size);
    return false;
  }
  if (LLVM_UNLIKELY(ByteSize(shape) < 0)) {
    report.Error("verify-size", inst, "{0} has shape {1}, whose size exceeds 2^63-1 bytes", Name(inst),
                 shape);
    return false;
  }
  if (!shape.has_layout()) return true;
  const Dims& order = shape.layout().minor_to_major;
  if (LLVM_LIKELY(static_cast<int64_t>(order.size()) == shape.rank() && IsPermutation(order))) return true;
  report.Error("verify-layout", inst, "layout {0} of {1} is no permutation of the {2} dimensions of {3}",
               List(order), Name(inst), shape.rank(), shape);
  return false;
}

/// Sizes and layouts of every array in the shape, up to the first error. Tuples share their elements, so
/// each is looked at once however often it occurs.
bool VerifyArrays(const Instruction& inst, const Shape& shape, Report& report) {
  if (LLVM_LIKELY(shape.IsArray())) {
    const int64_t*& sound = report.SoundArray(shape);
    if (sound == shape.dims().data()) return true;
    if (!VerifyArray(inst, shape, report)) return false;
    sound = shape.dims().data();
    return true;
  }
  if (shape.IsBuffer()) return VerifyArrays(inst, shape.buffer_shape(), report);
  if (!shape.IsTuple() || shape.tuple_size() == 0 || report.IsSound(shape)) return true;
  for (const Shape& element : shape.tuple_shapes())
    if (!VerifyArrays(inst, element, report)) return false;
  report.SetSound(shape);
  return true;
}

void VerifyExtras(const Instruction& inst, const OpInfo& info, Report& report) {
  const InstructionExtras& extras = inst.extras();
  if (extras.sharding) VerifySharding(inst, report);
  if (extras.origin) VerifyOrigin(inst, report);
  const ResultAccuracy& accuracy = extras.result_accuracy;
  if (!accuracy.is_default() && !info.Is(kAccuracy))
    report.Error("verify-accuracy", inst, "{0} has 'result_accuracy', which {1} does not take", Name(inst),
                 info.text);
  // The negation also catches NaN.
  if (accuracy.has_tolerance && !(accuracy.atol >= 0 && accuracy.rtol >= 0 && accuracy.ulps >= 0))
    report.Error("verify-accuracy", inst,
                 "'result_accuracy' of {0} has atol={1}, rtol={2}, ulps={3}, but none may be negative",
                 Name(inst), accuracy.atol, accuracy.rtol, accuracy.ulps);
}

void VerifyShape(const Instruction& inst, const OpInfo& info, Report& report) {
  const VerifyOptions& options = report.options();
  if (options.layout_sensitive && inst.kind() == OpKind::Copy && VerifyHostCopy(inst, report)) return;
  InferOptions infer;
  infer.allow_mixed_precision = options.allow_mixed_precision;
  infer.layout_sensitive = options.layout_sensitive;
  infer.dynamic_flags = options.dynamic_flags;
  Result<Shape> inferred = InferShape(inst, infer);
  if (!inferred) return report.Add(std::move(inferred).error(), &inst);
  if (LLVM_LIKELY(inst.shape() == *inferred)) return;
  if (Status fits = CheckWrittenShape(inst, *inferred, ComparisonFor(inst, info, options)); !fits)
    report.Add(std::move(fits).error(), &inst);
}

/// What layouts have to do with besides the shape.
void VerifyLayout(const Instruction& inst, Report& report) {
  if (inst.kind() == OpKind::Bitcast) VerifyMemorySpace(inst, report);
  if (inst.kind() == OpKind::Copy) VerifyCopiedWidth(inst, report);
}

/// False if the instruction's links are so broken that no rule may look at it.
bool VerifyLinks(const Instruction& inst, Report& report) {
  bool sound = true;
  if (!inst.shape().valid()) {
    report.Error("verify-shape", inst, "{0} has no shape", Name(inst));
    sound = false;
  }
  for (const Instruction* operand : inst.operands()) {
    if (LLVM_UNLIKELY(operand->parent() != inst.parent()))
      report.Error("verify-structure", inst, "operand {0} of {1} lies in computation {2}, not in {3}",
                   Name(*operand), Name(inst), Name(*operand->parent()), Name(*inst.parent()));
    sound &= operand->shape().valid();
  }
  return sound;
}

void VerifyInstruction(const Instruction& inst, Report& report) {
  const OpInfo& info = Info(inst.kind());
  const OpFacts& facts = Facts()[static_cast<size_t>(inst.kind())];
  if (!VerifyLinks(inst, report)) return;
  if (LLVM_UNLIKELY(!inst.callees().empty() && !facts.may_call))
    report.Error("verify-callee", inst, "{0} calls {1}, but {2} calls no computation", Name(inst),
                 Name(*inst.callee()), info.text);
  for (const Computation* callee : inst.callees())
    if (LLVM_UNLIKELY(callee->module() != &report.module()))
      report.Error("verify-callee", inst, "{0} calls {1}, which belongs to another module", Name(inst),
                   Name(*callee));
  VerifyArrays(inst, inst.shape(), report);
  if (inst.kind() == OpKind::CustomCall)
    if (const auto& constraints = inst.attr<CustomCallAttrs>().operand_layout_constraints)
      for (const Shape& constraint : *constraints) VerifyArrays(inst, constraint, report);
  VerifyShape(inst, info, report);
  if (report.options().layout_sensitive) VerifyLayout(inst, report);
  if (inst.has_extras()) VerifyExtras(inst, info, report);
  if (facts.first) facts.first(inst, report);
  if (facts.second) facts.second(inst, report);
}

/// Leaf indices of a tree of origins, in depth-first order.
bool OriginFits(const Origin& origin, const Shape& shape) {
  if (origin.is_tuple != shape.IsTuple()) return false;
  if (!origin.is_tuple) return true;
  if (static_cast<int64_t>(origin.elements.size()) != shape.tuple_size()) return false;
  for (size_t i = 0; i < origin.elements.size(); ++i)
    if (!OriginFits(origin.elements[i], shape.tuple_shape(static_cast<int64_t>(i)))) return false;
  return true;
}
}  // namespace

// errata-text 57: the leaves of the tree are exactly those of the shape.
void VerifyOrigin(const Instruction& inst, Report& report) {
  const Origin& origin = *inst.extras().origin;
  if (origin.synthetic_call || OriginFits(origin, inst.shape())) return;
  report.Error("verify-origin", inst, "'origin' of {0} is not structured like its shape {1}", Name(inst),
               inst.shape());
}

}  // namespace verify

namespace verify {
namespace {

/// The one walk over all instructions. What it collects along the way serves the rules about the module.
class Walk {
 public:
  explicit Walk(Report& report) : report_(report), names_(report.module().InstructionCount()) {}

  void Computations() {
    for (const auto& computation : report_.module().computations()) {
      VerifyComputation(*computation, report_);
      Instructions(*computation);
      if (report_.full() || Interrupted()) return;
    }
    if (names_.suspicious() || !ComputationNamesDiffer()) ReportRepeatedNames(report_);
    VerifyNoRecursion(callers_, report_);
    VerifyChannels(communication_, report_);
  }

 private:
  void Instructions(const Computation& computation) {
    const auto facts = Facts();
    int32_t number = 0;
    bool in_order = true;  // numbers are positions, and larger than those of operands and predecessors
    for (const Instruction* inst : computation.instructions()) {
      names_.Add(inst->name());
      // Names lie far apart, in the text of the module.
      if (const Instruction* next = inst->next()) __builtin_prefetch(next->name().data());
      in_order &= inst->number() == number++;
      for (const Instruction* operand : inst->operands()) in_order &= operand->number() < number - 1;
      if (inst->has_extras()) in_order &= PredecessorsInOrder(*inst);
      if (!inst->callees().empty()) callers_.push_back(inst);
      if (facts[static_cast<size_t>(inst->kind())].communicates) communication_.push_back(inst);
      VerifyInstruction(*inst, report_);
    }
    if (!in_order) VerifyAcyclic(computation, report_);
  }

  bool PredecessorsInOrder(const Instruction& inst) {
    bool in_order = true;
    for (const Instruction* before : inst.extras().control_predecessors) {
      if (before->parent() != inst.parent())
        report_.Error("verify-structure", inst,
                      "control predecessor {0} of {1} lies in computation {2}, not in {3}", Name(*before),
                      Name(inst), Name(*before->parent()), Name(*inst.parent()));
      in_order &= before->number() < inst.number();
    }
    return in_order;
  }

  bool ComputationNamesDiffer() {
    const auto computations = report_.module().computations();
    NameCheck names(static_cast<int64_t>(computations.size()));
    for (const auto& computation : computations) names.Add(computation->name());
    return !names.suspicious();
  }

  Report& report_;
  NameCheck names_;
  std::vector<const Instruction*> callers_, communication_;
};

}  // namespace
}  // namespace verify

std::vector<Diagnostic> Verify(const Module& module, const VerifyOptions& options) {
  verify::Report report(module, options);
  verify::Walk(report).Computations();
  if (!report.full() && !Interrupted()) {
    verify::VerifyHeader(report);
    verify::VerifySchedules(report);
  }
  return report.Take();
}

std::string ContextOf(const Instruction& inst) {
  return "in " + Name(inst) + " of computation " + Name(*inst.parent());
}

bool LayoutFits(const Instruction& inst) {
  VerifyOptions options;
  options.layout_sensitive = options.allow_mixed_precision = options.allow_unbounded_dynamism = true;
  verify::Report report(*inst.module(), options);
  verify::VerifyShape(inst, Info(inst.kind()), report);
  verify::VerifyLayout(inst, report);
  return report.Take().empty();
}

}  // namespace hlo
