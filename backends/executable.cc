#include "backends/executable.h"

#include "llvm/ADT/STLExtras.h"

namespace hlo {

DeviceValue DeviceValue::OfElements(std::vector<DeviceValue> elements) {
  DeviceValue tuple;
  if (llvm::any_of(elements, [](const DeviceValue& element) { return element.IsOnDevice(); })) {
    std::vector<Shape> shapes;
    for (const DeviceValue& element : elements) shapes.push_back(element.shape());
    tuple.tuple_ = std::make_shared<const TupleOf>(TupleOf{std::move(elements), Shape::MakeTuple(shapes)});
    return tuple;
  }
  std::vector<Literal> literals;
  for (DeviceValue& element : elements) literals.push_back(std::move(element.host_));
  tuple.host_ = Literal::MakeTuple(std::move(literals));
  return tuple;
}

Result<Literal> DeviceValue::Fetched() const {
  if (array_ != nullptr) return array_->ToHost();
  std::vector<Literal> literals;
  for (const DeviceValue& element : tuple_->elements) {
    HLO_TRY(Literal literal, element.ToHost());
    literals.push_back(std::move(literal));
  }
  return Literal::MakeTuple(std::move(literals));
}

std::vector<DeviceValue> ToValues(std::vector<Literal> literals) {
  return {std::make_move_iterator(literals.begin()), std::make_move_iterator(literals.end())};
}

std::vector<DeviceValue> PartsOf(Literal result) {
  std::vector<DeviceValue> parts;
  if (!result.shape().IsTuple()) {
    parts.emplace_back(std::move(result));
    return parts;
  }
  for (Literal& element : result.MutableElements()) parts.emplace_back(std::move(element));
  return parts;
}

Result<DeviceResult> Executable::RunOnValues(std::vector<std::vector<DeviceValue>> arguments,
                                             const ExecutionOptions& options) const {
  std::vector<std::vector<Literal>> literals(arguments.size());
  for (size_t d = 0; d < arguments.size(); ++d)
    for (DeviceValue& argument : arguments[d]) {
      HLO_TRY(Literal value, std::move(argument).ToHost());
      literals[d].push_back(std::move(value));
    }
  arguments.clear();  // who donated a value is not the owner of its memory any more
  HLO_TRY(ExecutionResult run, Run(std::move(literals), options));
  DeviceResult result;
  result.outfeeds = std::move(run.outfeeds);
  for (Literal& mine : run.results)
    result.results.push_back(mine.valid() ? PartsOf(std::move(mine)) : std::vector<DeviceValue>());
  return result;
}

}  // namespace hlo
