#include "backends/cpu/prepare.h"

#include "backends/cpu/adapt_convolutions.h"
#include "backends/cpu/chains.h"
#include "backends/cpu/grouping.h"
#include "backends/cpu/machine.h"
#include "backends/cpu/narrow_weights.h"
#include "backends/cpu/product_step.h"
#include "backends/cpu/siblings.h"
#include "backends/cpu/split_products.h"
#include "backends/cpu/split_reductions.h"
#include "ir/op.h"
#include "passes/analysis/inlined_size.h"
#include "passes/pass_manager.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/inline_all.h"
#include "passes/rewrite/maker.h"

namespace hlo::cpu {
namespace {

std::vector<Instruction*> AllOf(Computation& computation, OpKind kind) {
  std::vector<Instruction*> found;
  for (Instruction* inst : computation.instructions())
    if (inst->kind() == kind) found.push_back(inst);
  return found;
}

/// The physical dimensions of an array, major to minor, and the permutation that brings it there.
struct PhysicalForm {
  Dims dims, from_logical, to_logical;
};
PhysicalForm PhysicalFormOf(const Shape& shape) {
  PhysicalForm form;
  const auto rank = static_cast<size_t>(shape.rank());
  form.to_logical.resize(rank);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t d =
        shape.has_layout() ? shape.layout().minor_to_major[rank - 1 - i] : static_cast<int64_t>(i);
    form.from_logical.push_back(d);
    form.dims.push_back(shape.dim(d));
    form.to_logical[static_cast<size_t>(d)] = static_cast<int64_t>(i);
  }
  return form;
}

bool IsIdentity(llvm::ArrayRef<int64_t> permutation) {
  for (size_t i = 0; i < permutation.size(); ++i)
    if (permutation[i] != static_cast<int64_t>(i)) return false;
  return true;
}

/// Bytes of an element in memory; 0 if the layout packs several into a byte or leaves gaps.
int64_t StoredBytes(const Shape& shape) {
  const TypeInfo& info = Info(shape.element_type());
  const bool packed = shape.has_layout() && shape.layout().element_size_bits != 0;
  return packed && info.is_packed() ? 0 : info.host_bytes();
}

/// The bits of `x` (in row-major order) as elements of `type`, in one dimension.
Instruction* Reinterpret(Maker& make, Instruction* x, ElementType type) {
  const int64_t from = Info(x->shape().element_type()).host_bytes(), to = Info(type).host_bytes();
  const int64_t count = x->shape().ElementCount();
  if (from < to) x = make.Reshape(x, Dims{count * from / to, to / from});
  if (from >= to) x = make.Reshape(x, Dims{count});
  Dims dims = {count * from / to};
  if (from > to) dims = {count, from / to};
  x = make.BitcastConvert(x, Shape::Array(type, dims));
  return make.Reshape(x, Dims{count * from / to});
}

/// Bitcasts say something about memory in the layouts of the text; as storage here is row-major they become
/// transposes, reshapes and bitcast-converts.
Status ReplaceBitcast(Instruction* bitcast) {
  Instruction* x = bitcast->operand(0);
  const Shape &from = x->shape(), &to = bitcast->shape();
  if (!to.IsArray() || from == to) {
    ReplaceAndRemove(bitcast, x);
    return {};
  }
  const bool same_type = from.element_type() == to.element_type();
  const bool same_count = from.ElementCount() == to.ElementCount();
  if (same_type ? !same_count
                : StoredBytes(from) == 0 || StoredBytes(to) == 0 || from.HasDynamicDimension() ||
                      ByteSize(from) != ByteSize(to))
    return Error("unsupported-bitcast", bitcast->loc(),
                 "%{0}: bitcast of {1} to {2} is not implemented on cpu", bitcast->name(), ToString(from),
                 ToString(to));
  Maker make(bitcast);
  const PhysicalForm source = PhysicalFormOf(from), result = PhysicalFormOf(to);
  if (!IsIdentity(source.from_logical)) x = make.Transpose(x, source.from_logical);
  if (!same_type) x = Reinterpret(make, x, to.element_type());
  x = make.Reshape(x, to.WithDims(result.dims).WithoutLayout());
  if (!IsIdentity(result.to_logical)) x = make.Transpose(x, result.to_logical);
  ReplaceAndRemove(bitcast, x);
  return {};
}

/// An asynchronous chain becomes a call at its end.
void MakeSynchronous(Instruction* done) {
  std::vector<Instruction*> arguments;
  Instruction* at = done->operand(0);
  for (; at->kind() == OpKind::AsyncUpdate; at = at->operand(0))
    arguments.insert(arguments.begin(), at->operands().begin() + 1, at->operands().end());
  arguments.insert(arguments.begin(), at->operands().begin(), at->operands().end());
  ReplaceAndRemove(done, Maker(done).Call(at->callee(), arguments));
}

/// The same with the order of layouts alone: buffers hold elements one by one, and nothing before them.
Shape WithPlainLayouts(const Shape& shape) {
  if (shape.IsTuple()) {
    std::vector<Shape> elements;
    for (const Shape& element : shape.tuple_shapes()) elements.push_back(WithPlainLayouts(element));
    return Shape::MakeTuple(elements);
  }
  if (!shape.IsArray() || !shape.has_layout()) return shape;
  Layout layout;
  layout.minor_to_major = shape.layout().minor_to_major;
  return shape.WithLayout(std::move(layout));
}

/// Custom calls keep theirs: for LAPACK targets they say what is a row and what a column.
void MakeLayoutsDefault(Instruction* inst) {
  if (inst->kind() == OpKind::CustomCall) return inst->set_shape(WithPlainLayouts(inst->shape()));
  inst->set_shape(inst->shape().WithoutLayout().WithDefaultLayouts());
}

/// What a custom call gets lies in memory as written, whatever becomes of the layouts of its operands.
void KeepCustomCallLayouts(Module& module) {
  for (const auto& computation : module.computations())
    for (Instruction* call : AllOf(*computation, OpKind::CustomCall)) {
      auto& constraints = call->mutable_attrs().Mutable<CustomCallAttrs>().operand_layout_constraints;
      if (constraints) continue;
      constraints.emplace();
      for (const Instruction* operand : call->operands())
        constraints->push_back(operand->shape().WithDefaultLayouts());
    }
}

Status Normalize(Module& module) {
  const auto is_fusion = [](const Instruction& inst) { return inst.kind() == OpKind::Fusion; };
  HLO_CHECK_OK(CheckInlinedSize(module, is_fusion, module.entry()->loc()));
  InlineAll(module, is_fusion);
  for (Computation* computation : module.PostOrder()) {
    for (Instruction* inst : AllOf(*computation, OpKind::AsyncDone)) MakeSynchronous(inst);
    for (Instruction* inst : AllOf(*computation, OpKind::CopyDone))
      ReplaceAndRemove(inst, Maker(inst).Copy(inst->operand(0)->operand(0)));
    for (Instruction* inst : AllOf(*computation, OpKind::Bitcast)) HLO_CHECK_OK(ReplaceBitcast(inst));
  }
  for (const auto& computation : module.computations())
    for (Instruction* inst : computation->instructions()) MakeLayoutsDefault(inst);
  return {};
}

/// Row-major storage is not changed by a reshape.
void MakeReshapesFree(Module& module) {
  for (const auto& computation : module.computations()) {
    if (computation->IsFusion()) continue;
    for (Instruction* inst : AllOf(*computation, OpKind::Reshape))
      if (!inst->shape().HasDynamicDimension() && !inst->operand(0)->shape().HasDynamicDimension())
        ReplaceAndRemove(inst, Maker(inst).Bitcast(inst->operand(0), inst->shape()));
  }
}

Status RunPipeline(Module& module, llvm::StringRef spec, const CpuOptions& options,
                   RewriteControls& controls) {
  HLO_TRY(const auto items, ParsePipeline(spec));
  PassManager manager(controls, options.selection);
  HLO_CHECK_OK(manager.Run(module, items));
  return {};
}

/// What has no loops of its own but can be written with ops that do.
constexpr llvm::StringLiteral kExpanders =
    "topk-decomposer,scan_expander,cholesky_expander,qr_expander,eigh_expander,triangular_solve_expander,"
    "select_and_scatter_expander,rng-bit-generator-expander,rng-expander,convolution-pred-expander,"
    "stochastic_convert_decomposer,batchnorm_expander,reduce-window-rewriter{vectors=true},call-inliner";

/// Without edges that are no operands: what code alone computes has no effects that they could order.
void DropControlDependencies(Module& module) {
  for (Computation* computation : module.PostOrder())
    for (Instruction* inst : computation->instructions()) inst->DropControlEdges();
}

/// What runs fastest on this machine, of products and rows.
void SuitMachine(Module& module, const CpuOptions& options) {
  ReadWeightsAsStored(module);
  AdaptConvolutions(module, [&] {
    const auto machine = MachineFor(options.cpu, options.features, /*runs_here=*/false);
    return machine ? ProductTarget(*machine) : gemm::Target();
  });
  SplitConcatenatedProducts(module);
}

/// Every level of a tuple is a place of its own in all that knows where values lie, and taking such a tuple
/// apart makes as many instructions with as many levels each: 4096 of them take four gigabytes.
constexpr int64_t kMostTupleLevels = 4096;

int64_t TupleLevels(const Shape& shape) {
  int64_t deepest = 0;
  std::vector<std::pair<const Shape*, int64_t>> stack = {{&shape, 0}};
  while (!stack.empty()) {
    const auto [at, levels] = stack.back();
    stack.pop_back();
    deepest = std::max(deepest, levels);
    if (!at->IsTuple()) continue;
    for (const Shape& element : at->tuple_shapes()) stack.emplace_back(&element, levels + 1);
  }
  return deepest;
}

Status CheckTupleLevels(const Module& module) {
  for (const auto& computation : module.computations())
    for (const Instruction* inst : computation->instructions()) {
      if (!inst->shape().IsTuple()) continue;
      if (const int64_t levels = TupleLevels(inst->shape()); levels > kMostTupleLevels)
        return Error("limit-nesting", inst->loc(),
                     "the tuple of {0} has {1} levels, for the CPU it may have {2}",
                     ("%" + inst->name()).str(), levels, kMostTupleLevels);
    }
  return {};
}

}  // namespace

Status Prepare(Module& module, const CpuOptions& options) {
  HLO_CHECK_OK(CheckTupleLevels(module));
  RewriteControls controls = options.controls;
  KeepCustomCallLayouts(module);
  HLO_CHECK_OK(RunPipeline(module, "@cpu-start", options, controls));
  HLO_CHECK_OK(Normalize(module));
  if (options.self_contained) {
    DropControlDependencies(module);
    HLO_CHECK_OK(RunPipeline(module, kExpanders, options, controls));
  }
  HLO_CHECK_OK(
      RunPipeline(module, "@cpu-run-O" + std::to_string(options.optimization_level), options, controls));
  // Conditions can be read before they are kernels.
  HLO_CHECK_OK(RunPipeline(module, "while-loop-trip-count-annotator", options, controls));
  if (options.optimization_level > 0) {
    if (!options.self_contained) SuitMachine(module, options);
    WidenSums(module);
    SplitFullReductions(module);
    GroupIntoKernels(module);
  }
  MakeReshapesFree(module);
  if (options.self_contained) MakeLoneKernels(module);
  if (options.optimization_level > 0) {
    if (!options.self_contained) FormChains(module);
    JoinSiblings(module);
  }
  return RunPipeline(module, "@cpu-schedule", options, controls);
}

}  // namespace hlo::cpu
