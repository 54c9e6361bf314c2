#include "passes/analysis/reducers.h"
#include "passes/analysis/value_facts.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/fold.h"
#include "passes/rules/reduction_rewrites.h"

namespace hlo {
namespace {

using namespace pattern;

const Window& WindowOf(const Match& m) { return m.root->attr<ReduceWindowAttrs>().window; }

bool IsUndilated(const WindowDim& d) {
  return d.stride == 1 && d.base_dilation == 1 && d.window_dilation == 1;
}
bool IsUnpadded(const WindowDim& d) { return d.pad_low == 0 && d.pad_high == 0; }

Instruction* WindowLike(Match& m, Instruction* x, Window window) {
  ReduceWindowAttrs attrs;
  attrs.window = std::move(window);
  return m.make.Add(OpKind::ReduceWindow, {x, m[Q]}, std::move(attrs), m.root->callees());
}

/// Windows of one element each, and how they pad.
std::optional<Padding> PaddingOfSizeOne(const Match& m) {
  Padding padding;
  for (const WindowDim& d : WindowOf(m).dims) {
    if (d.size != 1 || !IsUndilated(d)) return std::nullopt;
    padding.push_back({d.pad_low, d.pad_high, 0});
  }
  return padding;
}

Instruction* PaddedWithInit(Match& m, Instruction* x, const Padding& padding) {
  const bool padded = llvm::any_of(padding, [](const PaddingDim& p) { return p != PaddingDim(); });
  return padded ? m.make.Pad(x, m.root->operand(1), padding) : x;
}

/// The window over the value before padding by the initial value; nothing if it cannot say the same.
std::optional<Window> WindowBeforePad(const Match& m, const Padding& padding) {
  Window window = WindowOf(m);
  for (size_t i = 0; i < window.dims.size(); ++i) {
    WindowDim& d = window.dims[i];
    const PaddingDim& p = padding[i];
    // Cutting off elements and padding again is not the same as doing neither.
    if ((p.low < 0 && d.pad_low > 0) || (p.high < 0 && d.pad_high > 0) || d.base_dilation != 1)
      return std::nullopt;
    d.pad_low += p.low;
    d.pad_high += p.high;
    d.base_dilation = p.interior + 1;
  }
  return window;
}

}  // namespace

bool WindowStartsFromIdentity(const Match& m) {
  const auto op = ReducerOp(*m.root->callee());
  return op && IsIdentityOf(*op, *m.root->operand(1));
}

Instruction* WindowOfSizeOne(Match& m) {
  const auto padding = PaddingOfSizeOne(m);
  return padding ? PaddedWithInit(m, m.root->operand(0), *padding) : nullptr;
}

Instruction* WindowOfSizeOneFolded(Match& m) {
  const auto op = ReducerOp(*m.root->callee());
  const auto padding = PaddingOfSizeOne(m);
  if (!op || !padding) return nullptr;
  Instruction* x = m.root->operand(0);
  return PaddedWithInit(m, m.make.Binary(*op, m.make.Splat(x->shape(), m.root->operand(1)), x), *padding);
}

Instruction* PrefixSumOfConstant(Match& m) {
  Instruction* scalar = ScalarOrSplat(*m[A]);
  if (!scalar || scalar->kind() != OpKind::Constant || m[A]->shape().IsScalar()) return nullptr;
  int64_t along = -1;
  for (size_t i = 0; i < WindowOf(m).dims.size(); ++i) {
    const WindowDim& d = WindowOf(m).dims[i];
    if (d.size == 1 && IsUnpadded(d) && IsUndilated(d)) continue;
    const int64_t n = m[A]->shape().dim(static_cast<int64_t>(i));
    if (along >= 0 || d.size != n || d.pad_low != n - 1 || d.pad_high != 0 || !IsUndilated(d)) return nullptr;
    along = static_cast<int64_t>(i);
  }
  if (along < 0) return nullptr;
  Instruction* count = m.make.Binary(OpKind::Add, m.make.Iota(m.shape(), along), m.make.Full(m.shape(), 1));
  return m.make.Binary(OpKind::Multiply, m.make.Splat(m.shape(), scalar), count);
}

Instruction* WindowOfWholeDims(Match& m) {
  Instruction* x = m.root->operand(0);
  Dims dims;
  for (size_t i = 0; i < WindowOf(m).dims.size(); ++i) {
    const WindowDim& d = WindowOf(m).dims[i];
    if (!IsUnpadded(d) || !IsUndilated(d)) return nullptr;
    if (d.size == 1) continue;
    if (d.size != x->shape().dim(static_cast<int64_t>(i)) || d.reversal) return nullptr;
    dims.push_back(static_cast<int64_t>(i));
  }
  if (dims.empty()) return nullptr;
  return ReshapeIfNeeded(m.make, m.make.Reduce(x, m.root->operand(1), dims, m.root->callee()),
                         m.shape().dims());
}

Instruction* WindowOfPad(Match& m) {
  const auto op = ReducerOp(*m.root->callee());
  if (!op || !MayRepeatInit(*op, *m[Q]) || !IsSameScalar(*m[P], *m[Q])) return nullptr;
  auto window = WindowBeforePad(m, m.root->operand(0)->attr<PadAttrs>().padding);
  return window ? WindowLike(m, m[A], std::move(*window)) : nullptr;
}

Instruction* WindowOfConvertedPad(Match& m) {
  const auto op = ReducerOp(*m.root->callee());
  if (!op || !MayRepeatInit(*op, *m[Q]) || ConstnessOf(*m[P]) != Constness::Data) return nullptr;
  Instruction* converted = m.make.Convert(m[P], m.type());
  Folder folder;
  const Result<Literal> value = folder.Evaluate(*converted);
  if (!value || !IsSameScalar(*m.make.Constant(*value), *m[Q])) return nullptr;
  const Padding& padding = m.root->operand(0)->operand(0)->attr<PadAttrs>().padding;
  // Small paddings of a single dimension are not worth a window with padding.
  constexpr double kWorth = 0.1;
  int64_t windowed = 0, worth = 0;
  for (size_t i = 0; i < padding.size(); ++i) {
    const auto length = static_cast<double>(m.root->operand(0)->shape().dim(static_cast<int64_t>(i)));
    if (WindowOf(m).dims[i].size != 1) ++windowed;
    worth += static_cast<double>(padding[i].low + padding[i].high) >= kWorth * length;
  }
  if (windowed == 1 && worth == 0) return nullptr;
  auto window = WindowBeforePad(m, padding);
  return window ? WindowLike(m, m.make.Convert(m[A], m.type()), std::move(*window)) : nullptr;
}

Instruction* WindowOfSingleElement(Match& m) {
  const Shape& x = m.root->operand(0)->shape();
  Dims kept, sizes;
  bool spreads = false;
  for (int64_t i = 0; i < x.rank(); ++i) {
    const WindowDim& d = WindowOf(m).dims[static_cast<size_t>(i)];
    const bool alone =
        x.dim(i) == 1 && d.pad_low >= 0 && d.pad_high >= 0 && d.pad_low < d.size && d.pad_high < d.size;
    if (!IsUndilated(d) || !(alone || (d.size == 1 && IsUnpadded(d)))) return nullptr;
    spreads |= alone && m.shape().dim(i) != 1;
    if (x.dim(i) == 1) continue;
    kept.push_back(i);
    sizes.push_back(x.dim(i));
  }
  if (!spreads) return nullptr;
  return BroadcastTo(m.make, ReshapeIfNeeded(m.make, m.root->operand(0), sizes), m.shape().dims(), kept);
}

}  // namespace hlo
