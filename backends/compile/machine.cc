#include "backends/compile/machine.h"

#include <cassert>

namespace hlo::compile {
namespace {

using Maker = const Machine& (*)();

Maker& Registered() {
  static Maker machine = nullptr;
  return machine;
}

}  // namespace

MachineRegistration::MachineRegistration(Maker machine) { Registered() = machine; }

const Machine& TargetMachine() {
  assert(Registered() != nullptr);
  return Registered()();
}

}  // namespace hlo::compile
