#include "backends/gpu/libraries/attention_text.h"

#include <cmath>

#include "llvm/Support/Format.h"
#include "passes/analysis/frontend_attributes.h"

namespace hlo::gpu {
namespace {

enum Dim : size_t { Batch, Heads, Places, Features };

/// The views of an attention, and of its gradients, by their names in texts.
struct NamedView {
  llvm::StringLiteral name;
  View LibraryAttention::* view;
};
constexpr NamedView kViews[] = {
    {"Q", &LibraryAttention::queries}, {"K", &LibraryAttention::keys},
    {"V", &LibraryAttention::values},  {"O", &LibraryAttention::result},
    {"bias", &LibraryAttention::bias}, {"statistics", &LibraryAttention::statistics}};
struct NamedGradient {
  llvm::StringLiteral name;
  View LibraryAttentionGradient::* view;
};
constexpr NamedGradient kGradients[] = {{"dO", &LibraryAttentionGradient::result},
                                        {"dQ", &LibraryAttentionGradient::queries},
                                        {"dK", &LibraryAttentionGradient::keys},
                                        {"dV", &LibraryAttentionGradient::values}};

void Print(llvm::raw_ostream& os, llvm::StringRef name, const View& view) {
  if (view.dims.empty()) return;
  os << name << '=' << view.array << ',' << view.offset << ',' << ToString(view.type);
  for (const ViewDim& dim : view.dims) os << ',' << dim.size << ',' << dim.stride;
  os << ';';
}

/// Reads what ToText() prints of a call.
class TextReader {
 public:
  explicit TextReader(const Instruction& call) : call_(call) {
    FrontendValue(call, kAttentionAttribute).split(parts_, ';', -1, /*KeepEmpty=*/false);
  }
  /// Every view lies within its array.
  Status Read(llvm::StringRef name, View& view) {
    const auto text = Find(name);
    if (!text) return {};
    llvm::SmallVector<llvm::StringRef, 12> words;
    text->split(words, ',');
    constexpr size_t kWords = 11, kType = 2, kFirst = 3;
    if (words.size() != kWords || words[0].getAsInteger(10, view.array) ||
        words[1].getAsInteger(10, view.offset))
      return Wrong(name);
    const auto type = ParseElementType(words[kType]);
    if (!type) return Wrong(name);
    view.type = *type;
    for (size_t i = kFirst; i < kWords; i += 2) {
      ViewDim dim{};
      if (words[i].getAsInteger(10, dim.size) || words[i + 1].getAsInteger(10, dim.stride))
        return Wrong(name);
      view.dims.push_back(dim);
    }
    return Lies(view) ? Status() : Wrong(name);
  }
  Status Read(llvm::StringRef name, std::optional<double>& number) {
    const auto text = Find(name);
    if (!text) return {};
    number.emplace();
    return text->getAsDouble(*number) || std::isnan(*number) ? Wrong(name) : Status();
  }
  Status Read(LibraryAttention& attention) {
    for (const auto& [name, view] : kViews) HLO_CHECK_OK(Read(name, attention.*view));
    std::optional<double> scale;
    HLO_CHECK_OK(Read("scale", scale));
    if (scale) attention.scale = *scale;
    HLO_CHECK_OK(Read("cap", attention.cap));
    return Read("causal", attention.masked);
  }
  [[nodiscard]] tl::unexpected<Diagnostic> Wrong(llvm::StringRef what) const {
    return Decline(call_.loc(), "its attribute {0} has no such {1}", kAttentionAttribute, what);
  }

 private:
  [[nodiscard]] std::optional<llvm::StringRef> Find(llvm::StringRef name) const {
    for (const llvm::StringRef part : parts_)
      if (const auto [key, value] = part.split('='); key == name) return value;
    return std::nullopt;
  }
  /// Of operands and the leaves of the result.
  [[nodiscard]] const Shape* ArrayOf(int64_t number) const {
    const Shape& result = call_.shape();
    if (number >= 0) return number < call_.operand_count() ? &call_.operand(number)->shape() : nullptr;
    if (!result.IsTuple()) return number == -1 ? &result : nullptr;
    const auto leaf = static_cast<size_t>(-1 - number);
    return leaf < result.tuple_shapes().size() ? &result.tuple_shapes()[leaf] : nullptr;
  }
  [[nodiscard]] bool Lies(const View& view) const {
    const Shape* const array = ArrayOf(view.array);
    if (array == nullptr || !array->IsArray() || array->element_type() != view.type || view.offset < 0)
      return false;
    const int64_t count = array->ElementCount();
    int64_t room = count - 1 - view.offset;  // elements behind the last one so far
    for (const ViewDim& dim : view.dims) {
      if (dim.size < 1 || dim.size > count || dim.stride < 1) return false;
      if (dim.size > 1 && dim.stride > room / (dim.size - 1)) return false;
      room -= dim.size > 1 ? dim.stride * (dim.size - 1) : 0;
    }
    return room >= 0;
  }

  const Instruction& call_;
  llvm::SmallVector<llvm::StringRef, 12> parts_;
};

using Sizes = llvm::SmallVector<int64_t, 4>;
Sizes SizesOf(const View& view) {
  Sizes sizes;
  for (const ViewDim& dim : view.dims) sizes.push_back(dim.size);
  return sizes;
}

/// The library has these.
bool AreTypes(const LibraryAttention& of) {
  constexpr ElementType kBiases[] = {ElementType::F16, ElementType::BF16, ElementType::F32};
  const ElementType type = of.queries.type;
  return (type == ElementType::F16 || type == ElementType::BF16) && of.keys.type == type &&
         of.values.type == type && of.result.type == type && llvm::is_contained(kBiases, of.bias.type) &&
         of.statistics.type == ElementType::F32;
}

/// The views are those of one attention.
bool FitTogether(const LibraryAttention& of) {
  if (!AreTypes(of) || of.queries.dims.empty() || of.keys.dims.empty() || of.values.dims.empty() ||
      of.result.dims.empty())
    return false;
  const Sizes q = SizesOf(of.queries), k = SizesOf(of.keys), v = SizesOf(of.values);
  if (k != Sizes{q[Batch], k[Heads], k[Places], q[Features]} || q[Heads] % k[Heads] != 0 ||
      v != Sizes{q[Batch], k[Heads], k[Places], v[Features]} ||
      SizesOf(of.result) != Sizes{q[Batch], q[Heads], q[Places], v[Features]})
    return false;
  if (!of.statistics.dims.empty() && SizesOf(of.statistics) != Sizes{q[Batch], q[Heads], q[Places], 1})
    return false;
  if (of.bias.dims.empty()) return true;
  const Sizes scores = {q[Batch], q[Heads], q[Places], k[Places]};
  return llvm::all_of(llvm::zip(SizesOf(of.bias), scores), [](const auto& sizes) {
    return std::get<0>(sizes) == 1 || std::get<0>(sizes) == std::get<1>(sizes);
  });
}
bool FitTogether(const LibraryAttentionGradient& of) {
  const LibraryAttention& a = of.attention;
  if (a.cap) return false;
  for (const View* view : {&of.result, &of.queries, &of.keys, &of.values})
    if (view->type != a.queries.type) return false;
  return FitTogether(a) && !a.statistics.dims.empty() && SizesOf(of.result) == SizesOf(a.result) &&
         SizesOf(of.queries) == SizesOf(a.queries) && SizesOf(of.keys) == SizesOf(a.keys) &&
         SizesOf(of.values) == SizesOf(a.values);
}

}  // namespace

std::string ToText(const LibraryAttention& attention) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const auto& [name, view] : kViews) Print(os, name, attention.*view);
  os << "scale=" << llvm::format("%.17g", attention.scale) << ';';
  if (attention.cap) os << "cap=" << llvm::format("%.17g", *attention.cap) << ';';
  if (attention.masked) os << "causal=" << llvm::format("%.17g", *attention.masked) << ';';
  return text;
}
std::string ToText(const LibraryAttentionGradient& gradient) {
  std::string text = ToText(gradient.attention);
  llvm::raw_string_ostream os(text);
  for (const auto& [name, view] : kGradients) Print(os, name, gradient.*view);
  return text;
}

bool IsAttentionCall(const Instruction& inst) {
  return inst.kind() == OpKind::Call && !FrontendValue(inst, kAttentionAttribute).empty();
}
bool IsInAttention(const Computation& computation) {
  return llvm::any_of(computation.callers(),
                      [](const Instruction* caller) { return IsAttentionCall(*caller); });
}
bool HasGradients(const Instruction& inst) {
  return inst.kind() == OpKind::Call && FrontendValue(inst, kAttentionAttribute).contains(";dQ=");
}

Result<LibraryAttention> AttentionOf(const Instruction& call) {
  TextReader reader(call);
  LibraryAttention attention;
  HLO_CHECK_OK(reader.Read(attention));
  if (!FitTogether(attention)) return reader.Wrong("attention");
  return attention;
}
Result<LibraryAttentionGradient> GradientOf(const Instruction& call) {
  TextReader reader(call);
  LibraryAttentionGradient gradient;
  HLO_CHECK_OK(reader.Read(gradient.attention));
  for (const auto& [name, view] : kGradients) HLO_CHECK_OK(reader.Read(name, gradient.*view));
  if (!FitTogether(gradient)) return reader.Wrong("gradient");
  return gradient;
}

llvm::StringRef WhyNoGradients(const Instruction& kernel) {
  if (kernel.kind() != OpKind::Fusion) return "";
  for (const Instruction* powers : kernel.callee()->InstructionsOf(OpKind::Exp))
    if (const llvm::StringRef why = FrontendValue(*powers, kWhyNoGradients); !why.empty()) return why;
  return "";
}

}  // namespace hlo::gpu
