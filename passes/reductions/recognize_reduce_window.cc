// recognize-reduce-window: sums of parts of one array, each shifted against the other, are sums over windows
// (passes.md §2.2).
//
// Requires nothing. Preserves flat-calls, fusions, layouts, canonical-dots.
// Changes: a tree of additions that nobody else reads, over slices of one array, or over one array padded
// with zeros, becomes a reduce-window with init 0 if the starts form a grid of even steps. Left alone: other
// terms between, steps that differ, terms that come twice, dynamic shapes; floats under --strict-fp.
#include <set>

#include "passes/analysis/reducers.h"
#include "passes/analysis/side_effects.h"
#include "passes/analysis/value_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

constexpr size_t kMaxTerms = 1024;

/// A term: element i of the sum takes element `start` + i · stride of the array, zero outside of it.
struct Term {
  Instruction* array = nullptr;
  Dims starts, strides;
};

std::optional<Term> AsTerm(const Instruction& inst) {
  Term term;
  if (inst.kind() == OpKind::Slice) {
    for (const SliceRange& range : inst.attr<SliceAttrs>().slice) {
      term.starts.push_back(range.start);
      term.strides.push_back(range.stride);
    }
  } else if (inst.kind() == OpKind::Pad && IsAll(*inst.operand(1), 0)) {
    for (const PaddingDim& dim : inst.attr<PadAttrs>().padding) {
      if (dim.interior != 0 || dim.low < 0 || dim.high < 0) return std::nullopt;
      term.starts.push_back(-dim.low);
      term.strides.push_back(1);
    }
  } else {
    return std::nullopt;
  }
  term.array = inst.operand(0);
  return term;
}

bool IsPartOfSum(const Instruction& inst) {
  if (inst.kind() != OpKind::Add || inst.users().size() != 1 || inst.IsRoot() || HasControlEdges(inst))
    return false;
  const Instruction* user = inst.users().front();
  return user->kind() == OpKind::Add && user->operand(0) != user->operand(1) && user->shape() == inst.shape();
}

/// What is added up; nothing where one term does not fit.
std::optional<std::vector<Term>> TermsOf(const Instruction& sum) {
  std::vector<Term> terms;
  llvm::SmallVector<const Instruction*, 8> todo = {&sum};
  OpKind kind = OpKind::Slice;
  while (!todo.empty()) {
    const Instruction* at = todo.pop_back_val();
    for (const Instruction* o : at->operands()) {
      if (IsPartOfSum(*o)) {
        todo.push_back(o);
        continue;
      }
      auto term = AsTerm(*o);
      if (!term || terms.size() == kMaxTerms) return std::nullopt;
      if (terms.empty()) kind = o->kind();
      if (o->kind() != kind || term->array != (terms.empty() ? *term : terms.front()).array ||
          term->strides != (terms.empty() ? *term : terms.front()).strides)
        return std::nullopt;
      terms.push_back(std::move(*term));
    }
  }
  return terms;
}

/// Where windows start and how their elements lie, per dimension.
struct Grid {
  struct Dim {
    int64_t first = 0, count = 1, step = 1;
  };
  llvm::SmallVector<Dim, 4> dims;
};

std::optional<Grid> GridOf(llvm::ArrayRef<Term> terms) {
  Grid grid;
  size_t count = 1;
  for (size_t d = 0; d < terms.front().starts.size(); ++d) {
    std::set<int64_t> starts;
    for (const Term& term : terms) starts.insert(term.starts[d]);
    Grid::Dim dim{*starts.begin(), static_cast<int64_t>(starts.size()), 1};
    if (dim.count > 1) dim.step = *std::next(starts.begin()) - dim.first;
    if (*starts.rbegin() != dim.first + (dim.count - 1) * dim.step) return std::nullopt;
    int64_t expected = dim.first;
    for (const int64_t start : starts) {
      if (start != expected) return std::nullopt;
      expected += dim.step;
    }
    count *= starts.size();
    grid.dims.push_back(dim);
  }
  std::set<std::vector<int64_t>> all;
  for (const Term& term : terms) all.emplace(term.starts.begin(), term.starts.end());
  return all.size() == terms.size() && count == terms.size() ? std::optional(std::move(grid)) : std::nullopt;
}

Instruction* SumOfWindows(Instruction* sum, llvm::ArrayRef<Term> terms, const Grid& grid) {
  Maker make(sum);
  Instruction* x = terms.front().array;
  const bool padded = llvm::any_of(terms, [](const Term& term) {
    return llvm::any_of(term.starts, [](int64_t start) { return start < 0; });
  });
  ReduceWindowAttrs attrs;
  llvm::SmallVector<SliceRange, 4> ranges;
  for (size_t d = 0; d < grid.dims.size(); ++d) {
    const auto [first, count, step] = grid.dims[d];
    const int64_t stride = terms.front().strides[d];
    const int64_t size = x->shape().dim(static_cast<int64_t>(d)),
                  out = sum->shape().dim(static_cast<int64_t>(d));
    const int64_t last = first + (count - 1) * step;  // of the starts
    WindowDim window{count, stride, 0, 0, 1, step, false};
    const int64_t end = last + (out - 1) * stride + 1;
    if (padded) {
      window.pad_low = -first;
      window.pad_high = end - size;
    }
    ranges.push_back(padded ? SliceRange{0, size, 1} : SliceRange{first, end, 1});
    attrs.window.dims.push_back(window);
  }
  Instruction* part = make.Slice(x, ranges);
  const ElementType type = sum->shape().element_type();
  return make.Add(OpKind::ReduceWindow, {part, make.ScalarInt(type, 0)}, std::move(attrs),
                  {make.ScalarComputation(OpKind::Add, type)});
}

Result<bool> RunRecognizeReduceWindow(Module& module, const NoPassOptions&, PassContext& context) {
  const auto is_sum = [&](const Instruction& inst) {
    const Shape& shape = inst.shape();
    if (inst.kind() != OpKind::Add || IsPartOfSum(inst) || !HasStaticShapes(inst) || shape.rank() == 0 ||
        shape.ElementCount() == 0 || IsPred(shape.element_type()) ||
        (context.policy().strict_fp && RoundsByOrder(OpKind::Add, shape.element_type())))
      return false;
    const auto terms = TermsOf(inst);
    return terms && GridOf(*terms);
  };
  return ExpandMatches(module, context, is_sum, [](Instruction* sum) -> Result<Instruction*> {
    const auto terms = TermsOf(*sum);
    return SumOfWindows(sum, *terms, *GridOf(*terms));
  });
}

}  // namespace

HLO_DEFINE_PASS(RecognizeReduceWindow, NoPassOptions);

}  // namespace hlo
