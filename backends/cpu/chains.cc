#include "backends/cpu/chains.h"

#include <numeric>

#include "backends/cpu/product_problem.h"
#include "ir/op.h"
#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/fusion_facts.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/fuse.h"

namespace hlo::cpu {
namespace {

constexpr int64_t kBlockBytes = 1 << 20;                 // of rows, before and after the kernel
constexpr int64_t kLeastRows = 64, kRowUnit = 16;        // of a block
constexpr int64_t kLeastBytes = 512 << 10;               // of all rows
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

/// The chain that ends in `last`, if there is one.
std::optional<Chain> FindChain(const Instruction& last) {
  if (!IsRowProduct(last) || !ReadsRowsInOrder(last) || last.operand(0)->users().size() != 1) return {};
  const auto only_user = [](const Instruction& inst) { return inst.users().size() == 1 && !inst.IsRoot(); };
  Chain chain;
  chain.last = &last;
  chain.middle = BehindBitcasts(last.operand(0));
  if (chain.middle->kind() != OpKind::Fusion || !chain.middle->shape().IsArray() || !only_user(*chain.middle))
    return {};
  for (int64_t i = 0; i < chain.middle->operand_count() && chain.first == nullptr; ++i) {
    const Instruction* first = BehindBitcasts(chain.middle->operand(i));
    if (!only_user(*first) || !only_user(*chain.middle->operand(i)) || !IsRowProduct(*first)) continue;
    chain.first = first;
    chain.rows.input = i;
  }
  if (chain.first == nullptr) return {};
  const gemm::Problem one = DotProblem(*chain.first), two = DotProblem(last);
  chain.rows.count = one.batches() * one.rows();
  chain.rows.input_row = one.columns();
  chain.rows.result_row = two.depth();
  chain.rows.unit = std::gcd(one.rows(), two.rows());
  if (two.batches() * two.rows() != chain.rows.count) return {};
  return chain;
}

int64_t RowBytes(const Chain& chain) {
  return chain.rows.input_row * Info(chain.first->shape().element_type()).host_bytes() +
         chain.rows.result_row * Info(chain.middle->shape().element_type()).host_bytes();
}

/// Reading the right factors once for each block costs less than to write and read the rows.
bool IsWorthIt(const Chain& chain) {
  if (chain.rows.count * RowBytes(chain) < kLeastBytes) return false;
  const auto bytes = [](const Instruction& dot) {
    const Shape& right = dot.operand(1)->shape();
    return right.ElementCount() / DotProblem(dot).batches() * Info(right.element_type()).host_bytes();
  };
  return bytes(*chain.first) + bytes(*chain.last) <= 2 * RowsOfBlock(chain) * RowBytes(chain);
}

void Form(const Chain& chain) {
  auto* last = const_cast<Instruction*>(chain.last);
  std::vector<Instruction*> members;  // users first
  for (Instruction* at = last->operand(0); at != chain.middle; at = at->operand(0)) members.push_back(at);
  auto* middle = const_cast<Instruction*>(chain.middle);
  members.push_back(middle);
  for (Instruction* at = middle->operand(chain.rows.input); at != chain.first; at = at->operand(0))
    members.push_back(at);
  members.push_back(const_cast<Instruction*>(chain.first));
  Instruction* fusion = WrapInFusion(last, FusionKind::Custom);
  for (Instruction* member : members) {
    FuseProducer(fusion, member);
    RemoveIfDead(member);
  }
}

}  // namespace

int64_t RowsOfBlock(const Chain& chain) {
  const int64_t rows = kBlockBytes / RowBytes(chain) / kRowUnit * kRowUnit;
  return std::min(std::max(rows, kLeastRows), chain.rows.unit);
}

std::optional<Chain> ChainOf(const Instruction& fusion) {
  if (fusion.kind() != OpKind::Fusion || fusion.attr<FusionAttrs>().kind != FusionKind::Custom) return {};
  return FindChain(*fusion.callee()->root());
}

void FormChains(Module& module) {
  for (Computation* computation : module.PostOrder()) {
    if (!RunsOnWholeValues(*computation)) continue;
    std::vector<const Instruction*> dots;
    for (const Instruction* inst : computation->instructions())
      if (inst->kind() == OpKind::Dot) dots.push_back(inst);
    llvm::DenseSet<const Instruction*> taken;
    for (const Instruction* dot : dots) {
      if (taken.contains(dot)) continue;
      const std::optional<Chain> chain = FindChain(*dot);
      if (!chain || taken.contains(chain->first) || !IsWorthIt(*chain) ||
          !PlanRowKernel(*chain->middle, chain->rows, nullptr, {}))
        continue;
      taken.insert(chain->first);
      Form(*chain);
    }
  }
}

}  // namespace hlo::cpu
