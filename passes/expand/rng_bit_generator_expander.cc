// rng-bit-generator-expander: the generators written out (passes.md §4.10, ops-structured §8.3).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: rng-bit-generator becomes integer arithmetic with the same bits and the same new state.
// Left alone: floats of 6 bits, states of no known size, results that are no pair, dynamic shapes.
#include "passes/pass.h"
#include "passes/rewrite/bits.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

struct RngBitGeneratorExpanderOptions {
  /// What rng_default means: `philox`, as on XLA's CPU and GPU, or `three_fry`.
  std::string default_algorithm = "philox";
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&RngBitGeneratorExpanderOptions::default_algorithm>("default",
                                                                   "of rng_default: philox or three_fry"),
};

/// The bits and the new state.
struct Generated {
  Expr bits, state;
};

/// The array as [outer, split, inner] around the dimension whose halves the two words of blocks fill: the
/// first of even size, else the first of maximal size.
struct SplitDims {
  int64_t outer = 1, split = 1, inner = 1;
  explicit SplitDims(llvm::ArrayRef<int64_t> dims) {
    if (dims.empty()) return;
    const int64_t* at = llvm::find_if(dims, [](int64_t d) { return d % 2 == 0; });
    if (at == dims.end()) at = std::max_element(dims.begin(), dims.end());
    split = *at;
    for (const int64_t* d = dims.begin(); d != dims.end(); ++d)
      if (d != at) (d < at ? outer : inner) *= *d;
  }
};

Expr Scalar(const Expr& state, int64_t word) { return state.Slice(0, word, word + 1).Reshape({}); }

Generated ThreeFry(const Expr& state, const Shape& bits) {
  const Expr key = Scalar(state, 0), counter = Scalar(state, 1);
  const SplitDims s(bits.dims());
  const int64_t half = (s.split + 1) / 2;
  const bool wide = Info(bits.element_type()).bits == 64;
  const int64_t blocks = wide ? bits.ElementCount() : s.outer * half * s.inner;
  const auto [x0, x1] = ThreeFryBlocks(key, counter, blocks);
  Expr result;
  if (wide) {
    result = x0.To(ElementType::U64) | (x1.To(ElementType::U64) << 32);
  } else {
    const int64_t pair[] = {s.outer, half, 1, s.inner};
    const Expr words[] = {x0.Reshape(pair), x1.Reshape(pair)};
    result = Concat(words, 2).Reshape({s.outer, 2 * half, s.inner}).Slice(1, 0, s.split);
  }
  const Expr new_state[] = {key.Reshape({1}), (counter + blocks).Reshape({1})};
  return {result, Concat(new_state, 0)};
}

Generated Philox(const Expr& state, const Shape& bits) {
  const int64_t n = bits.ElementCount();
  const bool wide = Info(bits.element_type()).bits == 64, two_words = state.dim(0) == 2;
  const int64_t per_block = wide ? 2 : 4, blocks = (n + per_block - 1) / per_block;
  const Expr key = Scalar(state, 0), low = Scalar(state, 1), high = two_words ? key : Scalar(state, 2);
  const std::array<Expr, 4> words = PhiloxBlocks(key, low, high, blocks);
  const auto [new_low, new_high] = AddToCounter(low, high, blocks);
  llvm::SmallVector<Expr, 3> new_state = {key.Reshape({1}), new_low.Reshape({1})};
  if (!two_words) new_state.push_back(new_high.Reshape({1}));
  return {wide ? PhiloxWords64(words, n) : PhiloxWords32(words, n), Concat(new_state, 0)};
}

/// The integers that have the bits of `type`; nothing if there are none.
std::optional<ElementType> IntegerFor(ElementType type) {
  if (IsIntegral(type)) return type;
  return IsFloat(type) ? UnsignedOfWidth(Info(type).bits) : std::nullopt;
}

bool Matches(const Instruction& inst, bool default_is_three_fry, bool& three_fry) {
  if (inst.kind() != OpKind::RngBitGenerator || !HasStaticShapes(inst)) return false;
  const Shape& shape = inst.shape();
  const Shape& state = inst.operand(0)->shape();
  const RngAlgorithm algorithm = inst.attr<RngBitGeneratorAttrs>().algorithm;
  three_fry =
      algorithm == RngAlgorithm::ThreeFry || (algorithm == RngAlgorithm::Default && default_is_three_fry);
  return shape.IsTuple() && shape.tuple_size() == 2 && shape.tuple_shape(1).IsArray() &&
         IntegerFor(shape.tuple_shape(1).element_type()) && state.element_type() == ElementType::U64 &&
         state.rank() == 1 && (state.dim(0) == 2 || (state.dim(0) == 3 && !three_fry));
}

llvm::ArrayRef<PassOptionRow> RngBitGeneratorExpanderOptions::Rows() { return kRows; }

Result<bool> RunRngBitGeneratorExpander(Module& module, const RngBitGeneratorExpanderOptions& options,
                                        PassContext& context) {
  const bool default_is_three_fry = options.default_algorithm == "three_fry";
  if (!default_is_three_fry && options.default_algorithm != "philox")
    return Error("usage-pass-option", {},
                 "option 'default' of pass 'rng-bit-generator-expander': found '{0}', expected 'philox' or "
                 "'three_fry'",
                 options.default_algorithm);
  bool three_fry = false;
  return ExpandMatches(
      module, context,
      [&](const Instruction& inst) { return Matches(inst, default_is_three_fry, three_fry); },
      [&](Instruction* inst) -> Result<Instruction*> {
        Matches(*inst, default_is_three_fry, three_fry);
        Maker make(inst);
        const Expr state(make, inst->operand(0));
        const Shape& bits = inst->shape().tuple_shape(1);
        const Generated made = three_fry ? ThreeFry(state, bits) : Philox(state, bits);
        const Expr integers = made.bits.Reshape(bits.dims()).To(*IntegerFor(bits.element_type()));
        return make.Tuple({made.state, integers.As(bits.element_type())});
      });
}

}  // namespace

HLO_DEFINE_PASS(RngBitGeneratorExpander, RngBitGeneratorExpanderOptions);

}  // namespace hlo
