#include "ir/custom_call.h"

#include <limits>

#include "ir/attrs.h"
#include "ir/custom_call_signature.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo {
namespace {

using Misfit = std::optional<CustomCallMisfit>;

/// An entry `name = value : type` of a dictionary.
struct Entry {
  llvm::StringRef name, value, type;
};

/// One call beside its signature. The sizes of the letters are found while values are compared.
class Comparison {
 public:
  Comparison(const Instruction& call, const CustomCallSignature& signature)
      : call_(call), signature_(signature), element_(signature.element) {}

  Misfit Run() {
    if (Misfit m = ReadDictionary()) return m;
    if (Misfit m = CompareOperands()) return m;
    if (Misfit m = CompareResults()) return m;
    for (const Relation& relation : signature_.relations)
      if (Misfit m = CompareRelation(relation)) return m;
    for (const AttributeSpec& attribute : signature_.attributes)
      if (Misfit m = CompareRange(attribute)) return m;
    if (signature_.rule.empty()) return std::nullopt;
    return FindCustomCallRule(signature_.rule)(call_);
  }

  [[nodiscard]] std::optional<int64_t> ValueOf(llvm::StringRef name) const {
    if (const auto it = sizes_.find(name); it != sizes_.end()) return it->second.size;
    if (const auto it = given_.find(name); it != given_.end()) return it->second;
    for (const AttributeSpec& attribute : signature_.attributes)
      if (attribute.name == name) return ValueOf(attribute.otherwise);
    return std::nullopt;
  }

 private:
  /// A value of the call and what the signature says of it.
  struct Value {
    const ValueSpec* spec;
    const Shape* shape;
    const char* role;  // `operand` or `result`
    int64_t number;
    int64_t operand;  // -1 for results
  };
  struct Size {
    int64_t size;
    Value from;
  };
  struct Sizes {
    llvm::SmallVector<int64_t, 4> sizes;
    Value from;
  };

  [[nodiscard]] std::optional<int64_t> ValueOf(const SizeExpr& size) const {
    return size.Evaluate([this](llvm::StringRef name) { return ValueOf(name); });
  }

  template <class... Args>
  [[nodiscard]] Misfit No(int64_t operand, const char* format, Args&&... args) const {
    const std::string text = llvm::formatv(format, std::forward<Args>(args)...).str();
    return CustomCallMisfit{"target '" + call_.attr<CustomCallAttrs>().custom_call_target + "' " + text,
                            operand};
  }
  static std::string Describe(const Value& value) {
    return llvm::formatv("{0} {1} ({2}) {3}", value.role, value.number, value.spec->name, *value.shape).str();
  }
  /// ` with m = 4 of operand 0 (a) f32[4,3]` for the names that a size depends on.
  [[nodiscard]] std::string Because(const SizeExpr& size) const {
    std::string text;
    size.ForEachName([&](llvm::StringRef name) {
      const auto value = ValueOf(name);
      if (!value) return;
      text += text.empty() ? " with " : ", ";
      text += llvm::formatv("{0} = {1}", name, *value);
      if (const auto it = sizes_.find(name); it != sizes_.end()) text += " of " + Describe(it->second.from);
    });
    return text;
  }

  Misfit ReadDictionary();
  Misfit ReadEntry(const Entry& entry);
  Misfit CompareOperands();
  Misfit CompareResults();
  Misfit CompareValues(llvm::ArrayRef<ValueSpec> specs, llvm::ArrayRef<const Shape*> shapes, bool operands);
  Misfit CompareValue(const Value& value);
  Misfit CompareType(const Value& value);
  Misfit CompareLayout(const Value& value);
  Misfit CompareLeading(const Value& value, int64_t count);
  Misfit CompareSize(const Value& value, const SizeExpr& size, int64_t d);
  Misfit CompareRelation(const Relation& relation);
  Misfit CompareRange(const AttributeSpec& attribute);

  const Instruction& call_;
  const CustomCallSignature& signature_;
  std::optional<ElementType> element_;
  std::optional<Value> element_from_;
  llvm::StringMap<Size> sizes_;
  llvm::StringMap<Sizes> leading_;
  llvm::StringMap<int64_t> given_;  // attributes that are written
};

Misfit Comparison::ReadDictionary() {
  if (!signature_.has_dictionary) return std::nullopt;
  llvm::StringRef text = llvm::StringRef(call_.extras().backend_config).trim();
  if (text.empty()) return std::nullopt;
  if (!text.consume_front("{") || !text.consume_back("}"))
    return No(-1, "takes a dictionary of attributes, 'backend_config' is {0}",
              call_.extras().backend_config.str());
  llvm::SmallVector<llvm::StringRef, 8> items;
  if (!text.trim().empty()) text.split(items, ',');
  for (const llvm::StringRef item : items) {
    const auto [name, rest] = item.split('=');
    const auto [value, type] = rest.split(':');
    if (Misfit m = ReadEntry({name.trim(), value.trim(), type.trim()})) return m;
  }
  return std::nullopt;
}

Misfit Comparison::ReadEntry(const Entry& entry) {
  const auto spec =
      llvm::find_if(signature_.attributes, [&](const AttributeSpec& a) { return a.name == entry.name; });
  if (spec == signature_.attributes.end())
    return No(-1, "has no attribute '{0}', but 'backend_config' gives it the value {1}", entry.name,
              entry.value);
  if (given_.contains(spec->name))
    return No(-1, "has one attribute '{0}', but 'backend_config' has two", spec->name);
  int64_t number = 0;
  if (spec->type == "bool") {
    if (entry.value != "true" && entry.value != "false")
      return No(-1, "takes true or false for '{0}', but 'backend_config' has {1}", spec->name, entry.value);
    number = entry.value == "true" ? 1 : 0;
  } else if (spec->type == "string") {
    if (entry.value.size() < 2 || !entry.value.starts_with("\"") || !entry.value.ends_with("\""))
      return No(-1, "takes a string for '{0}', but 'backend_config' has {1}", spec->name, entry.value);
  } else {
    if (entry.value.getAsInteger(10, number))
      return No(-1, "takes a number for '{0}', but 'backend_config' has {1}", spec->name, entry.value);
    if (!entry.type.empty() && entry.type != spec->type)
      return No(-1, "takes '{0}' as {1}, but 'backend_config' has it as {2}", spec->name, spec->type,
                entry.type);
  }
  if (!spec->letters.empty() &&
      (number <= 0 || number > 127 || !llvm::StringRef(spec->letters).contains(static_cast<char>(number))))
    return No(-1, "takes one of the letters {0} for '{1}', but 'backend_config' has {2}", spec->letters,
              spec->name, number);
  given_[spec->name] = number;
  return std::nullopt;
}

Misfit Comparison::CompareOperands() {
  if (signature_.free_operands) return std::nullopt;
  llvm::SmallVector<const Shape*, 4> shapes;
  for (int64_t i = 0; i < call_.operand_count(); ++i) shapes.push_back(&CustomCallOperandShape(call_, i));
  return CompareValues(signature_.operands, shapes, /*operands=*/true);
}

Misfit Comparison::CompareResults() {
  if (signature_.free_results) return std::nullopt;
  llvm::SmallVector<const Shape*, 6> shapes;
  const bool one = signature_.results.size() == 1;
  if (!one && !call_.shape().IsTuple())
    return No(-1, "has a tuple as its result, but the call has {0}", call_.shape());
  if (call_.shape().IsTuple() && (!one || signature_.has_dictionary))
    for (const Shape& element : call_.shape().tuple_shapes()) shapes.push_back(&element);
  else
    shapes.push_back(&call_.shape());
  return CompareValues(signature_.results, shapes, /*operands=*/false);
}

Misfit Comparison::CompareValues(llvm::ArrayRef<ValueSpec> specs, llvm::ArrayRef<const Shape*> shapes,
                                 bool operands) {
  const char* const role = operands ? "operand" : "result";
  size_t next = 0, wanted = 0;
  for (const ValueSpec& spec : specs) {
    size_t count = 1;
    if (!spec.repeated.empty()) count = leading_.lookup(spec.repeated).sizes.size();
    wanted += count;
    for (size_t i = 0; i < count && next < shapes.size(); ++i, ++next) {
      const auto number = static_cast<int64_t>(next);
      if (Misfit m = CompareValue({&spec, shapes[next], role, number, operands ? number : -1})) return m;
    }
  }
  if (wanted != shapes.size())
    return No(-1, "takes {0} {1}s, but the call has {2}", wanted, role, shapes.size());
  return std::nullopt;
}

Misfit Comparison::CompareValue(const Value& value) {
  const ValueSpec& spec = *value.spec;
  const Shape& shape = *value.shape;
  if (!shape.IsArray())
    return No(value.operand, "takes {0} as {1} {2} ({3}), but the call has {4}", spec.text, value.role,
              value.number, spec.name, shape);
  if (Misfit m = CompareType(value)) return m;
  // A layout constraint may leave out which sizes are of the run.
  const Shape& own = value.operand < 0 ? shape : call_.operand(value.operand)->shape();
  if (own.HasUnboundedDimension() ||
      ((own.HasDynamicDimension() || shape.HasDynamicDimension()) && !spec.may_be_dynamic))
    return No(value.operand, "takes arrays of fixed sizes, but {0} has some of the run", Describe(value));
  if (Misfit m = CompareLayout(value)) return m;
  if (!spec.flag.empty() && ValueOf(spec.flag) == 0) {
    if (shape.IsScalar()) return std::nullopt;
    return No(value.operand, "takes a scalar as {0} {1} ({2}) where '{3}' is false, but the call has {4}",
              value.role, value.number, spec.name, spec.flag, shape);
  }
  const int64_t leading = shape.rank() - static_cast<int64_t>(spec.sizes.size());
  if (leading < 0 || (leading > 0 && spec.leading.empty()))
    return No(value.operand, "takes {0} as {1} {2} ({3}), but the rank of {4} is {5}", spec.text, value.role,
              value.number, spec.name, shape, shape.rank());
  if (!spec.leading.empty())
    if (Misfit m = CompareLeading(value, leading)) return m;
  for (size_t i = 0; i < spec.sizes.size(); ++i)
    if (Misfit m = CompareSize(value, spec.sizes[i], leading + static_cast<int64_t>(i))) return m;
  return std::nullopt;
}

Misfit Comparison::CompareType(const Value& value) {
  const ValueSpec& spec = *value.spec;
  const ElementType type = value.shape->element_type();
  if (spec.type == ValueSpec::Type::Bits) {
    if (Info(type).bits == spec.bits) return std::nullopt;
    return No(value.operand, "takes elements of {0} bits, but {1} has {2}", spec.bits, Describe(value),
              static_cast<int>(Info(type).bits));
  }
  ElementType wanted = spec.element;
  std::string why;
  if (spec.type != ValueSpec::Type::Fixed) {
    if (!element_ && !signature_.elements.empty() && !llvm::is_contained(signature_.elements, type)) {
      std::string all;
      for (const ElementType e : signature_.elements) all += (all.empty() ? "" : ", ") + ToString(e).str();
      return No(value.operand, "works on {0}, but {1} has {2}", all, Describe(value), ToString(type));
    }
    if (!element_) {
      element_ = type;
      element_from_ = value;
    }
    wanted = *element_;
    if (spec.type == ValueSpec::Type::Real) wanted = RealPartType(wanted);
    if (spec.type == ValueSpec::Type::Complex) wanted = ComplexType(wanted).value_or(wanted);
    if (element_from_) why = " as it is called with " + Describe(*element_from_);
  }
  if (type == wanted) return std::nullopt;
  return No(value.operand, "takes {0} as {1} {2} ({3}){4}, but the call has {5}", ToString(wanted),
            value.role, value.number, spec.name, why, *value.shape);
}

/// Routines of libraries see memory as it is.
Misfit Comparison::CompareLayout(const Value& value) {
  if (!signature_.has_dictionary || !value.shape->has_layout()) return std::nullopt;
  Layout layout = value.shape->layout();
  layout.memory_space = 0;
  if (layout.element_size_bits == Info(value.shape->element_type()).bits) layout.element_size_bits = 0;
  if (!layout.HasProperties()) return std::nullopt;
  return No(value.operand, "takes dense arrays, but {0} has the layout {1}", Describe(value),
            llvm::StringRef(ToString(*value.shape)).split('{').second.rtrim('}'));
}

Misfit Comparison::CompareLeading(const Value& value, int64_t count) {
  const llvm::ArrayRef<int64_t> sizes = value.shape->dims().take_front(static_cast<size_t>(count));
  const auto [it, first] = leading_.try_emplace(value.spec->leading, Sizes{{}, value});
  if (first) it->second.sizes.assign(sizes.begin(), sizes.end());
  if (llvm::ArrayRef<int64_t>(it->second.sizes) == sizes) return std::nullopt;
  return No(value.operand, "takes {0} as {1} {2} ({3}) with the leading sizes of {4}, but the call has {5}",
            value.spec->text, value.role, value.number, value.spec->name, Describe(it->second.from),
            *value.shape);
}

Misfit Comparison::CompareSize(const Value& value, const SizeExpr& size, int64_t d) {
  const int64_t found = value.shape->dim(d);
  if (signature_.has_dictionary && found > std::numeric_limits<int32_t>::max())
    return No(value.operand, "takes sizes up to {0}, but dimension {1} of {2} has {3}",
              std::numeric_limits<int32_t>::max(), d, Describe(value), found);
  if (size.kind == SizeExpr::Kind::Name) sizes_.try_emplace(size.name, Size{found, value});
  const auto wanted = ValueOf(size);
  if (!wanted || *wanted == found) return std::nullopt;
  return No(value.operand, "takes {0} as {1} {2} ({3}){4}: dimension {5} of {6} is {7}, expected {8} = {9}",
            value.spec->text, value.role, value.number, value.spec->name, Because(size), d, *value.shape,
            found, size.text, *wanted);
}

Misfit Comparison::CompareRelation(const Relation& relation) {
  const auto left = ValueOf(relation.left), right = ValueOf(relation.right);
  if (!left || !right || (relation.equal ? *left == *right : *left <= *right)) return std::nullopt;
  int64_t operand = -1;
  if (const auto it = sizes_.find(relation.left.name); it != sizes_.end()) operand = it->second.from.operand;
  return No(operand, "takes {0} {1} {2}, but {0} is {3}{4} and {2} is {5}{6}", relation.left.text,
            relation.equal ? "=" : "<=", relation.right.text, *left, Because(relation.left), *right,
            Because(relation.right));
}

Misfit Comparison::CompareRange(const AttributeSpec& attribute) {
  const auto low = ValueOf(attribute.low), high = ValueOf(attribute.high), value = ValueOf(attribute.name);
  if (!low || !high || !value || (*low <= *value && *value <= *high)) return std::nullopt;
  return No(-1, "takes {0} to {1} for '{2}', which is {3}: {4} is {1}{5}", *low, *high, attribute.name,
            *value, attribute.high.text, Because(attribute.high));
}

}  // namespace

const Shape& CustomCallOperandShape(const Instruction& call, int64_t i) {
  const auto& constraints = call.attr<CustomCallAttrs>().operand_layout_constraints;
  const auto place = static_cast<size_t>(i);
  return constraints && place < constraints->size() ? (*constraints)[place] : call.operand(i)->shape();
}

std::optional<CustomCallMisfit> FindCustomCallMisfit(const Instruction& call) {
  const auto* signature = FindCustomCallSignature(call.attr<CustomCallAttrs>().custom_call_target);
  if (signature == nullptr) return std::nullopt;
  return Comparison(call, *signature).Run();
}

int64_t CustomCallAttribute(const Instruction& call, llvm::StringRef name) {
  const auto* signature = FindCustomCallSignature(call.attr<CustomCallAttrs>().custom_call_target);
  Comparison comparison(call, *signature);
  (void)comparison.Run();
  return comparison.ValueOf(name).value_or(0);
}

}  // namespace hlo
