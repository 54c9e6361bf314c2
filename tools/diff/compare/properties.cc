#include "tools/diff/compare/properties.h"

#include <cstring>

#include "ir/print.h"

namespace hlo {
namespace {

using llvm::StringRef;

template <class F>
std::string Text(F&& print) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

/// Names or kinds of attributes that stand for a word of --ignore.
struct IgnoredField {
  DiffProperty property;
  StringRef name;                   // empty: any
  std::optional<FieldKind> kind{};  // nothing: any
  uint16_t flags = 0;               // one of these
};
constexpr IgnoredField kIgnoredFields[] = {
    {DiffProperty::Precision, "operand_precision"},       {DiffProperty::Precision, "algorithm"},
    {DiffProperty::Constants, "", FieldKind::Literal},    {DiffProperty::ChannelId, "", {}, kChannelId},
    {DiffProperty::Layout, "operand_layout_constraints"}, {DiffProperty::Layout, "constrain_layout"},
    {DiffProperty::Shape, "", FieldKind::Shape},          {DiffProperty::Shape, "", FieldKind::OptShapeList},
};

constexpr StringRef kAnnotations[] = {"operand_precision", "algorithm",  "operand_layout_constraints",
                                      "constrain_layout",  "channel_id", "parameter_replication",
                                      "schedule",          "api_version"};

/// Collects differences, or stops at the first.
class Comparison {
 public:
  Comparison(const Instruction& left, const Instruction& right, const DiffOptions& options,
             std::vector<PropertyChange>* changes)
      : left_(left), right_(right), options_(options), changes_(changes) {}

  bool Run() {
    if (left_.kind() != right_.kind())
      Differ("opcode", [&](auto& os, const Instruction& inst) { os << inst.info().text; });
    if (Goes() && !options_.Ignores(DiffProperty::Names) && left_.name() != right_.name())
      Differ("name", [](auto& os, const Instruction& inst) { os << '%' << inst.name(); });
    if (Goes()) CompareShapes("shape", left_.shape(), right_.shape());
    if (Goes()) CompareAttributes();
    if (Goes() && (left_.has_extras() || right_.has_extras())) CompareExtras();
    if (Goes() && !options_.Ignores(DiffProperty::Metadata)) CompareMetadata();
    return same_;
  }

 private:
  /// False once nothing more needs to be known.
  [[nodiscard]] bool Goes() const { return same_ || changes_ != nullptr; }

  void Add(std::string path, std::string left, std::string right, std::string note = {}) {
    same_ = false;
    if (changes_ != nullptr)
      changes_->push_back({std::move(path), std::move(left), std::move(right), std::move(note)});
  }

  template <class F>
  void Differ(StringRef path, F&& print) {
    if (changes_ == nullptr) {
      same_ = false;
      return;
    }
    Add(path.str(), Text([&](auto& os) { print(os, left_); }), Text([&](auto& os) { print(os, right_); }));
  }

  void CompareShapes(const std::string& path, const Shape& left, const Shape& right) {
    if (SameShapes(left, right, options_)) return;
    const bool like_tuples = left.IsTuple() && right.IsTuple() && left.tuple_size() == right.tuple_size();
    if (changes_ == nullptr) {
      same_ = false;
    } else if (like_tuples) {
      for (int64_t i = 0; i < left.tuple_size(); ++i)
        CompareShapes(path + "{" + std::to_string(i) + "}", left.tuple_shape(i), right.tuple_shape(i));
    } else if (!Same(left, right, {.dynamic = true}) || !left.IsArray()) {
      const bool layout = !options_.Ignores(DiffProperty::Layout);
      Add(path, ToString(left, layout), ToString(right, layout));
    } else if (Same(left, right, {.layout = true, .ignore_memory_space = true})) {
      Add(path + ".memory_space", std::to_string(left.layout().memory_space),
          std::to_string(right.layout().memory_space));
    } else {
      const auto layout = [](const Shape& shape) {
        return shape.has_layout() ? Text([&](auto& os) { PrintLayout(os, shape); }) : std::string();
      };
      Add(path + ".layout", layout(left), layout(right));
    }
  }

  void CompareAttributes() {
    const AttrInfo& info = left_.attrs().info();
    if (&info != &right_.attrs().info()) return;  // the opcodes differ, and that has been said
    for (const FieldInfo& field : info.fields) {
      if (!Goes()) return;
      if (!field.access || IsIgnored(field, options_)) continue;
      if (FieldsAgree(field)) continue;
      if (field.kind == FieldKind::Literal) {
        CompareLiterals(field);
        continue;
      }
      static const PrintOptions kPlain;
      const auto text = [&](const Instruction& inst) -> std::string {
        const bool absent =
            !(field.flags & kAlwaysPrint) && FieldIsDefault(inst.attrs().info(), field, inst.attrs().data());
        return absent ? "" : Text([&](auto& os) { PrintField(os, inst, field, kPlain); });
      };
      if (field.flags & kPositional) {
        const auto number = [&](const Instruction& inst) {
          return std::to_string(field.Get<int64_t>(inst.attrs().data()));
        };
        Add(field.name.str(), number(left_), number(right_));
      } else {
        Add(field.name.str(), changes_ ? text(left_) : "", changes_ ? text(right_) : "");
      }
    }
  }

  [[nodiscard]] bool FieldsAgree(const FieldInfo& field) const {
    const void *a = left_.attrs().data(), *b = right_.attrs().data();
    if (FieldEqual(field, a, b)) return true;
    if (field.kind == FieldKind::Shape) return SameShapes(field.Get<Shape>(a), field.Get<Shape>(b), options_);
    return false;
  }

  /// Small literals as they are; of large ones of one shape the first element that differs.
  void CompareLiterals(const FieldInfo& field) {
    if (changes_ == nullptr) {
      same_ = false;
      return;
    }
    const auto& a = field.Get<LiteralPtr>(left_.attrs().data());
    const auto& b = field.Get<LiteralPtr>(right_.attrs().data());
    constexpr int64_t kSmall = 10;
    const bool comparable = a && b && a->shape().IsArray() && Compatible(a->shape(), b->shape());
    if (!comparable || a->shape().ElementCount() <= kSmall) {
      const auto text = [](const LiteralPtr& literal) -> std::string {
        const bool whole = literal && literal->shape().IsArray() && literal->shape().ElementCount() <= kSmall;
        return whole ? Text([&](auto& os) { PrintLiteral(os, *literal); }) : "{...}";
      };
      Add(field.name.str(), text(a), text(b));
      return;
    }
    const Literal x = a->Unpack(), y = b->Unpack();
    const int64_t count = a->shape().ElementCount();
    const size_t stride = x.byte_size() / static_cast<size_t>(count);
    int64_t first = -1, different = 0;
    for (int64_t i = 0; i < count && x.byte_size() == y.byte_size(); ++i) {
      const size_t at = static_cast<size_t>(i) * stride;
      if (std::memcmp(x.data() + at, y.data() + at, stride) != 0 && different++ == 0) first = i;
    }
    if (first < 0) {  // sizes of dynamic dimensions, or values that are not there
      Add(field.name.str(), "{...}", "{...}");
      return;
    }
    std::string left = Text([&](auto& os) { PrintElement(os, x, first); });
    std::string right = Text([&](auto& os) { PrintElement(os, y, first); });
    Add(field.name.str() + "[" + std::to_string(first) + "]", std::move(left), std::move(right),
        std::to_string(different) + " of " + std::to_string(count) + " elements differ");
  }

  void CompareExtras() {
    const InstructionExtras &a = left_.extras(), &b = right_.extras();
    if (!options_.Ignores(DiffProperty::Sharding)) CompareShardings(a.sharding.get(), b.sharding.get());
    if (Goes() && !options_.Ignores(DiffProperty::FrontendAttributes))
      CompareFrontendAttributes(a.frontend_attributes, b.frontend_attributes);
    if (Goes() && !options_.Ignores(DiffProperty::Precision) && !(a.result_accuracy == b.result_accuracy))
      Differ("result_accuracy", [](auto& os, const Instruction& inst) {
        PrintResultAccuracy(os, inst.extras().result_accuracy);
      });
    if (Goes() && !options_.Ignores(DiffProperty::BackendConfig) && a.backend_config != b.backend_config)
      Add("backend_config", a.backend_config.str(), b.backend_config.str());
    if (Goes() && a.unknown_attributes != b.unknown_attributes)
      Add("unknown attributes", a.unknown_attributes.str(), b.unknown_attributes.str());
    if (Goes() && !options_.Ignores(DiffProperty::Metadata)) {
      CompareTexts("statistics", a, b, [](auto& os, const InstructionExtras& x) {
        if (x.statistics) PrintStatistics(os, *x.statistics);
      });
      CompareTexts("origin", a, b, [](auto& os, const InstructionExtras& x) {
        if (x.origin) PrintOrigin(os, *x.origin);
      });
    }
  }

  template <class F>
  void CompareTexts(StringRef path, const InstructionExtras& a, const InstructionExtras& b, F&& print) {
    std::string left = Text([&](auto& os) { print(os, a); }), right = Text([&](auto& os) { print(os, b); });
    if (left != right) Add(path.str(), std::move(left), std::move(right));
  }

  void CompareShardings(const Sharding* a, const Sharding* b) {
    if (a == b || (a && b && *a == *b)) return;
    const auto text = [](const Sharding* sharding) {
      return Text([&](auto& os) {
        if (sharding) PrintSharding(os, *sharding, /*with_metadata=*/false);
      });
    };
    std::string left = text(a), right = text(b);
    if (left != right) Add("sharding", std::move(left), std::move(right));
  }

  void CompareFrontendAttributes(llvm::ArrayRef<FrontendAttribute> a, llvm::ArrayRef<FrontendAttribute> b) {
    // Both are sorted by key.
    while (!a.empty() || !b.empty()) {
      const bool take_a = b.empty() || (!a.empty() && a.front().key <= b.front().key);
      const bool take_b = a.empty() || (!b.empty() && b.front().key <= a.front().key);
      const StringRef key = take_a ? a.front().key : b.front().key;
      const StringRef left = take_a ? a.front().value : "", right = take_b ? b.front().value : "";
      if (take_a != take_b || left != right)
        Add(("frontend_attributes." + key).str(), left.str(), right.str());
      if (take_a) a = a.drop_front();
      if (take_b) b = b.drop_front();
    }
  }

  void CompareMetadata() {
    static const OpMetadata kNone;
    const OpMetadata& a = left_.metadata() ? *left_.metadata() : kNone;
    const OpMetadata& b = right_.metadata() ? *right_.metadata() : kNone;
    if (a == b) return;
    for (const MetadataField& field : MetadataFields()) {
      const std::string path = ("metadata." + field.name).str();
      if (field.text != nullptr && a.*field.text != b.*field.text)
        Add(path, (a.*field.text).str(), (b.*field.text).str());
      if (field.number != nullptr && a.*field.number != b.*field.number)
        Add(path, std::to_string(a.*field.number), std::to_string(b.*field.number));
      if (field.numbers != nullptr && a.*field.numbers != b.*field.numbers) {
        const auto text = [&](const OpMetadata& m) {
          return Text([&](auto& os) { llvm::interleaveComma(m.*field.numbers, os); });
        };
        Add(path, text(a), text(b));
      }
    }
    if (a.unknown_fields != b.unknown_fields) Add("metadata", a.unknown_fields.str(), b.unknown_fields.str());
  }

  const Instruction &left_, &right_;
  const DiffOptions& options_;
  std::vector<PropertyChange>* changes_;
  bool same_ = true;
};

}  // namespace

bool IsIgnored(const FieldInfo& field, const DiffOptions& options) {
  return llvm::any_of(kIgnoredFields, [&](const IgnoredField& row) {
    return options.Ignores(row.property) && (row.name.empty() || row.name == field.name) &&
           (!row.kind || *row.kind == field.kind) && (row.flags == 0 || (row.flags & field.flags) != 0);
  });
}

bool IsAnnotation(const FieldInfo& field) { return llvm::is_contained(kAnnotations, field.name); }

bool SameShapes(const Shape& a, const Shape& b, const DiffOptions& options) {
  if (a == b || options.Ignores(DiffProperty::Shape)) return true;
  return Same(a, b,
              {.layout = !options.Ignores(DiffProperty::Layout),
               .ignore_memory_space = options.Ignores(DiffProperty::MemorySpace),
               .dynamic = true});
}

bool CompareProperties(const Instruction& left, const Instruction& right, const DiffOptions& options,
                       std::vector<PropertyChange>* changes) {
  return Comparison(left, right, options, changes).Run();
}

}  // namespace hlo
