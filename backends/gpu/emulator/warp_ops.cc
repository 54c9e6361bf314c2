// What lanes of a warp tell each other (ptx.md §4.2, §4.3).
#include "backends/gpu/emulator/block.h"
#include "backends/gpu/emulator/matrix_ops.h"

namespace hlo::gpu {
namespace {

using ptx::Kind;
using ptx::Mod;

template <class F>
void ForEachLane(const Meeting& meeting, F f) {
  for (unsigned lane = 0; lane < 32; ++lane)
    if (meeting.Has(lane)) f(lane);
}

/// Lane `j` that a lane reads, and whether it is within its segment; all as ptx.md §4.2 has it.
std::pair<int, bool> ShuffleSource(const ptx::Instruction& inst, int lane, uint64_t b, uint64_t c) {
  const int bval = static_cast<int>(b & 31), clamp = static_cast<int>(c & 31),
            segment = static_cast<int>(c >> 8 & 31);
  const int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
  int j = 0;
  if (inst.Has(Mod::Up)) j = lane - bval;
  if (inst.Has(Mod::Down)) j = lane + bval;
  if (inst.Has(Mod::Bfly)) j = lane ^ bval;
  if (inst.Has(Mod::Idx)) j = least | (bval & ~segment);
  const bool within = inst.Has(Mod::Up) ? j >= most : j <= most;
  return {within ? j : lane, within};
}

/// Of lanes that are not there nothing is known: this stands for it.
constexpr uint64_t kNobody = 0xdeadbeef;

void Shuffle(Meeting& meeting) {
  std::array<uint64_t, 32> values{};
  std::array<bool, 32> within{};
  ForEachLane(meeting, [&](unsigned lane) {
    const uint64_t* x = meeting.values[lane];
    const auto [from, inside] = ShuffleSource(*meeting.site.inst, static_cast<int>(lane), x[1], x[2]);
    const bool there = from >= 0 && from < 32 && meeting.Has(static_cast<unsigned>(from));
    values[lane] = there ? meeting.values[static_cast<size_t>(from)][0] : kNobody;
    within[lane] = inside;
  });
  ForEachLane(meeting, [&](unsigned lane) {
    meeting.values[lane][0] = values[lane];
    meeting.values[lane][1] = within[lane] ? 1 : 0;
  });
}

uint32_t BallotOf(const Meeting& meeting) {
  uint32_t ballot = 0;
  ForEachLane(meeting,
              [&](unsigned lane) { ballot |= static_cast<uint32_t>(meeting.values[lane][0] & 1) << lane; });
  return ballot;
}

void Give(Meeting& meeting, uint64_t value) {
  ForEachLane(meeting, [&](unsigned lane) { meeting.values[lane][0] = value; });
}

void Ballot(Meeting& meeting) { Give(meeting, BallotOf(meeting)); }

void Vote(Meeting& meeting) {
  const uint32_t ballot = BallotOf(meeting);
  const ptx::Instruction& inst = *meeting.site.inst;
  const bool all = ballot == meeting.mask, any = ballot != 0;
  Give(meeting, inst.Has(Mod::All) ? all : inst.Has(Mod::Any) ? any : all || !any);
}

void Match(Meeting& meeting) {
  const bool all = meeting.site.inst->Has(Mod::All);
  std::array<uint32_t, 32> same{};
  ForEachLane(meeting, [&](unsigned lane) {
    ForEachLane(meeting, [&](unsigned other) {
      if (meeting.values[lane][0] == meeting.values[other][0]) same[lane] |= 1U << other;
    });
  });
  ForEachLane(meeting, [&](unsigned lane) {
    const bool holds = same[lane] == meeting.mask;
    meeting.values[lane][0] = all && !holds ? 0 : same[lane];
    meeting.values[lane][1] = holds ? 1 : 0;
  });
}

void Redux(Meeting& meeting) {
  const ptx::Instruction& inst = *meeting.site.inst;
  const bool is_signed = ptx::IsSigned(inst.type());
  std::optional<uint32_t> result;
  ForEachLane(meeting, [&](unsigned lane) {
    const auto x = static_cast<uint32_t>(meeting.values[lane][0]);
    if (!result) {
      result = x;
      return;
    }
    const uint32_t y = *result;
    const bool less = is_signed ? static_cast<int32_t>(x) < static_cast<int32_t>(y) : x < y;
    if (inst.Has(Mod::Add)) result = x + y;
    if (inst.Has(Mod::Min)) result = less ? x : y;
    if (inst.Has(Mod::Max)) result = less ? y : x;
    if (inst.Has(Mod::And)) result = x & y;
    if (inst.Has(Mod::Or)) result = x | y;
    if (inst.Has(Mod::Xor)) result = x ^ y;
  });
  Give(meeting, *result);
}

void Elect(Meeting& meeting) {
  const auto leader = static_cast<unsigned>(llvm::countr_zero(meeting.mask));
  ForEachLane(meeting, [&](unsigned lane) {
    meeting.values[lane][0] = leader;
    meeting.values[lane][1] = lane == leader ? 1 : 0;
  });
}

void Activemask(Meeting& meeting) { Give(meeting, meeting.mask); }

constexpr std::pair<Kind, WarpFunction> kFunctions[] = {{Kind::Shfl, Shuffle},
                                                        {Kind::Vote, Vote},
                                                        {Kind::Ballot, Ballot},
                                                        {Kind::Match, Match},
                                                        {Kind::Redux, Redux},
                                                        {Kind::Elect, Elect},
                                                        {Kind::Activemask, Activemask},
                                                        {Kind::Ldmatrix, LoadMatrices},
                                                        {Kind::Stmatrix, StoreMatrices},
                                                        {Kind::Movmatrix, MoveMatrix},
                                                        {Kind::Mma, MultiplyMatrices}};

}  // namespace

WarpFunction WarpFunctionOf(Kind kind) {
  for (const auto& [of, function] : kFunctions)
    if (of == kind) return function;
  return nullptr;
}

}  // namespace hlo::gpu
