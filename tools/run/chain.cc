#include "tools/run/chain.h"

namespace hlo {
namespace {

using llvm::StringRef;

/// `_1_0` as an index; nothing if the text is none.
std::optional<ShapeIndex> ParseIndex(StringRef text) {
  ShapeIndex index;
  while (text.consume_front("_")) {
    int64_t i = 0;
    if (text.empty() || !llvm::isDigit(text.front()) || text.consumeInteger(10, i)) return std::nullopt;
    index.push_back(i);
  }
  if (!text.empty()) return std::nullopt;
  return index;
}

/// An index whose first element stands alone: `0_1`.
std::optional<ShapeIndex> ParseNumbered(StringRef text) { return ParseIndex(("_" + text).str()); }

Status ParseOutput(StringRef text, const Shape& root, ChainLink& link) {
  StringRef rest = text;
  rest.consume_front("out");
  auto index = ParseNumbered(rest);
  // A result that is no tuple is output 0.
  if (index && !root.IsTuple() && index->size() == 1 && index->front() == 0) index->clear();
  if (!index || root.Subshape(*index) == nullptr)
    return Error("usage-name", {}, "option '--chain': no output '{0}' in the result {1}", text,
                 ToString(root, /*with_layout=*/false));
  link.output = *index;
  return {};
}

Status ParseArgument(StringRef text, const Module& module, ChainLink& link) {
  StringRef rest = text;
  rest.consume_front("%");
  const auto& parameters = module.entry()->parameters();
  for (const Instruction* parameter : parameters) {
    StringRef tail = rest;
    const bool named = tail.consume_front(parameter->name());
    const auto index = named ? ParseIndex(tail) : std::nullopt;
    if (!index || parameter->shape().Subshape(*index) == nullptr) continue;
    link.parameter = parameter->attr<ParameterAttrs>().number;
    link.index = *index;
    return {};
  }
  rest.consume_front("arg");
  auto index = ParseNumbered(rest);
  if (index && index->front() < static_cast<int64_t>(parameters.size())) {
    link.parameter = index->front();
    index->erase(index->begin());
    link.index = *index;
    if (module.entry()->parameter(link.parameter)->shape().Subshape(link.index) != nullptr) return {};
  }
  return Error("usage-name", {}, "option '--chain': no parameter '{0}'; the entry computation has {1}", text,
               parameters.size());
}

const Literal& At(const Literal& value, const ShapeIndex& index) {
  const Literal* at = &value;
  for (const int64_t i : index) at = &at->element(i);
  return *at;
}

Literal& MutableAt(Literal& value, const ShapeIndex& index) {
  Literal* at = &value;
  for (const int64_t i : index) at = &at->MutableElements()[static_cast<size_t>(i)];
  return *at;
}

}  // namespace

Result<std::vector<ChainLink>> ParseChain(llvm::ArrayRef<std::string> items, const Module& module) {
  std::vector<ChainLink> links;
  for (const StringRef item : items) {
    const auto [output, argument] = item.split('=');
    if (output.empty() || argument.empty())
      return Error("usage-option", {}, "option '--chain': found '{0}', expected OUT=ARG", item);
    ChainLink& link = links.emplace_back();
    const Shape& root = module.entry()->root()->shape();
    HLO_CHECK_OK(ParseOutput(output.trim(), root, link));
    HLO_CHECK_OK(ParseArgument(argument.trim(), module, link));
    const Shape& from = *root.Subshape(link.output);
    const Shape& to = *module.entry()->parameter(link.parameter)->shape().Subshape(link.index);
    if (!Compatible(from, to))
      return Error("usage-option", {}, "option '--chain': '{0}' feeds {1} into {2}", item,
                   ToString(from, /*with_layout=*/false), ToString(to, /*with_layout=*/false));
  }
  return links;
}

void FeedBack(llvm::ArrayRef<ChainLink> links, llvm::ArrayRef<Literal> results, Arguments& arguments) {
  for (const ChainLink& link : links)
    for (size_t d = 0; d < std::min(results.size(), arguments.size()); ++d) {
      if (!results[d].valid()) continue;  // of another process
      Literal& target = MutableAt(arguments[d][static_cast<size_t>(link.parameter)], link.index);
      target = At(results[d], link.output).WithShape(target.shape());
    }
}

}  // namespace hlo
