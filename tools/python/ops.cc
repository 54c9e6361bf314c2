// The functions of hlo/elementwise.def and hlo/functions.def, under names that Python likes: a row there is a
// function here. Names of parameters and defaults are those of the rows' texts.
#include <array>
#include <deque>

#include "tools/python/native.h"

namespace hlo_python {
namespace {

namespace docs {
#define HLO_DOC(Name, text) \
  constexpr const char* Name = text;  // NOLINT(readability-identifier-naming): of functions
#include "tools/python/op_docs.def"
}  // namespace docs
constexpr const char* kUnary = "Of each element; the operand's shape.\n\nRaises InvalidArgument.";
constexpr const char* kBinary =
    "Of each pair of elements. Operands have one shape, or sizes of 1 are repeated, or one is a scalar, or "
    "has fewer\n"
    "dimensions: its dimension i is then `broadcast_dimensions[i]` of the other.\n\nRaises InvalidArgument.";

/// `ConvertElementType` -> `convert_element_type`; names that are words of Python end with `_`.
const char* SnakeCase(std::string_view name) {
  static std::deque<std::string> made;  // functions keep pointers to their names
  std::string text;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool upper = name[i] >= 'A' && name[i] <= 'Z';
    const bool follows = i > 0 && !(name[i - 1] >= 'A' && name[i - 1] <= 'Z') && name.substr(i, 2) != "1p";
    if (upper && follows) text += '_';
    text += static_cast<char>(upper ? name[i] - 'A' + 'a' : name[i]);
  }
  for (const char* word : {"and", "or", "not", "while"})
    if (text == word) text += '_';
  return made.emplace_back(std::move(text)).c_str();
}

// --- A row's parameters, read at compile time ---

struct Parameter {
  char name[40] = {};
  std::string_view otherwise;  // what stands behind `=`; empty: nothing
};

/// Calls `visit` with each parameter of the text `(type name = default, …)`.
template <class Visit>
constexpr size_t ForEachParameter(std::string_view text, Visit visit) {
  text = text.substr(1, text.size() - 2);
  size_t count = 0, begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i == text.size() ? ',' : text[i];
    if (c == '<' || c == '(' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == '}') --depth;
    if (c != ',' || (depth != 0 && i != text.size())) continue;
    if (const std::string_view one = text.substr(begin, i - begin); !one.empty()) visit(count++, one);
    begin = i + 1;
  }
  return count;
}

template <size_t kCount>
constexpr std::array<Parameter, kCount> ParametersOf(std::string_view text) {
  std::array<Parameter, kCount> made{};
  ForEachParameter(text, [&](size_t i, std::string_view one) {
    const size_t equals = one.find('=');
    if (equals != std::string_view::npos) {
      made[i].otherwise = one.substr(one.find_first_not_of(' ', equals + 1));
      one = one.substr(0, equals);
    }
    while (one.ends_with(' ')) one.remove_suffix(1);
    one.remove_prefix(one.find_last_of(" &*") + 1);
    one.copy(made[i].name, sizeof(made[i].name) - 1);
  });
  return made;
}

/// What Python has for the text of a default.
inline nb::object DefaultOf(std::string_view text) {
  if (text == "{}") return nb::tuple();
  if (text == "nullptr" || text == "std::nullopt") return nb::none();
  if (text == "true" || text == "false") return nb::bool_(text == "true");
  if (text == "\"\"") return nb::str("");
  return nb::int_(std::stoll(std::string(text)));
}

// --- Parameters of the library as those of Python's functions ---

template <class T>
struct Given {
  using Type = T;
  static T Pass(T value) { return value; }
};
template <>
struct Given<hlo::XlaOp> {
  using Type = const Op&;
  static hlo::XlaOp Pass(const Op& op) { return op.op; }
};
template <>
struct Given<hlo::Span<const hlo::XlaOp>> {
  using Type = const std::vector<Op>&;
  static std::vector<hlo::XlaOp> Pass(const std::vector<Op>& ops) {
    std::vector<hlo::XlaOp> made;
    for (const Op& op : ops) made.push_back(op.op);
    return made;
  }
};
template <class T>
struct Given<hlo::Span<const T>> {
  using Type = const std::vector<T>&;
  static const std::vector<T>& Pass(const std::vector<T>& list) { return list; }
};
template <>
struct Given<hlo::Span<const hlo::XlaComputation* const>> {
  using Type = const std::vector<const hlo::XlaComputation*>&;
  static Type Pass(Type list) { return list; }
};
template <>
struct Given<const hlo::PrecisionConfig*> {
  using Type = const std::optional<std::vector<hlo::PrecisionConfig::Precision>>&;
  /// Lives as long as the call.
  struct Config {
    std::optional<hlo::PrecisionConfig> config;
    operator const hlo::PrecisionConfig*() const {
      return config ? &*config : nullptr;
    }  // NOLINT(google-explicit-constructor)
  };
  static Config Pass(Type words) {
    Config made;
    if (words) made.config.emplace().operand_precision_ = *words;
    return made;
  }
};
template <>
struct Given<std::optional<std::string_view>> {
  using Type = const std::optional<std::string>&;
  static std::optional<std::string_view> Pass(Type text) {
    return text ? std::optional<std::string_view>(*text) : std::nullopt;
  }
};

/// The types of a row's parameters.
template <class... T>
struct Types {
  using Function = hlo::XlaOp (*)(hlo::XlaBuilder*, T..., hlo::Location);
};
template <class... T>
Types<T...> TypesOf(void (*)(T...));

/// A function of Python: `function` with its builder, that of the operands or, of a source, the first
/// parameter.
template <class Text, class... T, size_t... I>
void Define(nb::module_& ops, nb::class_<Builder>& builder, const char* name, const char* doc, bool source,
            typename Types<T...>::Function function, std::index_sequence<I...> /*all*/) {
  static constexpr std::array<Parameter, sizeof...(T)> kParameters = ParametersOf<sizeof...(T)>(Text::Get());
  const auto argument = []<size_t i>() {
    if constexpr (kParameters[i].otherwise.empty())
      return nb::arg(kParameters[i].name);
    else
      return nb::arg(kParameters[i].name) = DefaultOf(kParameters[i].otherwise);
  };
  if (source) {
    const auto call = [function](Builder& self, typename Given<T>::Type... values) {
      return Checked(function(&self, Given<T>::Pass(values)..., Here()));
    };
    builder.def(name, call, doc, argument.template operator()<I>()...);
    ops.def(name, call, doc, nb::arg("builder"), argument.template operator()<I>()...);
  } else {
    ops.def(
        name,
        [function](typename Given<T>::Type... values) {
          return Checked(function(nullptr, Given<T>::Pass(values)..., Here()));
        },
        doc, argument.template operator()<I>()...);
  }
}

/// What only says which of two lists braces of C++ mean.
template <class T>
constexpr bool kOnlyBraces =
    std::is_same_v<T, hlo::EmptyList> || std::is_same_v<T, std::initializer_list<hlo::ReplicaGroup>>;

/// One of the overloads of a function. Those for braces are none of Python's.
template <class Text, class... T>
void Bind(nb::module_& ops, nb::class_<Builder>& builder, const char* name, const char* doc, bool source,
          Types<T...> /*types*/, typename Types<T...>::Function function) {
  if constexpr ((!kOnlyBraces<T> && ...))
    Define<Text, T...>(ops, builder, name, doc, source, function, std::index_sequence_for<T...>());
}

#define HLO_UNARY(Name, Kind)                                                                           \
  void Add##Name(nb::module_& ops) {                                                                    \
    ops.def(                                                                                            \
        SnakeCase(#Name),                                                                               \
        [](const Op& operand) { return Checked(hlo::ops::Name(nullptr, operand.op, Here())); }, kUnary, \
        "operand"_a);                                                                                   \
  }
#define HLO_BINARY(Name, Kind)                                                                   \
  void Add##Name(nb::module_& ops) {                                                             \
    ops.def(                                                                                     \
        SnakeCase(#Name),                                                                        \
        [](const Op& lhs, const Op& rhs, const std::vector<int64_t>& broadcast_dimensions) {     \
          return Checked(hlo::ops::Name(nullptr, lhs.op, rhs.op, broadcast_dimensions, Here())); \
        },                                                                                       \
        kBinary, "lhs"_a, "rhs"_a, "broadcast_dimensions"_a = nb::tuple());                      \
  }
#define HLO_COMPARE(Name, direction, total) HLO_BINARY(Name, Compare)
#include "hlo/elementwise.def"

void AddElementwise(nb::module_& ops) {
#define HLO_UNARY(Name, Kind)               Add##Name(ops);
#define HLO_BINARY(Name, Kind)              Add##Name(ops);
#define HLO_COMPARE(Name, direction, total) Add##Name(ops);
#include "hlo/elementwise.def"
}

}  // namespace

void AddOps(nb::module_& m, nb::class_<Builder>& builder) {
  using namespace hlo_toolkit;  // NOLINT(google-build-using-namespace): the rows name its types
  nb::module_ ops =
      m.def_submodule("ops", "The functions that enqueue operations, named as XLA's builder names them.");
  AddElementwise(ops);
#define HLO_ROW(Name, parameters, source)                                      \
  {                                                                            \
    struct Text {                                                              \
      static constexpr std::string_view Get() { return #parameters; }          \
    };                                                                         \
    void Row parameters; /* never defined: has the row's types */              \
    using RowTypes = decltype(TypesOf(&Row));                                  \
    Bind<Text>(ops, builder, SnakeCase(#Name), docs::Name, source, RowTypes(), \
               static_cast<RowTypes::Function>(&hlo::ops::Name));              \
  }
#define HLO_FUNCTION(Name, parameters, arguments) HLO_ROW(Name, parameters, false)
#define HLO_SOURCE(Name, parameters, arguments)   HLO_ROW(Name, parameters, true)
#include "hlo/functions.def"
#undef HLO_FUNCTION
#undef HLO_SOURCE
#undef HLO_ROW
}

}  // namespace hlo_python
