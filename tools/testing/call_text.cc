#include "tools/testing/call_text.h"

#include "ir/print.h"
#include "parser/parser.h"
#include "tools/arrays/fake_values.h"

namespace hlo::testing {

std::string ValueText::Text() const {
  if (!whole.empty()) return whole;
  return type + "[" + llvm::join(sizes, ",") + "]" + layout;
}

std::string CallText::ResultText() const {
  if (!tuple && results.size() == 1) return results[0].Text();
  std::string text = "(";
  for (const ValueText& result : results) text += (text.size() > 1 ? ", " : "") + result.Text();
  return text + ")";
}

namespace {

constexpr int64_t kLargestConstant = 200;  // elements

/// The lines that make operands.
class OperandWriter {
 public:
  OperandWriter(llvm::raw_ostream& os, Dice& dice) : os_(os), dice_(dice) {}

  /// Writes what makes an operand, and returns its name.
  std::string Write(const ValueText& value) {
    std::string name = "p" + std::to_string(number_++);
    if (value.whole == "token[]") {
      os_ << "  " << name << " = token[] after-all()\n";
      return name;
    }
    if (value.whole.empty() && llvm::any_of(value.sizes, IsBound)) return WriteDynamic(name, value);
    if (const std::string text = dice_.OneIn(6) ? ConstantOf(value) : ""; !text.empty()) {
      os_ << "  " << name << " = " << value.Text() << " constant(" << text << ")\n";
      return name;
    }
    os_ << "  " << name << " = " << value.Text() << " parameter(" << parameters_++ << ")\n";
    if (!value.whole.empty() || !dice_.OneIn(4)) return name;
    os_ << "  " << name << "c = " << value.Text() << " copy(" << name << ")\n";
    return name + "c";
  }

 private:
  static bool IsBound(const std::string& size) { return llvm::StringRef(size).starts_with("<="); }

  /// An array of the bounds whose sizes are set, one after the other.
  std::string WriteDynamic(std::string name, const ValueText& value) {
    ValueText now = value;
    for (std::string& size : now.sizes)
      if (IsBound(size)) size = size.substr(2);
    os_ << "  " << name << " = " << now.Text() << " parameter(" << parameters_++ << ")\n";
    for (size_t d = 0; d < value.sizes.size(); ++d) {
      int64_t bound = 0;
      if (!IsBound(value.sizes[d]) || llvm::StringRef(now.sizes[d]).getAsInteger(10, bound)) continue;
      now.sizes[d] = value.sizes[d];
      const std::string next = name + "d";
      os_ << "  " << next << "s = s32[] constant(" << dice_.Between(0, std::min<int64_t>(bound, 100))
          << ")\n";
      os_ << "  " << next << " = " << now.Text() << " set-dimension-size(" << name << ", " << next
          << "s), dimensions={" << d << "}\n";
      name = next;
    }
    return name;
  }

  /// The text of its elements; empty if they are many, or the shape is none.
  std::string ConstantOf(const ValueText& value) {
    const Result<Shape> shape = ParseShape(value.Text());
    const auto is_large = [](int64_t size) { return size > kLargestConstant; };
    if (!shape || !shape->IsArray() || shape->HasDynamicDimension() ||
        llvm::any_of(shape->dims(), is_large) || shape->ElementCount() > kLargestConstant)
      return "";
    ValueRule rule;
    // The largest parts of complex numbers are printed as more than there are.
    rule.kind = !IsComplex(shape->element_type()) && dice_.OneIn(3) ? ValueKind::Edge : ValueKind::Random;
    std::string text;
    llvm::raw_string_ostream os(text);
    PrintLiteral(os, MakeValue(*shape, rule, {dice_.Next(), 0, 0, 0}));
    return text;
  }

  llvm::raw_ostream& os_;
  Dice& dice_;
  int number_ = 0, parameters_ = 0;
};

std::string DictionaryText(llvm::ArrayRef<AttributeText> attributes) {
  std::string text;
  for (const AttributeText& attribute : attributes) {
    text += text.empty() ? "" : ", ";
    text += attribute.name + " = " + attribute.value;
    if (!attribute.type.empty()) text += " : " + attribute.type;
  }
  return "{" + text + "}";
}

void WriteAttributes(llvm::raw_ostream& os, const CallText& call) {
  os << ", custom_call_target=\"" << call.target << "\"";
  if (call.has_constraints) {
    os << ", operand_layout_constraints={";
    for (size_t i = 0; i < call.constraints.size(); ++i)
      os << (i > 0 ? ", " : "") << call.constraints[i].Text();
    os << "}";
  }
  for (const std::string& attribute : call.more) os << ", " << attribute;
  if (!call.config.empty())
    os << ", backend_config=" << call.config;
  else if (call.has_dictionary)
    os << ", backend_config=" << DictionaryText(call.dictionary);
}

/// What the program returns: all of the call, an element, or a tuple of some.
void WriteRoot(llvm::raw_ostream& os, const CallText& call, Dice& dice) {
  std::vector<size_t> kept;
  for (size_t i = 0; i < call.results.size(); ++i)
    if (dice.OneIn(2)) kept.push_back(i);
  std::string shapes, names;
  for (const size_t i : kept) {
    os << "  e" << i << " = " << call.results[i].Text() << " get-tuple-element(c), index=" << i << "\n";
    shapes += (shapes.empty() ? "" : ", ") + call.results[i].Text();
    names += (names.empty() ? "e" : ", e") + std::to_string(i);
  }
  os << "  ROOT r = (" << shapes << ") tuple(" << names << ")\n";
}

}  // namespace

std::string ModuleText(const CallText& call, Dice& dice) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "HloModule calls\n" << call.computations << "ENTRY e {\n";
  OperandWriter writer(os, dice);
  std::string names;
  for (const ValueText& operand : call.operands) names += (names.empty() ? "" : ", ") + writer.Write(operand);
  const bool parts = (call.tuple || call.results.size() > 1) && dice.OneIn(3);
  os << (parts ? "  c = " : "  ROOT c = ") << call.ResultText() << " custom-call(" << names << ")";
  WriteAttributes(os, call);
  os << "\n";
  if (parts) WriteRoot(os, call, dice);
  os << "}\n";
  return text;
}

}  // namespace hlo::testing
