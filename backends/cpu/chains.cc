#include "backends/cpu/chains.h"

#include <numeric>

#include "backends/compile/kernel_config.h"
#include "backends/cpu/kernel_table.h"
#include "backends/cpu/kernel_target.h"
#include "backends/cpu/product_problem.h"
#include "ir/op.h"
#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/fusion_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/fuse.h"

namespace hlo::cpu {
namespace {

constexpr int64_t kLeastRows = 64, kRowUnit = 16;  // of a block
/// Without a second product, rows that caches hold are as good in memory.
struct DotChainFusionOptions {
  int64_t min_bytes = 512 << 10;
  int64_t min_kernel_bytes = 48 << 20;
  static llvm::ArrayRef<PassOptionRow> Rows() {
    static constexpr PassOptionRow kRows[] = {
        PassOption<&DotChainFusionOptions::min_bytes>("min_bytes", "of all rows between two products"),
        PassOption<&DotChainFusionOptions::min_kernel_bytes>(
            "min_kernel_bytes", "of all rows before and after a kernel that ends a chain"),
    };
    return kRows;
  }
};
constexpr int64_t kLeastColumns = 16, kFewestRows = 32;  // of products

/// Storage is row-major: these change nothing in memory.
const Instruction* BehindBitcasts(const Instruction* inst) {
  while (inst->kind() == OpKind::Bitcast && inst->users().size() == 1) inst = inst->operand(0);
  return inst;
}

/// A dot whose rows can be computed apart.
bool IsRowProduct(const Instruction& inst) {
  if (inst.kind() != OpKind::Dot || inst.operand_count() != 2) return false;
  for (const Shape* shape : {&inst.shape(), &inst.operand(0)->shape(), &inst.operand(1)->shape()})
    if (!shape->IsArray() || shape->HasDynamicDimension() || IsComplex(shape->element_type())) return false;
  if (!gemm::IsSupported(inst.operand(0)->shape().element_type(), inst.operand(1)->shape().element_type(),
                         inst.shape().element_type()))
    return false;
  const gemm::Problem problem = DotProblem(inst);
  return problem.columns() >= kLeastColumns && problem.rows() >= kFewestRows &&
         gemm::Product(problem, gemm::Target()).RunsByRows();
}

/// Its left factor's rows lie one after the other: batches, rows, what is summed.
bool ReadsRowsInOrder(const Instruction& dot) {
  const auto& attrs = dot.attr<DotAttrs>();
  const int64_t rank = dot.operand(0)->shape().rank();
  for (size_t i = 0; i < attrs.lhs_batch_dims.size(); ++i)
    if (attrs.lhs_batch_dims[i] != static_cast<int64_t>(i)) return false;
  return llvm::all_of(attrs.lhs_contracting_dims, [&](int64_t d) {
    return d >= rank - static_cast<int64_t>(attrs.lhs_contracting_dims.size());
  });
}

bool HasOneUser(const Instruction& inst) { return inst.users().size() == 1 && !inst.IsRoot(); }

/// The chain of a product and a kernel that takes its rows, if `middle` is such a kernel.
std::optional<Chain> FindKernel(const Instruction& middle) {
  if (middle.kind() != OpKind::Fusion || middle.attr<FusionAttrs>().kind == FusionKind::Custom ||
      !middle.shape().IsArray() || middle.shape().HasDynamicDimension())
    return {};
  Chain chain;
  chain.middle = &middle;
  for (int64_t i = 0; i < middle.operand_count() && chain.first == nullptr; ++i) {
    const Instruction* first = BehindBitcasts(middle.operand(i));
    if (!HasOneUser(*first) || !HasOneUser(*middle.operand(i)) || !IsRowProduct(*first)) continue;
    chain.first = first;
    chain.rows.input = i;
  }
  if (chain.first == nullptr) return {};
  const gemm::Problem product = DotProblem(*chain.first);
  chain.rows.count = product.batches() * product.rows();
  chain.rows.input_row = product.columns();
  chain.rows.result_row = middle.shape().ElementCount() / chain.rows.count;
  chain.rows.unit = product.rows();
  if (chain.rows.result_row * chain.rows.count != middle.shape().ElementCount()) return {};
  return chain;
}

/// The chain that ends in `last`, a dot or a fusion, if there is one.
std::optional<Chain> FindChain(const Instruction& last) {
  if (last.kind() == OpKind::Fusion) return FindKernel(last);
  if (!IsRowProduct(last) || !ReadsRowsInOrder(last) || last.operand(0)->users().size() != 1) return {};
  const Instruction& middle = *BehindBitcasts(last.operand(0));
  if (!HasOneUser(middle)) return {};
  std::optional<Chain> chain = FindKernel(middle);
  if (!chain) return {};
  const gemm::Problem product = DotProblem(last);
  if (product.batches() * product.rows() != chain->rows.count || product.depth() != chain->rows.result_row)
    return {};
  chain->last = &last;
  chain->rows.unit = std::gcd(chain->rows.unit, product.rows());
  return chain;
}

int64_t RowBytes(const Chain& chain) {
  return chain.rows.input_row * Info(chain.first->shape().element_type()).host_bytes() +
         chain.rows.result_row * Info(chain.middle->shape().element_type()).host_bytes();
}

/// Reading the right factors once for each block costs less than to write and read the rows.
bool IsWorthIt(const Chain& chain, const DotChainFusionOptions& options) {
  const int64_t least = chain.last != nullptr ? options.min_bytes : options.min_kernel_bytes;
  if (chain.rows.count * RowBytes(chain) < least) return false;
  const auto bytes = [](const Instruction& dot) {
    const Shape& right = dot.operand(1)->shape();
    return right.ElementCount() / DotProblem(dot).batches() * Info(right.element_type()).host_bytes();
  };
  const int64_t rights = bytes(*chain.first) + (chain.last != nullptr ? bytes(*chain.last) : 0);
  return rights <= 2 * RowsOfBlock(chain) * RowBytes(chain);
}

void Form(const Chain& chain) {
  std::vector<Instruction*> members;  // users first
  auto* middle = const_cast<Instruction*>(chain.middle);
  auto* last = chain.last != nullptr ? const_cast<Instruction*>(chain.last) : middle;
  if (last != middle) {
    for (Instruction* at = last->operand(0); at != middle; at = at->operand(0)) members.push_back(at);
    members.push_back(middle);
  }
  for (Instruction* at = middle->operand(chain.rows.input); at != chain.first; at = at->operand(0))
    members.push_back(at);
  members.push_back(const_cast<Instruction*>(chain.first));
  Instruction* fusion = WrapInFusion(last, FusionKind::Custom);
  compile::SetKernelConfig(fusion, {compile::KernelPath::Chain});
  GrowingFusion growing(fusion);
  for (Instruction* member : members) {
    growing.Fuse(member);
    RemoveIfDead(member);
  }
}

}  // namespace

int64_t RowsOfBlock(const Chain& chain) {
  const int64_t block = CpuMachine().caches.second / 2;  // the rest is for the right factors
  const int64_t rows = block / RowBytes(chain) / kRowUnit * kRowUnit;
  return std::min(std::max(rows, kLeastRows), chain.rows.unit);
}

std::optional<Chain> ChainOf(const Instruction& fusion) {
  const std::optional<compile::KernelConfig> config = compile::KernelConfigOf(fusion);
  if (!config || config->path != compile::KernelPath::Chain) return {};
  return FindChain(*fusion.callee()->root());
}

/// Makes chains of products and kernels that allow it, where it costs less to read the right factors once for
/// each block of rows than to write and read the rows. Requires kernels (kernel-fusion); no value changes.
static Result<bool> RunDotChainFusion(Module& module, const DotChainFusionOptions& options,
                                      PassContext& context) {
  bool changed = false;
  for (Computation* computation : context.Computations(module)) {
    if (!RunsOnWholeValues(*computation)) continue;
    // Those with two products first.
    std::vector<const Instruction*> dots, fusions;
    for (const Instruction* inst : computation->instructions()) {
      if (inst->kind() == OpKind::Dot) dots.push_back(inst);
      if (inst->kind() == OpKind::Fusion) fusions.push_back(inst);
    }
    llvm::DenseSet<const Instruction*> taken;
    for (const Instruction* last : llvm::concat<const Instruction* const>(dots, fusions)) {
      if (taken.contains(last)) continue;
      const std::optional<Chain> chain = FindChain(*last);
      if (!chain || taken.contains(chain->first) || !IsWorthIt(*chain, options) ||
          !compile::TryRowKernel(*chain->middle, chain->rows, CpuMachine(), KernelTable()))
        continue;
      if (!context.TakeRewrite()) return changed;
      taken.insert(chain->first);
      taken.insert(chain->middle);
      Form(*chain);
      changed = true;
    }
  }
  return changed;
}

HLO_DEFINE_PASS(DotChainFusion, DotChainFusionOptions);

}  // namespace hlo::cpu
