#include "backends/executable.h"

#include "llvm/ADT/STLExtras.h"

namespace hlo {

namespace {

/// Values side by side, some of them on a device.
class DeviceTuple final : public DeviceArray {
 public:
  DeviceTuple(const Shape& shape, std::vector<DeviceValue> elements)
      : DeviceArray(shape), elements_(std::move(elements)) {}
  [[nodiscard]] llvm::ArrayRef<DeviceValue> elements() const { return elements_; }
  [[nodiscard]] Result<Literal> ToHost() const override {
    std::vector<Literal> literals;
    for (const DeviceValue& element : elements_) {
      HLO_TRY(literals.emplace_back(), element.ToHost());
    }
    return Literal::MakeTuple(std::move(literals));
  }

 private:
  std::vector<DeviceValue> elements_;
};

}  // namespace

DeviceValue DeviceValue::OfElements(std::vector<DeviceValue> elements) {
  if (llvm::any_of(elements, [](const DeviceValue& element) { return element.IsOnDevice(); })) {
    std::vector<Shape> shapes;
    for (const DeviceValue& element : elements) shapes.push_back(element.shape());
    return {std::make_shared<const DeviceTuple>(Shape::MakeTuple(shapes), std::move(elements))};
  }
  std::vector<Literal> literals;
  for (DeviceValue& element : elements) literals.push_back(std::move(element.host_));
  return {Literal::MakeTuple(std::move(literals))};
}

llvm::ArrayRef<DeviceValue> DeviceValue::elements() const {
  return IsTuple() ? static_cast<const DeviceTuple&>(*array_).elements() : llvm::ArrayRef<DeviceValue>();
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
