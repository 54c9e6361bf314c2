#include "backends/gpu/libraries/attention.h"

#include "backends/gpu/libraries/attention_gradient.h"
#include "backends/gpu/libraries/attention_reader.h"
#include "ir/module.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

namespace hlo::gpu {
namespace {

using A = AttentionArrays;

/// Of features, as the library's kernels for attention have them.
constexpr int64_t kMostFeatures = 256, kMostGradientFeatures = 128, kFeatureStep = 8;
/// Attention of fewer products is not worth a call. Not measured.
constexpr int64_t kLeastMultiplies = int64_t{1} << 20;

/// A dimension of the attention and where it is in each array.
using Strides = llvm::SmallVector<int64_t, 8>;
struct Dim {
  int64_t size = 1;
  Strides strides = Strides(A::Count, 0);
};

/// Arrays of as many elements as the first ones, which follow the queries or the keys.
constexpr A::Array kOfQueries[] = {A::Queries,    A::Result,         A::Bias,
                                   A::Statistics, A::ResultGradient, A::QueriesGradient};

/// Puts together what is known of an attention's arrays.
class AttentionMaker {
 public:
  AttentionMaker(const AttentionArrays& arrays, const Instruction& kernel)
      : arrays_(arrays), kernel_(kernel) {}

  Result<LibraryAttention> Make() {
    HLO_CHECK_OK(CheckTypes());
    HLO_CHECK_OK(FindDims());
    HLO_CHECK_OK(CheckMask());
    LibraryAttention made;
    made.scale = arrays_.scale;
    made.cap = arrays_.cap;
    made.masked = arrays_.masked;
    made.queries = ViewOf(A::Queries, heads_, queries_);
    made.keys = ViewOf(A::Keys, groups_, keys_);
    made.values = ViewOf(A::Values, groups_, keys_);
    made.result = ViewOf(A::Result, heads_, queries_);
    if (HasBias()) made.bias = BiasView();
    HLO_CHECK_OK(CheckSizes(made));
    return made;
  }

  Result<LibraryAttentionGradient> MakeGradient() {
    LibraryAttentionGradient made;
    HLO_TRY(made.attention, Make());
    const ElementType type = arrays_.views[A::Queries].type;
    if (arrays_.views[A::ResultGradient].type != type)
      return Decline(kernel_.loc(), "its gradient is no {0}", ToString(type));
    made.attention.statistics = ViewOf(A::Statistics, heads_, queries_);
    made.result = ViewOf(A::ResultGradient, heads_, queries_);
    made.queries = ViewOf(A::QueriesGradient, heads_, queries_);
    made.keys = ViewOf(A::KeysGradient, groups_, keys_);
    made.values = ViewOf(A::ValuesGradient, groups_, keys_);
    for (const View* view : {&made.result, &made.queries, &made.keys, &made.values})
      HLO_CHECK_OK(CheckView(*view, kMostGradientFeatures));
    for (const View* view : {&made.attention.queries, &made.attention.values})
      HLO_CHECK_OK(CheckView(*view, kMostGradientFeatures));
    return made;
  }

 private:
  tl::unexpected<Diagnostic> Refuse(const char* why) const { return Decline(kernel_.loc(), "{0}", why); }

  [[nodiscard]] bool HasBias() const { return arrays_.views[A::Bias].array >= 0 || arrays_.made; }

  Status CheckTypes() const {
    const ElementType type = arrays_.views[A::Queries].type;
    for (const size_t array : {A::Queries, A::Keys, A::Values, A::Result})
      if (arrays_.views[array].type != type || (type != ElementType::F16 && type != ElementType::BF16))
        return Decline(kernel_.loc(), "the library has attention of f16 or bf16 alone, not of {0}",
                       ToString(arrays_.views[array].type));
    const View& bias = arrays_.views[A::Bias];
    constexpr ElementType kBiases[] = {ElementType::F16, ElementType::BF16, ElementType::F32};
    if (HasBias() && !llvm::is_contained(kBiases, bias.type))
      return Decline(kernel_.loc(), "the library has no bias of {0}", ToString(bias.type));
    return {};
  }

  static Dim DimOf(const ScoreAxis& axis) { return {axis.size, axis.strides}; }

  /// The batch, heads and queries may each be several dimensions of the scores, or none.
  Status FindDims() {
    const auto axes = AxesOf(arrays_.along, arrays_.sections);
    if (!axes) return Refuse("its dimensions are none of the library's");
    llvm::SmallVector<Dim, 3> outer, inner;
    for (const ScoreAxis& axis : *axes) {
      const bool is_key = axis.scores >= arrays_.keys.first && axis.scores < arrays_.keys.second;
      if (is_key && keys_.size > 1) return Refuse("its keys have several dimensions");
      if (is_key)
        keys_ = DimOf(axis);
      else
        (axis.scores >= arrays_.sections[2] ? outer : inner).push_back(DimOf(axis));
    }
    // Of one head all queries have the same, and so have heads that share keys.
    for (const Dim& dim : inner)
      if (dim.strides[A::Keys] != 0 || dim.strides[A::Values] != 0)
        return Refuse("queries or heads that share keys have values of their own");
    if (outer.size() > 2 || inner.size() > 2) return Refuse("it has more dimensions than the library");
    if (!outer.empty()) groups_ = outer.back();
    if (outer.size() == 2) batch_ = outer.front();
    // Of two dimensions of queries one is heads that share keys.
    heads_ = groups_;
    if (!inner.empty()) queries_ = inner.back();
    if (inner.size() < 2) return {};
    const bool first = arrays_.masked ? inner[0].strides[A::Rows] != 0 : inner[0].size > inner[1].size;
    queries_ = inner[first ? 0 : 1];
    const Dim& shared = inner[first ? 1 : 0];
    if (Join(groups_, shared)) return {};
    std::swap(groups_, batch_);
    if (Join(groups_, shared)) return {};
    return Refuse("heads that share keys do not lie beside each other");
  }

  /// Heads of all groups; false where they do not follow each other evenly.
  bool Join(const Dim& groups, const Dim& shared) {
    for (const size_t array : kOfQueries)
      if (groups.size > 1 && groups.strides[array] != shared.strides[array] * shared.size) return false;
    heads_ = shared;
    heads_.size *= groups.size;
    return true;
  }

  /// Rows are the queries' numbers, columns those of the keys.
  Status CheckMask() const {
    if (!arrays_.masked) return {};
    const auto counts = [&](const Dim& dim, A::Array array) {
      return dim.size == 1 || dim.strides[array] == 1;
    };
    for (const A::Array array : {A::Rows, A::Columns}) {
      const bool rows = array == A::Rows;
      const bool others = batch_.strides[array] == 0 && heads_.strides[array] == 0 &&
                          (rows ? keys_ : queries_).strides[array] == 0;
      if (!others || !counts(rows ? queries_ : keys_, array))
        return Refuse("it is masked otherwise than behind the query");
    }
    return {};
  }

  /// A dimension of one element lies as if the others followed it.
  static void Settle(View& view) {
    int64_t next = 1;
    for (ViewDim& dim : llvm::reverse(view.dims)) {
      if (dim.size == 1) dim.stride = next;
      next = std::max(next, dim.stride * dim.size);
    }
  }

  [[nodiscard]] View ViewOf(A::Array array, const Dim& heads, const Dim& places) const {
    View view = arrays_.views[array];
    const A::Features& features = arrays_.features[array];
    view.dims.clear();
    for (const Dim* dim : {&batch_, &heads, &places}) view.dims.push_back({dim->size, dim->strides[array]});
    view.dims.push_back({features.size, features.stride});
    Settle(view);
    return view;
  }

  [[nodiscard]] View BiasView() const {
    View view = arrays_.views[A::Bias];
    view.dims.clear();
    for (const Dim* dim : {&batch_, &heads_, &queries_, &keys_}) {
      const int64_t stride = dim->strides[A::Bias];
      view.dims.push_back({stride == 0 ? 1 : dim->size, stride});
    }
    Settle(view);
    return view;
  }

  Status CheckView(const View& view, int64_t most) const {
    const ViewDim& features = view.dims.back();
    if (features.size > most || features.size % kFeatureStep != 0)
      return Decline(kernel_.loc(), "the library has no heads of {0} features", features.size);
    if (features.stride != 1) return Refuse("features do not lie beside each other");
    if (llvm::any_of(view.dims, [](const ViewDim& dim) { return dim.stride <= 0; }))
      return Refuse("it reads an element for several");
    return {};
  }

  Status CheckSizes(const LibraryAttention& made) const {
    for (const View* view : {&made.queries, &made.keys, &made.values, &made.result}) {
      HLO_CHECK_OK(CheckView(*view, kMostFeatures));
    }
    if (!made.bias.dims.empty() && made.bias.dims.back().stride != 1)
      return Refuse("its bias does not lie as the library takes it");
    const int64_t scores = batch_.size * heads_.size * queries_.size * keys_.size;
    if (scores * (made.queries.dims.back().size + made.values.dims.back().size) < kLeastMultiplies)
      return Refuse("it is small");
    return {};
  }

  const AttentionArrays& arrays_;
  const Instruction& kernel_;
  Dim batch_, groups_, heads_, queries_, keys_;
};

Result<AttentionSteps> StepsOf(AttentionReader&& reader, const Instruction& kernel) {
  HLO_TRY(AttentionArrays arrays, reader.Read(kernel));
  HLO_TRY(LibraryAttention attention, AttentionOfArrays(arrays, kernel));
  AttentionSteps found{{}, std::move(attention), reader.arrays().vec(), std::move(arrays.made)};
  for (const Instruction* step : reader.Steps()) found.steps.push_back(const_cast<Instruction*>(step));
  return found;
}

}  // namespace

void PrintView(llvm::raw_ostream& os, const View& view, const Instruction& call) {
  os << ToString(view.type);
  if (view.array >= 0) os << " %" << call.operand(view.array)->name();
  if (view.offset != 0) os << " + " << view.offset;
  os << ' ';
  llvm::interleave(view.dims, os, [&](const ViewDim& dim) { os << dim.size; }, "x");
  os << '/';
  llvm::interleave(view.dims, os, [&](const ViewDim& dim) { os << dim.stride; }, ",");
}

Result<LibraryAttention> AttentionOfArrays(const AttentionArrays& arrays, const Instruction& at) {
  return AttentionMaker(arrays, at).Make();
}
Result<LibraryAttentionGradient> GradientOfArrays(const AttentionArrays& arrays, const Instruction& at) {
  return AttentionMaker(arrays, at).MakeGradient();
}

llvm::SmallVector<const View*, 6> LibraryAttention::Tensors() const {
  llvm::SmallVector<const View*, 6> all = {&queries, &keys, &values, &result};
  if (!bias.dims.empty()) all.push_back(&bias);
  if (!statistics.dims.empty()) all.push_back(&statistics);
  return all;
}

/// Weights are divided before they weigh values, or these are.
Result<AttentionSteps> AttentionFrom(const Instruction& kernel) {
  auto found = StepsOf(AttentionReader(), kernel);
  if (found) return found;
  if (auto later = StepsOf(AttentionReader(/*divides_later=*/true), kernel)) return later;
  return found;
}

const Instruction* ScoresOf(const Instruction& kernel) {
  if (kernel.kind() != OpKind::Fusion) return nullptr;
  const Computation& body = *kernel.callee();
  if (body.InstructionsOf(OpKind::Exp).size() != 1 || body.InstructionsOf(OpKind::Reduce).empty() ||
      !body.InstructionsOf(OpKind::Dot).empty())
    return nullptr;
  for (const Instruction* from : kernel.operands()) {
    while (from->kind() == OpKind::Bitcast) from = from->operand(0);
    if (from->kind() == OpKind::Fusion && from->callee()->InstructionsOf(OpKind::Dot).size() == 1)
      return from;
  }
  return nullptr;
}

std::string ToString(const LibraryAttention& attention, const Instruction& call) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "attention by f32";
  const auto print = [&](llvm::StringRef name, const View& view) {
    os << ", " << name << ' ';
    PrintView(os, view, call);
  };
  print("Q", attention.queries);
  print("K", attention.keys);
  print("V", attention.values);
  print("O", attention.result);
  if (attention.scale != 1) os << ", scale " << llvm::format("%.9g", attention.scale);
  if (attention.cap) os << ", cap " << llvm::format("%.9g", *attention.cap);
  if (!attention.bias.dims.empty()) print("bias", attention.bias);
  if (!attention.statistics.dims.empty()) print("statistics", attention.statistics);
  if (attention.masked) os << ", causal " << llvm::format("%.9g", *attention.masked);
  return text;
}

}  // namespace hlo::gpu
