// Devices of a run that are spread over several processes.
#pragma once
#include "ir/eval/device.h"
#include "ir/support/work.h"

namespace hlo {

/// What takes the place of DeviceGroup's meetings where the devices are spread over several processes. Every
/// process has the whole DeviceGroup and runs the devices that are here. Threads may share it.
class DeviceNetwork {
 public:
  using Values = DeviceGroup::Values;
  virtual ~DeviceNetwork() = default;
  /// The next place in the order in which programs begin to run; whoever has one enters with it.
  virtual uint64_t NextPlace() = 0;
  /// A program is going to run, whose texts positions point into: until Leave(). Blocks until those with the
  /// places before it have begun or left.
  virtual void Enter(uint64_t place, const Module& module) = 0;
  /// It has run, or could not: `why`. If it has not even begun, its run fails in all processes.
  virtual void Leave(uint64_t place, const Status& why) = 0;
  /// A program that cannot run here, as `why` says: its run fails in all processes.
  void Refuse(const Module& module, const Diagnostic& why);
  /// The run of the program that has entered last begins, on the devices of `group`: all processes begin the
  /// same one. It goes on until End(), beside those that have begun before. A program that has several runs
  /// in its place runs alone. `stop` is requested when the run fails anywhere. Errors: usage-devices, where
  /// the processes cannot share the devices; runtime-collective-timeout.
  virtual Status Begin(DeviceGroup& group, std::chrono::milliseconds timeout, StopToken& stop) = 0;
  /// Whether a device is in this process, of a run that has so many.
  [[nodiscard]] virtual bool IsHere(int64_t device, int64_t devices) const = 0;
  /// The run has ended here: waits for the other processes. All get the same answer: the first failure.
  virtual Status End(DeviceGroup& group) = 0;

  /// As the functions of DeviceGroup.
  virtual Result<Values> Exchange(Device& self, const Instruction& inst, llvm::ArrayRef<int64_t> members,
                                  Values contribution, DeviceGroup::Combine combine, const Flow& flow) = 0;
  virtual void Send(DeviceGroup& group, int64_t channel, int64_t source, int64_t target, Literal value) = 0;
  virtual Result<Literal> Receive(Device& self, const Instruction& inst, int64_t channel, int64_t source) = 0;
  virtual void Finish(Device& self) = 0;
  virtual void Fail(DeviceGroup& group, const Diagnostic& why) = 0;
};

/// Where a device is.
struct DevicePlace {
  enum State : uint8_t { Runs, Waits, Finished };
  int64_t device = 0, replica = 0, partition = 0;
  State state = Runs;
  std::string instruction;  // where it waits
  Loc loc;
};
/// That all devices wait for each other (runtime-deadlock), or that one has waited for too long
/// (runtime-collective-timeout), with a note for each that waits or has finished.
Diagnostic StuckError(bool all_wait, llvm::ArrayRef<DevicePlace> places);

/// What a device has come to a meeting with.
struct Brought {
  int64_t device;
  OpKind kind;
  std::vector<Shape> shapes;
};
std::vector<Shape> ShapesOf(llvm::ArrayRef<Literal> values);
bool SameShapes(llvm::ArrayRef<Shape> a, llvm::ArrayRef<Shape> b);
/// That `a`, which comes with `inst`, cannot meet `b`: runtime-collective-mismatch.
Diagnostic MismatchError(const Instruction& inst, const Brought& a, const Brought& b);

}  // namespace hlo
