// Rules about fusions, loops, calls and custom-calls beyond their shapes (ops-structured §9, §10).
#include "ir/custom_call.h"
#include "ir/verify_internal.h"

namespace hlo::verify {
namespace {

/// Equal but for the metadata, which does not shard anything.
bool SameSharding(const Sharding& a, const Sharding& b) {
  if (a == b) return true;
  auto strip = [](auto&& self, Sharding& s) -> void {
    s.metadata.clear();
    s.has_metadata = false;
    for (Sharding& element : s.elements) self(self, element);
  };
  Sharding x = a, y = b;
  strip(strip, x);
  strip(strip, y);
  return x == y;
}

/// A buffer holds what is aliased with it.
const Shape& Content(const Shape& shape) { return shape.IsBuffer() ? shape.buffer_shape() : shape; }

bool HasSideEffect(const Instruction& inst) {
  if (Info(inst.kind()).Is(kSideEffect)) return true;
  const auto* custom = inst.attrs().GetIf<CustomCallAttrs>();
  return custom && custom->custom_call_has_side_effect;
}

llvm::StringRef FrontendValue(const Instruction& inst, llvm::StringRef key) {
  for (const FrontendAttribute& a : inst.extras().frontend_attributes)
    if (a.key == key) return a.value;
  return {};
}

/// Layout constraints have the shapes of the operands.
void VerifyOperandLayouts(const Instruction& inst, Report& report) {
  const auto& a = inst.attr<CustomCallAttrs>();
  if (!a.operand_layout_constraints) return;
  const ShapeList& constraints = *a.operand_layout_constraints;
  if (static_cast<int64_t>(constraints.size()) != inst.operand_count()) {
    report.Error("verify-attribute", inst,
                 "'operand_layout_constraints' of {0} has {1} shapes, but there are {2} operands", Name(inst),
                 constraints.size(), inst.operand_count());
    return;
  }
  for (int64_t i = 0; i < inst.operand_count(); ++i)
    if (const Shape& shape = constraints[static_cast<size_t>(i)];
        !Compatible(shape, inst.operand(i)->shape()))
      report.Error("verify-attribute", inst,
                   "'operand_layout_constraints' of {0} has {1} for operand {2}, which is {3}", Name(inst),
                   shape, i, inst.operand(i)->shape());
}

void ReportMisfit(const Instruction& inst, const CustomCallMisfit& misfit, Report& report) {
  const auto operand = misfit.operand;
  Diagnostic error = MakeError("verify-custom-call", inst.loc(), "{0}: {1}", Name(inst), misfit.message);
  report.Add(operand < 0 ? std::move(error) : AtOperand(std::move(error), inst, operand), &inst);
}

}  // namespace

void VerifyThread(const Instruction& inst, Report& report) {
  const llvm::StringRef thread = inst.parent()->execution_thread();
  for (const Computation* callee : inst.callees())
    if (callee->execution_thread() != thread)
      report.Error("verify-thread", inst,
                   "{0} runs on thread '{1}', but calls {2}, which runs on thread '{3}'", Name(inst), thread,
                   Name(*callee), callee->execution_thread());
}

// §9.2: the value that goes around is sharded one way.
void VerifyWhile(const Instruction& inst, Report& report) {
  const Instruction* first = nullptr;
  for (const Computation* callee : inst.callees()) {
    const Instruction* ends[] = {callee->parameters().empty() ? nullptr : callee->parameter(0),
                                 callee == inst.callees()[0] ? callee->root() : nullptr};
    for (const Instruction* end : ends) {
      if (!end || !end->extras().sharding) continue;
      if (!first) first = end;
      if (!SameSharding(*first->extras().sharding, *end->extras().sharding))
        report.Error("verify-sharding", *end,
                     "shardings of {0} and {1} differ, but both hold the value of loop {2}", Name(*first),
                     Name(*end), Name(inst));
    }
  }
}

// errata-2 15: branches that say how their results are sharded say the same.
void VerifyConditional(const Instruction& inst, Report& report) {
  const Instruction* first = nullptr;
  for (const Computation* branch : inst.callees()) {
    const Instruction* root = branch->root();
    if (!root || !root->extras().sharding) continue;
    if (!first) first = root;
    if (!SameSharding(*first->extras().sharding, *root->extras().sharding))
      report.Error("verify-sharding", *root,
                   "shardings of {0} and {1} differ, but both hold the value of conditional {2}",
                   Name(*first), Name(*root), Name(inst));
  }
}

// §9.4
void VerifyFusion(const Instruction& inst, Report& report) {
  if (inst.callees().size() != 1) return;
  const Computation& body = *inst.callee();
  const Instruction* root = body.root();
  if (root && !root->users().empty())
    report.Error("verify-fusion", *root, "{0} is the root of fusion body {1}, but is used by {2}",
                 Name(*root), Name(body), Name(*root->users()[0]));
  for (const Instruction* inner : body.instructions())
    if (inner != root && inner->users().empty() && !HasSideEffect(*inner))
      report.Error("verify-fusion", *inner, "{0} in fusion body {1} is neither used nor the root {2}",
                   Name(*inner), Name(body), root ? Name(*root) : std::string("(none)"));
  VerifyAliasing(inst, inst.attr<FusionAttrs>().output_to_operand_aliasing, inst.shape(), report);
}

bool AliasFits(const Instruction& inst, const OutputOperandAlias& alias, const Shape& output) {
  if (alias.operand < 0 || alias.operand >= inst.operand_count()) return false;
  const Shape* to = output.Subshape(alias.output);
  const Shape* from = inst.operand(alias.operand)->shape().Subshape(alias.operand_index);
  return to && from && Compatible(Content(*to), Content(*from));
}

void VerifyAliasing(const Instruction& inst, const Aliasing& aliasing, const Shape& output, Report& report) {
  for (const OutputOperandAlias& alias : aliasing) {
    if (alias.operand < 0 || alias.operand >= inst.operand_count()) {
      report.Error("verify-alias", inst,
                   "'output_to_operand_aliasing' of {0} names operand {1}, but there are {2}", Name(inst),
                   alias.operand, inst.operand_count());
      continue;
    }
    const Shape& operand = inst.operand(alias.operand)->shape();
    const Shape* to = output.Subshape(alias.output);
    const Shape* from = operand.Subshape(alias.operand_index);
    if (!to || !from)
      report.Error("verify-alias", inst,
                   "'output_to_operand_aliasing' of {0} names part {1} of {2}, which there is not",
                   Name(inst), ToString(to ? alias.operand_index : alias.output), to ? operand : output);
    else if (!Compatible(Content(*to), Content(*from)))
      report.Error(
          "verify-alias", inst,
          "'output_to_operand_aliasing' of {0} lets output {1}, {2}, share operand {3} part {4}, {5}",
          Name(inst), ToString(alias.output), *to, alias.operand, ToString(alias.operand_index), *from);
  }
}

namespace {

/// Bytes of an array in memory, tiles and padding aside: what the layout says, or else an element per byte or
/// more; `packed`: elements of less than a byte share bytes though the layout is silent.
int64_t BytesInMemory(const Shape& array, bool packed) {
  const TypeInfo& info = Info(array.element_type());
  const int64_t written = array.has_layout() ? array.layout().element_size_bits : 0;
  if (!info.is_packed() || (written == 0 && !packed)) return ByteSize(array);
  const int64_t per_byte = 8 / info.bits, count = array.ElementCount();
  return count / per_byte + (count % per_byte != 0 ? 1 : 0);
}

}  // namespace

// ops-elementwise §6.4: the result is the memory of the operand.
void VerifyBitcast(const Instruction& inst, Report& report) {
  const Shape &from = inst.operand(0)->shape(), &to = inst.shape();
  if (!from.IsArray() || !to.IsArray()) {
    if (!Compatible(from, to))
      report.Error("verify-shape", inst, "{0} is {1}, but bitcast keeps what is no array as it is, here {2}",
                   Name(inst), to, from);
    return;
  }
  // Elements of one width are packed on both sides or on neither.
  const bool equal_widths = Info(from.element_type()).bits == Info(to.element_type()).bits;
  for (const bool from_packed : {false, true})
    for (const bool to_packed : {false, true})
      if (!(equal_widths && from_packed != to_packed) &&
          BytesInMemory(from, from_packed) == BytesInMemory(to, to_packed))
        return;
  report.Error("verify-shape", inst, "{0} is declared {1} of {2} bytes, but its operand {3} has {4}",
               Name(inst), ToString(to), BytesInMemory(to, false), ToString(from),
               BytesInMemory(from, false));
}

// §10.1
void VerifyCustomCall(const Instruction& inst, Report& report) {
  const auto& a = inst.attr<CustomCallAttrs>();
  if (!a.output_to_operand_aliasing.empty() &&
      FrontendValue(inst, "xla_skip_custom_call_alias_shape_check").empty())
    VerifyAliasing(inst, a.output_to_operand_aliasing, inst.shape(), report);
  if (a.api_version == ApiVersion::Unspecified)
    report.Error("verify-attribute", inst, "'api_version' of {0} is API_VERSION_UNSPECIFIED", Name(inst));
  VerifyOperandLayouts(inst, report);
  // A program that is not divided among devices yet is right, though it cannot be run.
  if (const auto misfit = FindCustomCallMisfit(inst); misfit && !misfit->not_partitioned)
    ReportMisfit(inst, *misfit, report);
}

}  // namespace hlo::verify
