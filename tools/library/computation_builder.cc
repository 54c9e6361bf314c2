#include "hlo/computation_builder.h"

#include "tools/library/builder_state.h"

namespace hlo_toolkit {

StatusOr<std::unique_ptr<Shape>> ComputationBuilder::GetShape(const ComputationDataHandle& operand) const {
  StatusOr<Shape> shape = XlaBuilder::GetShape(operand);
  if (!shape.ok()) return shape.status();
  return std::make_unique<Shape>(shape.ConsumeValueOrDie());
}

StatusOr<std::unique_ptr<Computation>> ComputationBuilder::Build(Location location) {
  StatusOr<Computation> made = XlaBuilder::Build(location);
  if (!made.ok()) return made.status();
  return std::make_unique<Computation>(*made);
}

std::unique_ptr<Computation> ComputationBuilder::BuildAndNoteError(Location location) {
  const Computation made = XlaBuilder::BuildAndNoteError(location);
  return made.IsNull() ? nullptr : std::make_unique<Computation>(made);
}

std::unique_ptr<ComputationBuilder> ComputationBuilder::CreateSubBuilder(std::string_view name) {
  auto made = std::make_unique<ComputationBuilder>(client(), name);
  BecomeParentOf(*made);
  return made;
}

StatusOr<std::unique_ptr<GlobalData>> ComputationBuilder::ComputeConstant(const ComputationDataHandle& handle,
                                                                          const Layout* output_layout) const {
  const StatusOr<Literal> value = XlaBuilder::ComputeConstant(handle, output_layout);
  if (!value.ok()) return value.status();
  const Client* where = client();
  if (!where) {
    const StatusOr<Client*> created = ClientLibrary::GetOrCreateClient();
    if (!created.ok()) return created.status();
    where = *created;
  }
  const std::vector<int> devices = where->addressable_devices();
  return where->TransferToServer(*value, devices.empty() ? 0 : devices.front());
}

}  // namespace hlo_toolkit
