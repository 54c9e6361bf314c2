#include "ir/eval/device.h"

#include "ir/eval/device_network.h"
#include "ir/support/interrupt.h"
#include "llvm/ADT/Sequence.h"

namespace hlo {

std::vector<Shape> ShapesOf(llvm::ArrayRef<Literal> values) {
  std::vector<Shape> shapes;
  for (const Literal& v : values) shapes.push_back(v.shape());
  return shapes;
}

bool SameShapes(llvm::ArrayRef<Shape> a, llvm::ArrayRef<Shape> b) {
  return llvm::equal(a, b, [](const Shape& x, const Shape& y) { return Compatible(x, y); });
}

Diagnostic MismatchError(const Instruction& inst, const Brought& a, const Brought& b) {
  const auto describe = [](llvm::ArrayRef<Shape> shapes) {
    std::string text;
    for (const Shape& s : shapes) text += (text.empty() ? "" : ", ") + ToString(s, /*with_layout=*/false);
    return text;
  };
  return MakeError("runtime-collective-mismatch", inst.loc(),
                   "device {0} brings {1} of {2} where device {3} brings {4} of {5}", a.device,
                   ToString(a.kind), describe(a.shapes), b.device, ToString(b.kind), describe(b.shapes));
}

void DeviceNetwork::Refuse(const Module& module, const Diagnostic& why) {
  const uint64_t place = NextPlace();
  Enter(place, module);
  Leave(place, Error(why));
}

MeetingPoint MeetingPointOf(const Instruction& inst) {
  for (const FieldInfo& field : inst.attrs().info().fields) {
    if (field.name != "channel_id" || field.kind != FieldKind::OptInt) continue;
    const auto& channel = field.Get<std::optional<int64_t>>(inst.attrs().data());
    if (channel) return {nullptr, *channel};
  }
  return {&inst, 0};
}

Result<Literal> Device::FromHost(const Instruction& inst, const Shape& wanted) {
  Literal value;
  if (HostTransfers* host = group_.host()) {
    HLO_TRY(value, host->Take(id(), [&] { return group_.CheckOn(inst); }));
  } else if (infeed.empty()) {
    return Error("runtime-infeed", inst.loc(), "{0} of {1} finds no data: the queue of device {2} is empty",
                 ToString(inst.kind()), wanted, id());
  } else {
    value = std::move(infeed.front());
    infeed.pop_front();
  }
  if (!Compatible(value.shape(), wanted))
    return Error("runtime-infeed", inst.loc(), "{0} expects {1}, the next value of the queue is {2}",
                 ToString(inst.kind()), wanted, value.shape());
  return value.Unpack();
}

void Device::ToHost(Literal value) {
  if (HostTransfers* host = group_.host())
    host->Put(id(), std::move(value));
  else
    outfeed.push_back(std::move(value));
}

int64_t Device::id() const { return replica_ * group_.partitions() + partition_; }
uint64_t Device::rng_seed() const { return group_.rng_seed(); }

DeviceGroup::DeviceGroup(int64_t replicas, int64_t partitions, uint64_t rng_seed,
                         std::chrono::milliseconds timeout)
    : replicas_(replicas), partitions_(partitions), rng_seed_(rng_seed), timeout_(timeout) {
  for (int64_t r = 0; r < replicas; ++r)
    for (int64_t p = 0; p < partitions; ++p) devices_.push_back(std::make_unique<Device>(*this, r, p));
  waiting_.resize(devices_.size());
  finished_.resize(devices_.size());
}

void DeviceGroup::RunOnly(int64_t id) {
  alone_ = true;
  finished_.assign(finished_.size(), true);
  finished_[static_cast<size_t>(id)] = false;
}

Diagnostic DeviceGroup::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

Status DeviceGroup::CheckOn(const Instruction& inst) const {
  if (failed_) return Error(failure());
  if (Interrupted()) return Error(InterruptedError(inst.loc()));
  return {};
}

void DeviceGroup::Fail(const Diagnostic& why) {
  if (network_ != nullptr) network_->Fail(*this, why);
  Stop(why);
}

void DeviceGroup::Stop(const Diagnostic& why) {
  const std::lock_guard lock(mutex_);
  if (failed_) return;
  failure_ = why;
  failed_ = true;
  changed_.notify_all();
}

void DeviceGroup::Finish(Device& self) {
  if (network_ != nullptr) return network_->Finish(self);
  const std::lock_guard lock(mutex_);
  finished_[static_cast<size_t>(self.id())] = true;
  ++progress_;
  changed_.notify_all();
}

Diagnostic StuckError(bool all_wait, llvm::ArrayRef<DevicePlace> places) {
  constexpr size_t kMostNotes = 32;
  Diagnostic error =
      all_wait ? MakeError("runtime-deadlock", {}, "all devices wait for each other")
               : MakeError("runtime-collective-timeout", {}, "a collective did not complete in time");
  for (const DevicePlace& place : places) {
    if (place.state == DevicePlace::Waits) {
      if (!error.loc.valid()) error.loc = place.loc;
      error.Note(place.loc, llvm::formatv("device {0} (replica {1}, partition {2}) waits in %{3}",
                                          place.device, place.replica, place.partition, place.instruction)
                                .str());
    } else if (place.state == DevicePlace::Finished) {
      error.Note(llvm::formatv("device {0} has finished", place.device).str());
    }
    if (error.notes.size() == kMostNotes) break;
  }
  return error;
}

Diagnostic DeviceGroup::StuckError(bool all_wait) const {
  std::vector<DevicePlace> places;
  for (const auto& device : devices_) {
    const auto d = static_cast<size_t>(device->id());
    DevicePlace& place = places.emplace_back(
        DevicePlace{device->id(), device->replica(), device->partition(), DevicePlace::Runs, "", {}});
    if (finished_[d]) place.state = DevicePlace::Finished;
    if (const Instruction* at = waiting_[d]) {
      place.state = DevicePlace::Waits;
      place.instruction = at->name().str();
      place.loc = at->loc();
    }
  }
  return hlo::StuckError(all_wait, places);
}

Status DeviceGroup::WaitUntil(std::unique_lock<std::mutex>& lock, Device& self, const Instruction& inst,
                              llvm::function_ref<bool()> ready) {
  const auto me = static_cast<size_t>(self.id());
  const auto start = std::chrono::steady_clock::now();
  waiting_[me] = &inst;
  uint64_t seen = progress_;
  auto last_progress = start;
  while (!ready()) {
    if (failed_) {
      waiting_[me] = nullptr;
      return Error(failure_);
    }
    // Nobody can move any more: all devices wait or are done, and none of the waiting is ready.
    bool stuck = true;
    for (size_t d = 0; d < devices_.size(); ++d) stuck &= finished_[d] || waiting_[d] != nullptr;
    const auto now = std::chrono::steady_clock::now();
    if (progress_ != seen) seen = progress_, last_progress = now;
    // A member whose meeting is complete has not woken up yet: give it time before calling it a deadlock.
    const bool quiet = now - last_progress > std::chrono::milliseconds(200);
    if ((stuck && quiet) || now - last_progress > timeout_) {
      failure_ = StuckError(stuck);
      failed_ = true;
      changed_.notify_all();
      continue;
    }
    if (Interrupted()) {
      waiting_[me] = nullptr;
      return Error(InterruptedError());
    }
    changed_.wait_for(lock, std::chrono::milliseconds(50));
  }
  waiting_[me] = nullptr;
  return {};
}

Result<DeviceGroup::Values> DeviceGroup::Exchange(Device& self, const Instruction& inst,
                                                  llvm::ArrayRef<int64_t> members, Values contribution,
                                                  Combine combine, const Flow& flow) {
  const auto rank = static_cast<size_t>(llvm::find(members, self.id()) - members.begin());
  const auto all = llvm::to_vector(llvm::seq<size_t>(0, members.size()));
  if (members.size() == 1 || alone_) {
    std::vector<Values> contributions(members.size());
    if (inst.callees().empty())
      for (Values& peer : contributions)
        for (const Literal& value : contribution) peer.push_back(Literal::Zeros(value.shape()));
    contributions[rank] = std::move(contribution);
    HLO_TRY(std::vector<Values> results, combine(contributions, all));
    return std::move(results[rank]);
  }
  if (network_ != nullptr)
    return network_->Exchange(self, inst, members, std::move(contribution), combine, flow);
  std::unique_lock lock(mutex_);
  Key key{MeetingPointOf(inst), {members.begin(), members.end()}, 0};
  key.occurrence = self.NextOccurrence(key.what);
  Meeting& meeting = meetings_[key];
  if (meeting.contributions.empty()) {
    meeting.inst = &inst;
    meeting.contributions.resize(members.size());
    meeting.arrived.resize(members.size());
  } else {
    const auto first = static_cast<size_t>(llvm::find(meeting.arrived, true) - meeting.arrived.begin());
    const Values& other = meeting.contributions[first];
    if (meeting.inst->kind() != inst.kind() || !SameShapes(ShapesOf(other), ShapesOf(contribution))) {
      Diagnostic error = MismatchError(inst, {self.id(), inst.kind(), ShapesOf(contribution)},
                                       {members[first], meeting.inst->kind(), ShapesOf(other)});
      lock.unlock();
      Fail(error);
      return Error(error);
    }
  }
  meeting.contributions[rank] = std::move(contribution);
  meeting.arrived[rank] = true;
  ++progress_;
  if (++meeting.count == members.size()) {
    std::vector<Values> contributions = std::move(meeting.contributions);
    lock.unlock();
    Result<std::vector<Values>> results = combine(contributions, all);
    if (!results) {
      Fail(results.error());
      return Error(results.error());
    }
    lock.lock();
    meeting.results = std::move(*results);
    meeting.done = true;
    ++progress_;
    changed_.notify_all();
  } else {
    HLO_CHECK_OK(WaitUntil(lock, self, inst, [&] { return meeting.done; }));
  }
  Values mine = std::move(meeting.results[rank]);
  if (++meeting.left == members.size()) meetings_.erase(key);
  return mine;
}

void DeviceGroup::Send(int64_t channel, int64_t source, int64_t target, Literal value) {
  if (host_ && host_->Connects(channel)) return host_->Send(channel, source, target, std::move(value));
  if (network_ != nullptr) return network_->Send(*this, channel, source, target, std::move(value));
  const std::lock_guard lock(mutex_);
  channels_[{channel, source, target}].push_back(std::move(value));
  ++progress_;
  changed_.notify_all();
}

Result<Literal> DeviceGroup::Receive(Device& self, const Instruction& inst, int64_t channel, int64_t source) {
  if (alone_ && source != self.id()) return Literal::Zeros(inst.shape().tuple_shape(0));
  if (host_ && host_->Connects(channel))
    return host_->Receive(channel, source, self.id(), [&] { return CheckOn(inst); });
  if (network_ != nullptr) return network_->Receive(self, inst, channel, source);
  std::unique_lock lock(mutex_);
  auto& queue = channels_[{channel, source, self.id()}];
  HLO_CHECK_OK(WaitUntil(lock, self, inst, [&] { return !queue.empty(); }));
  Literal value = std::move(queue.front());
  queue.pop_front();
  return value;
}

}  // namespace hlo
