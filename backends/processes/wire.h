// What processes say to each other, as bytes. All of them are the same program.
#pragma once
#include <string>
#include <vector>

#include "backends/processes/transport.h"
#include "ir/eval/device_network.h"
#include "ir/support/binary.h"

namespace hlo::processes {

/// The first number of a message. What belongs to a run has its number next.
enum class MessageKind : uint8_t {
  // Of a run, from process to process.
  Arrival,  // a device has come to a meeting
  Value,    // a device has sent a value
  // Of a run, to the first process.
  Report,  // where the devices of a process are
  Failed,  // something has gone wrong
  Late,    // a device has waited for too long
  Ended,   // the devices of a process have come to their ends
  // Of a run, from the first process.
  Ask,      // wants a report
  Verdict,  // the run has ended for all
  // Beside runs.
  Part,    // of what processes share, to the first one
  Whole,   // all parts, from there
  Result,  // what a device gave, to the first process
  Left,    // a process comes to its end, to the first one
  Gone,    // that one does, from there to the others
  Bye,     // all may end, from there
  Beat,    // "I am alive"
  Dead,    // that another one is not
  // Of channels between programs: to the first process,
  Offer,   // of a value
  Want,    // of one
  Unwant,  // of one no more
  // from there,
  Take,    // that another process takes a value, to the one that has it
  InVain,  // that nobody is left to send one
  // and from who has the value.
  Given,
};
/// A shape without layouts; read with the default ones.
void ArchiveShape(BinaryWriter& writer, const Shape& shape);
void ArchiveShape(BinaryReader& reader, Shape& shape);

/// An array of a value: in the message where it is small, else in memory that follows with a tag.
struct WireArray {
  std::vector<int64_t> dynamic_sizes;  // empty: the bounds
  uint64_t bytes = 0;
  int32_t tag = -1;  // -1: `small`
  std::string small;
};
HLO_BINARY_MEMBERS(WireArray, v.dynamic_sizes, v.bytes, v.tag, v.small)
/// A value: its shape without layouts, and its arrays in their order.
struct WireValue {
  Shape shape;
  std::vector<WireArray> arrays;
};
template <class A>
void Archive(A& a, WireValue& v) {
  ArchiveShape(a, v.shape);
  Archive(a, v.arrays);
}

/// A place in a text, by the name of the text.
struct WireLoc {
  std::string source;  // empty: none
  uint64_t begin = 0, end = 0;
};
HLO_BINARY_MEMBERS(WireLoc, v.source, v.begin, v.end)
WireLoc ToWire(const Loc& loc);
Loc FromWire(const WireLoc& loc, llvm::ArrayRef<SourcePtr> sources);

/// A diagnostic without the notes of its notes and without repairs.
struct WireDiagnostic {
  std::string id, message, file, context;
  WireLoc loc;
  std::vector<std::pair<WireLoc, std::string>> notes;
};
HLO_BINARY_MEMBERS(WireDiagnostic, v.id, v.message, v.file, v.context, v.loc, v.notes)
WireDiagnostic ToWire(const Diagnostic& diagnostic);
Diagnostic FromWire(const WireDiagnostic& diagnostic, llvm::ArrayRef<SourcePtr> sources);

/// The shape of something that is not sent, or not as it is.
struct WireShape {
  Shape shape;
};
template <class A>
void Archive(A& a, WireShape& v) {
  ArchiveShape(a, v.shape);
}

/// A device at a meeting.
struct WireArrival {
  std::string key;
  int64_t device = 0;
  uint64_t rank = 0, kind = 0;  // among the members; the opcode
  bool in_pieces = false;
  std::vector<WireShape> shapes;      // of what it brings,
  std::vector<WireValue> values;      // of which the receiver needs this; or, in pieces,
  std::vector<int32_t> pieces;        // tags of the receiver's pieces of the values
  std::vector<uint64_t> piece_bytes;  // of so many bytes together,
  std::vector<int32_t> results;       // and of the results of the sender's pieces
};
HLO_BINARY_MEMBERS(WireArrival, v.key, v.device, v.rank, v.kind, v.in_pieces, v.shapes, v.values, v.pieces,
                   v.piece_bytes, v.results)

struct WireSent {
  int64_t channel = 0, source = 0, target = 0;
  WireValue value;
};
HLO_BINARY_MEMBERS(WireSent, v.channel, v.source, v.target, v.value)

/// Where a device is.
struct WirePlace {
  int64_t device = 0;
  DevicePlace::State state = DevicePlace::Runs;
  std::string instruction;  // where it waits
  WireLoc loc;
};
HLO_BINARY_MEMBERS(WirePlace, v.device, v.state, v.instruction, v.loc)
/// Where the devices of a process are. Messages are counted so that none is under way unnoticed.
struct WireReport {
  uint64_t round = 0;
  bool stuck = false;     // all devices wait or have finished
  uint64_t quiet_ms = 0;  // since something came or went on there
  uint64_t sent = 0, received = 0;
  std::vector<WirePlace> places;
};
HLO_BINARY_MEMBERS(WireReport, v.round, v.stuck, v.quiet_ms, v.sent, v.received, v.places)

/// A device's result and what it wrote to the host.
struct WireResult {
  int64_t device = 0;
  WireValue value;
  std::vector<WireValue> outfeed;
};
HLO_BINARY_MEMBERS(WireResult, v.device, v.value, v.outfeed)

/// A message of these parts.
template <class... T>
std::string Pack(MessageKind kind, T... parts) {
  BinaryWriter writer;
  writer.Number(static_cast<uint64_t>(kind));
  ArchiveAll(writer, parts...);
  return std::move(writer).Take();
}
/// A part of a message; false: the bytes are no such part.
template <class T>
bool Unpack(BinaryReader& reader, T& part) {
  Archive(reader, part);
  return !reader.failed();
}

}  // namespace hlo::processes
