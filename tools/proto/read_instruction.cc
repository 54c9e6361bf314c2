#include "tools/proto/read_instruction.h"

#include "tools/proto/fields.h"
#include "tools/proto/instruction_fields.h"
#include "tools/proto/origin_proto.h"
#include "tools/proto/read_attributes.h"
#include "tools/proto/read_values.h"

namespace hlo {
namespace {

constexpr int64_t kMostParameters = 1 << 20;

void CheckParameter(const Attrs& attrs, const Computation& to, ProtoProblems& problems) {
  const int64_t number = attrs.Get<ParameterAttrs>().number;
  const auto taken = to.parameters();
  if (number < 0 || number >= kMostParameters)
    problems.Fail("found parameter number {0}, expected numbers from 0 on without gaps", number);
  else if (number < static_cast<int64_t>(taken.size()) && taken[static_cast<size_t>(number)])
    problems.Fail("duplicate parameter number {0}", number);
}

/// As many operands and called computations as the opcode needs: rules about the opcode go from there.
void CheckCounts(const Instruction& inst, ProtoProblems& problems) {
  const OpInfo& info = inst.info();
  const int64_t count = inst.operand_count();
  if (count < info.min_operands || (info.max_operands != OpInfo::kVariadic && count > info.max_operands))
    problems.Fail(info.HasFixedArity() ? "{0} expects {1} operands, but has {2}"
                                       : "{0} expects at least {1} operands, but has {2}",
                  info.text, info.min_operands, count);
  for (const FieldInfo& field : info.attrs->fields)
    if (field.kind == FieldKind::Callee && (field.flags & kRequired) != 0 &&
        static_cast<size_t>(field.callee) >= inst.callees().size())
      problems.Fail("{0} calls {1} computations, but needs one more as {2}", info.text, inst.callees().size(),
                    field.name);
}

/// A constant has the value of its shape, lain out as that is.
void FitLiteral(Attrs& attrs, const Shape& shape, ProtoProblems& problems) {
  LiteralPtr& literal = attrs.Mutable<ConstantAttrs>().literal;
  if (!literal || problems.failed()) return;
  if (!Compatible(literal->shape(), shape))
    problems.Fail("found a literal of shape {0} for a constant of shape {1}", literal->shape(), shape);
  else if (shape.IsArray() && !shape.HasDynamicDimension())
    literal = std::make_shared<const Literal>(literal->WithShape(shape));
}

ResultAccuracy ReadAccuracy(ProtoMessage& in) {
  ResultAccuracy accuracy;
  accuracy.highest = in.Number(1) == 1;
  if (ProtoMessage* tolerance = in.Message(2, "Tolerance")) {
    accuracy.has_tolerance = true;
    accuracy.atol = tolerance->Double(1);
    accuracy.rtol = tolerance->Double(2);
    accuracy.ulps = tolerance->Number(3);
  }
  return accuracy;
}

void ReadExtras(ProtoMessage& in, Instruction& inst) {
  Module& module = *inst.module();
  if (ProtoMessage* sharding = in.Message(40, "OpSharding"))
    inst.MutableExtras().sharding = std::make_shared<const Sharding>(ReadSharding(*sharding, module));
  if (const llvm::StringRef config = in.Text(43); !config.empty())
    inst.MutableExtras().backend_config = config;
  if (ProtoMessage* map = in.Message(68, "FrontendAttributes"))
    if (auto attributes = ReadFrontendAttributes(*map); !attributes.empty())
      inst.MutableExtras().frontend_attributes = std::move(attributes);
  if (ProtoMessage* message = in.Message(82, "StatisticsViz")) {
    Statistics statistics;
    ReadFields(*message, statistics);
    if (!statistics.values.empty()) inst.MutableExtras().statistics = std::move(statistics);
  }
  if (ProtoMessage* message = in.Message(kProtoOrigin, "OriginalValueProto"))
    inst.MutableExtras().origin = std::make_shared<const Origin>(ReadOrigin(*message, inst.shape()));
  if (ProtoMessage* message = in.Message(91, "ResultAccuracy"))
    if (const ResultAccuracy accuracy = ReadAccuracy(*message); !accuracy.is_default())
      inst.MutableExtras().result_accuracy = accuracy;
}

}  // namespace

llvm::StringRef ReadName(llvm::StringRef name, Module& module) {
  const auto allowed = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '-'; };
  const bool start = !name.empty() && (llvm::isAlpha(name.front()) || name.front() == '_');
  if (start && llvm::all_of(name, allowed)) return name;
  std::string clean = start ? "" : "_";
  for (const char c : name) clean += allowed(c) ? c : '_';
  return module.Save(clean);
}

Instruction* ReadInstruction(ProtoMessage& in, Computation& to,
                             const llvm::DenseMap<int64_t, Computation*>& computations) {
  ProtoProblems& problems = in.problems();
  Module& module = *to.module();
  const llvm::StringRef opcode = in.Text(2);
  const auto kind = ParseOpKind(opcode);
  if (!kind) problems.Fail("found opcode '{0}', which is none", opcode);
  ProtoMessage* message = in.Message(3, "ShapeProto");
  if (!message) problems.Fail("found an instruction without shape");
  if (problems.failed()) return nullptr;
  const Shape shape = ReadShape(*message).WithDefaultLayouts();
  Attrs attrs = problems.failed() ? Attrs() : ReadAttributes(in, *kind, module);
  llvm::SmallVector<Computation*, 2> callees;
  in.ForEachNumber(38, [&](int64_t id) {
    if (Computation* callee = computations.lookup(id))
      callees.push_back(callee);
    else
      problems.Fail("found computation id {0}, which none has", id);
  });
  if (problems.failed()) return nullptr;
  if (*kind == OpKind::Parameter) CheckParameter(attrs, to, problems);
  if (*kind == OpKind::Constant) FitLiteral(attrs, shape, problems);
  if (problems.failed()) return nullptr;
  const llvm::StringRef name = module.UniqueInstructionName(ReadName(in.Text(1), module));
  Instruction* inst = to.Add(*kind, shape, name, {}, std::move(attrs), callees);
  if (ProtoMessage* metadata = in.Message(7, "OpMetadata"))
    inst->set_metadata(ReadMetadata(*metadata, module));
  ReadExtras(in, *inst);
  in.Number(35);
  return inst;
}

void ReadReferences(ProtoMessage& in, Instruction& inst,
                    const llvm::DenseMap<int64_t, Instruction*>& instructions) {
  const auto find = [&](int64_t id) {
    Instruction* found = instructions.lookup(id);
    if (!found) in.problems().Fail("found instruction id {0}, which none of the computation has", id);
    return found;
  };
  llvm::SmallVector<Instruction*, 4> operands;
  in.ForEachNumber(36, [&](int64_t id) {
    if (Instruction* operand = find(id)) operands.push_back(operand);
  });
  if (in.problems().failed()) return;
  inst.SetOperands(operands);
  CheckCounts(inst, in.problems());
  in.ForEachNumber(37, [&](int64_t id) {
    if (Instruction* before = find(id)) inst.AddControlPredecessor(before);
  });
  // What the operands' type implies is not said.
  if (const auto* compare = inst.attrs().GetIf<CompareAttrs>();
      compare && compare->type && !operands.empty() &&
      ToString(*compare->type) == ImpliedCompareType(operands[0]->shape().element_type()))
    inst.mutable_attrs().Mutable<CompareAttrs>().type.reset();
}

}  // namespace hlo
