#include "tools/run/profile.h"

#include <map>

#include "ir/op.h"
#include "ir/source_frames.h"
#include "ir/support/json.h"
#include "ir/support/line_table.h"
#include "ir/support/parallel.h"
#include "llvm/Support/Format.h"
#include "llvm/TargetParser/Host.h"
#include "passes/analysis/cost.h"
#include "passes/analysis/loop_facts.h"
#include "tools/run/benchmark.h"

namespace hlo {
namespace {

using llvm::StringRef;

/// A transcendental function costs about as much as so many operations.
constexpr double kTranscendental = 36;
constexpr double kOverhead = 0.05;

double Bytes(const Shape& shape) {
  double sum = 0;
  ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    if (leaf.IsArray()) sum += static_cast<double>(std::max<int64_t>(ByteSize(leaf), 0));
  });
  return sum;
}

bool Has(const Shape& shape, llvm::ArrayRef<ElementType> types) {
  bool found = false;
  ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    found |= leaf.IsArray() && llvm::is_contained(types, leaf.element_type());
  });
  return found;
}

/// Sums of products are most of what it does.
bool HasProduct(const Instruction& inst) {
  const auto is_product = [](OpKind kind) { return kind == OpKind::Dot || kind == OpKind::Convolution; };
  return is_product(inst.kind()) ||
         (inst.kind() == OpKind::Fusion && llvm::any_of(inst.callee()->instructions(), [&](const auto& each) {
            return is_product(each->kind());
          }));
}

/// Operations per second that the machine reaches in the types of the instruction.
double FlopsPeak(const Instruction& inst, const cpu::Peaks& peaks) {
  using enum ElementType;
  const bool product = HasProduct(inst);
  if (Has(inst.shape(), {F64, C128})) return product ? peaks.f64_products : peaks.f64;
  if (!product) return peaks.f32;
  const auto reads = [&](std::initializer_list<ElementType> types) {
    return llvm::any_of(inst.operands(),
                        [&](const Instruction* operand) { return Has(operand->shape(), types); });
  };
  if (reads({BF16, F16})) return peaks.bf16;
  if (reads({S8, U8})) return peaks.s8;
  return peaks.f32_products;
}

/// How often the cost of an instruction counts per call; nothing if that is not known.
std::optional<int64_t> Repetitions(const Instruction& inst) {
  if (inst.kind() != OpKind::While) return 1;
  // Nothing is changed: the functions that look at loops serve passes, too.
  const auto loop = AsTupleLoop(const_cast<Instruction&>(inst));  // NOLINT
  const auto trips = loop ? CountTrips(*loop) : std::nullopt;
  return trips ? std::optional(trips->count) : std::nullopt;
}

ProfileWork WorkOf(const Instruction& inst, const Profile::Entry& entry, const CostAnalysis& costs,
                   const cpu::Peaks& peaks) {
  ProfileWork work;
  const auto repetitions = entry.has_parts ? std::nullopt : Repetitions(inst);
  if (!repetitions) return work;
  const Cost& cost = costs.Of(inst);
  const double times = static_cast<double>(*repetitions) * static_cast<double>(entry.calls);
  const double bytes = std::max(cost.bytes, 0.0), result = Bytes(inst.shape());
  // A result that is larger than all that is moved is updated in place, as much read as written.
  const double written = inst.kind() == OpKind::While || result > bytes ? bytes / 2 : result;
  work.flops = std::max(cost.flops, 0.0) * times;
  work.transcendentals = std::max(cost.transcendentals, 0.0) * times;
  work.bytes_read = (bytes - written) * times;
  work.bytes_written = written * times;
  work.compute_ns = (work.flops + kTranscendental * work.transcendentals) / FlopsPeak(inst, peaks) * 1e9;
  work.memory_ns = bytes * times / peaks.LevelOf(bytes).bandwidth * 1e9;
  return work;
}

/// A part of a group's name, and what share of an instruction belongs to it.
struct Share {
  std::string name;
  double part = 1;
};

std::string NameIn(const Instruction& inst, GroupBy group) {
  if (group == GroupBy::Source) return SourceText(inst);
  return inst.metadata() ? inst.metadata()->op_name.str() : "";
}

/// Where the time of an instruction goes by source line or op_name: of a fusion to all its parts, by what
/// they cost. The largest share comes first.
std::vector<Share> SharesOf(const Instruction& inst, GroupBy group, const CostAnalysis& costs) {
  if (std::string own = NameIn(inst, group); inst.kind() != OpKind::Fusion || inst.callees().empty())
    return {{own.empty() ? "(unknown)" : std::move(own)}};
  std::map<std::string, double> weights;
  double total = 0;
  for (const Instruction* part : inst.callee()->instructions()) {
    if (CostsNothing(part->kind()) || part->kind() == OpKind::Constant) continue;
    const Cost& cost = costs.Of(*part);
    const double weight = 1 + std::max(cost.flops, 0.) + kTranscendental * std::max(cost.transcendentals, 0.);
    std::string name = NameIn(*part, group);
    weights[name.empty() ? "(unknown)" : std::move(name)] += weight;
    total += weight;
  }
  // What passes made and says nothing goes along with what does.
  if (weights.size() > 1)
    if (const auto unknown = weights.find("(unknown)"); unknown != weights.end()) {
      total -= unknown->second;
      weights.erase(unknown);
    }
  std::vector<Share> shares;
  for (const auto& [name, weight] : weights) shares.push_back({name, weight / total});
  if (shares.empty()) shares.push_back({"(unknown)"});
  llvm::sort(shares, [](const Share& x, const Share& y) {
    return std::tie(y.part, x.name) < std::tie(x.part, y.name);
  });
  return shares;
}

/// What an instruction computes, as lines and opcodes; passes keep positions where they change the rest.
std::vector<std::pair<int64_t, StringRef>> OriginsOf(const Instruction& inst, LineTable& lines) {
  std::vector<std::pair<int64_t, StringRef>> origins;
  const auto add = [&](const Instruction& part) {
    if (const int64_t line = lines.Line(part.loc()); line > 0) origins.emplace_back(line, part.info().text);
  };
  if (inst.kind() == OpKind::Fusion && !inst.callees().empty()) {
    for (const Instruction* part : inst.callee()->instructions())
      if (part->kind() != OpKind::Parameter && part->kind() != OpKind::Constant) add(*part);
  } else {
    add(inst);
  }
  llvm::sort(origins);
  origins.erase(llvm::unique(origins), origins.end());
  return origins;
}

ProfileRow RowOf(const Instruction& inst, const Profile::Entry& entry, const CostAnalysis& costs) {
  ProfileRow row;
  row.computation = inst.parent()->name().str();
  row.name = inst.name().str();
  row.opcode = inst.info().text.str();
  row.shape = ToString(inst.shape(), /*with_layout=*/false);
  row.library = entry.library;
  const std::vector<Share> sources = SharesOf(inst, GroupBy::Source, costs);
  if (sources.front().name != "(unknown)") {
    row.source = sources.front().name;
    row.more_sources = static_cast<int64_t>(sources.size()) - 1;
  }
  row.calls = entry.calls;
  row.time_ns = entry.time_ns;
  return row;
}

/// The groups that a row belongs to, and what share of it belongs to each.
std::vector<Share> GroupsOf(const Instruction& inst, const ProfileRow& row, GroupBy group,
                            const CostAnalysis& costs) {
  switch (group) {
    case GroupBy::Opcode: return {{row.opcode}};
    case GroupBy::Source:
    case GroupBy::OpName: return SharesOf(inst, group, costs);
    case GroupBy::Computation: return {{row.computation}};
    case GroupBy::Instruction: break;
  }
  return {{row.computation + "::" + row.name}};
}

/// Keeps of the texts what both rows have in common.
void Merge(ProfileRow& row, const ProfileRow& other) {
  for (const auto text :
       {&ProfileRow::computation, &ProfileRow::opcode, &ProfileRow::source, &ProfileRow::library})
    if (row.*text != other.*text) (row.*text).clear();
  row.calls += other.calls;
  row.time_ns += other.time_ns;
  row.work.Add(other.work);
}

std::string PeaksText(const cpu::Peaks& peaks) {
  std::string text =
      FormatScaled(peaks.f32, "FLOP/s") + " f32, " + FormatScaled(peaks.f64, "FLOP/s") + " f64";
  for (const cpu::Peaks::Level& level : peaks.levels)
    text += std::string(", ") + FormatScaled(level.bandwidth, "B/s") + " " + level.name;
  return text;
}

std::string Fixed(double value, int digits) {
  return llvm::formatv(("{0:F" + std::to_string(digits) + "}").c_str(), value).str();
}

std::string InstructionText(const ProfileRow& row) {
  return "%" + row.name + " " + row.shape + (row.library.empty() ? "" : " by " + row.library);
}

using Table = std::vector<std::vector<std::string>>;

/// Columns flush right, but for the last `left`.
void PrintTable(llvm::raw_ostream& out, const Table& table, size_t left) {
  std::vector<size_t> widths(table.front().size());
  for (const auto& row : table)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const auto& row : table) {
    std::string line;
    llvm::raw_string_ostream os(line);
    for (size_t i = 0; i < row.size(); ++i) {
      const auto width = static_cast<unsigned>(widths[i]);
      if (i + left >= row.size())
        os << llvm::left_justify(row[i], width) << "  ";
      else
        os << llvm::right_justify(row[i], width) << "  ";
    }
    out << StringRef(line).rtrim() << '\n';
  }
}

void WritePeaks(JsonWriter& json, const cpu::Peaks& peaks) {
  json.Object("peaks", [&] {
    json.Object("flops", [&] {
      for (const auto& [type, rate] :
           {std::pair("f32", peaks.f32), {"f64", peaks.f64}, {"bf16", peaks.bf16}, {"s8", peaks.s8}})
        json.Member(type, std::round(rate));
    });
    json.Array("bandwidth", [&] {
      for (const cpu::Peaks::Level& level : peaks.levels)
        json.Object([&] {
          json.Member("level", level.name);
          if (level.bytes != INT64_MAX) json.Member("bytes", level.bytes);
          json.Member("bytes_per_second", std::round(level.bandwidth));
        });
    });
  });
}

void WriteCounts(JsonWriter& json, const DeviceCounts& counts) {
  json.Object("device", [&] {
    for (const auto& [name, count] : {std::pair("launches", counts.launches),
                                      {"sectors", counts.sectors},
                                      {"fewest_sectors", counts.fewest_sectors},
                                      {"bytes_read", counts.bytes_read},
                                      {"bytes_written", counts.bytes_written},
                                      {"shared_cycles", counts.shared_cycles},
                                      {"fewest_shared_cycles", counts.fewest_shared_cycles},
                                      {"branches", counts.branches},
                                      {"divergent_branches", counts.divergent_branches}})
      json.Member(name, count);
  });
}

void WriteRow(JsonWriter& json, const ProfileRow& row) {
  if (!row.computation.empty()) json.Member("computation", row.computation);
  json.Member("name", row.name);
  if (!row.opcode.empty()) json.Member("opcode", row.opcode);
  if (!row.library.empty()) json.Member("library", row.library);
  json.Member("calls", row.calls);
  json.Member("time_ns", row.time_ns);
  json.Member("flops", std::round(row.work.flops));
  json.Member("transcendentals", std::round(row.work.transcendentals));
  json.Member("bytes_read", std::round(row.work.bytes_read));
  json.Member("bytes_written", std::round(row.work.bytes_written));
  json.Member("roofline_fraction", row.Roofline());
  json.Member("bound", row.Bound());
  if (row.counts) WriteCounts(json, *row.counts);
  if (!row.source.empty()) json.Member("source", row.source);
  if (row.origins.empty()) return;
  json.Array("origins", [&] {
    for (const auto& origin : row.origins)
      json.Object([&] {
        json.Member("line", origin.first);
        json.Member("opcode", origin.second);
      });
  });
}

}  // namespace

void ProfileWork::Add(const ProfileWork& other) {
  flops += other.flops;
  transcendentals += other.transcendentals;
  bytes_read += other.bytes_read;
  bytes_written += other.bytes_written;
  compute_ns += other.compute_ns;
  memory_ns += other.memory_ns;
}

void ProfileWork::Scale(double by) {
  for (double* number : {&flops, &transcendentals, &bytes_read, &bytes_written, &compute_ns, &memory_ns})
    *number *= by;
}

double ProfileRow::Roofline() const {
  return work.minimum_ns() / static_cast<double>(std::max<int64_t>(time_ns, 1));
}

const char* ProfileRow::Bound() const {
  if (Roofline() < kOverhead) return "overhead";
  return work.compute_ns >= work.memory_ns ? "compute" : "memory";
}

Result<cpu::Peaks> PeaksOf(StringRef option) {
  if (option == "auto") return cpu::MeasuredPeaks();
  double flops = 0, bandwidth = 0;
  llvm::SmallVector<StringRef> items;
  option.split(items, ',');
  for (const StringRef item : items) {
    const auto [name, value] = item.split('=');
    double* rate = name == "flops" ? &flops : name == "bandwidth" ? &bandwidth : nullptr;
    if (rate == nullptr || value.getAsDouble(*rate) || !(*rate > 0))
      return Error("usage-option", {},
                   "option '--peaks': found '{0}', expected auto or flops=X,bandwidth=Y, both per second and "
                   "above 0",
                   item);
  }
  if (flops == 0 || bandwidth == 0)
    return Error("usage-option", {}, "option '--peaks': found '{0}', expected both flops and bandwidth",
                 option);
  return cpu::Peaks{flops, flops, flops, flops, flops, flops, {{"memory", INT64_MAX, bandwidth}}, {}};
}

std::vector<ProfileRow> ProfileRows(const Profile& profile, const Module& module, const cpu::Peaks& peaks,
                                    GroupBy group) {
  const CostAnalysis costs(module);
  LineTable lines;
  std::map<std::string, ProfileRow> groups;
  // In the order of the module: sums of floats must not depend on addresses.
  for (const Computation* computation : module.PostOrder())
    for (const Instruction* inst : computation->instructions()) {
      const auto it = profile.entries().find(inst);
      if (it == profile.entries().end()) continue;
      ProfileRow whole = RowOf(*inst, it->second, costs);
      whole.work = WorkOf(*inst, it->second, costs, peaks);
      if (const auto counted = profile.counts().find(inst);
          counted != profile.counts().end() && group == GroupBy::Instruction)
        whole.counts = counted->second;
      int64_t left = whole.time_ns;
      const std::vector<Share> shares = GroupsOf(*inst, whole, group, costs);
      for (const Share& share : shares) {
        ProfileRow row = whole;
        row.time_ns =
            &share == &shares.back() ? left : std::llround(share.part * static_cast<double>(whole.time_ns));
        left -= row.time_ns;
        row.work.Scale(share.part);
        if (group == GroupBy::Instruction) {
          row.origins = OriginsOf(*inst, lines);
        } else {
          row.name = share.name;
          row.shape.clear();
          if (group == GroupBy::Source) row.source = share.name == "(unknown)" ? "" : share.name;
        }
        const auto [at, added] = groups.try_emplace(share.name, row);
        if (!added) Merge(at->second, row);
      }
    }
  std::vector<ProfileRow> rows;
  for (auto& [key, row] : groups) rows.push_back(std::move(row));
  llvm::sort(rows, [](const ProfileRow& a, const ProfileRow& b) {
    return std::tie(b.time_ns, a.name, a.computation) < std::tie(a.time_ns, b.name, b.computation);
  });
  return rows;
}

void PrintProfile(llvm::raw_ostream& out, const ModuleResult& result, const Profile& profile,
                  const cpu::Peaks& peaks, llvm::ArrayRef<ProfileRow> rows, int64_t top) {
  const auto runs = static_cast<double>(std::max<int64_t>(profile.runs(), 1));
  const auto total = static_cast<double>(std::max<int64_t>(profile.device_ns(), 1));
  int64_t covered = 0;
  for (const ProfileRow& row : rows) covered += row.time_ns;
  const auto median = static_cast<double>(Summarize(result.execute_ns).median);
  out << llvm::formatv("{0} on {1} ({2} threads): median {3} of {4}, rows cover {5:F1}%; peaks {6}\n",
                       result.module, result.platform, ThreadCount(), FormatTime(median), profile.runs(),
                       100 * static_cast<double>(covered) / total, PeaksText(peaks));
  Table table = {{"time", "%", "cum%", "calls", "GFLOP", "MB", "GFLOP/s", "GB/s", "%roof", "bound",
                  "instruction", "source"}};
  const bool groups = !rows.empty() && rows.front().shape.empty();
  if (groups) table.front()[10] = "group", table.front().pop_back();
  double sum = 0;
  const size_t shown = top == 0 ? rows.size() : std::min(rows.size(), static_cast<size_t>(top));
  for (const ProfileRow& row : rows.take_front(shown)) {
    const auto time = static_cast<double>(std::max<int64_t>(row.time_ns, 1));
    sum += time;
    const double work = row.work.flops + row.work.transcendentals;
    const double bytes = row.work.bytes_read + row.work.bytes_written;
    table.push_back({FormatTime(time / runs), Fixed(100 * time / total, 1), Fixed(100 * sum / total, 1),
                     Fixed(static_cast<double>(row.calls) / runs, row.calls % profile.runs() == 0 ? 0 : 1),
                     Fixed(work / runs * 1e-9, 3), Fixed(bytes / runs * 1e-6, 2), Fixed(work / time, 1),
                     Fixed(bytes / time, 1), Fixed(100 * row.Roofline(), 1), row.Bound(),
                     groups ? row.name : InstructionText(row)});
    if (!groups)
      table.back().push_back(row.source +
                             (row.more_sources > 0 ? " +" + std::to_string(row.more_sources) : ""));
  }
  PrintTable(out, table, groups ? 2 : 3);
  if (shown < rows.size())
    out << llvm::formatv("and {0} more: {1} of the time (--top)\n", rows.size() - shown,
                         Fixed(100 * (static_cast<double>(covered) - sum) / total, 1) + "%");
}

void PrintCounts(llvm::raw_ostream& out, const ModuleResult& result, const Profile& profile,
                 const cpu::Peaks& peaks, std::vector<ProfileRow> rows, int64_t top) {
  llvm::erase_if(rows, [](const ProfileRow& row) { return !row.counts; });
  llvm::sort(rows, [](const ProfileRow& a, const ProfileRow& b) {
    return std::tuple(-a.work.minimum_ns(), a.name) < std::tuple(-b.work.minimum_ns(), b.name);
  });
  const auto runs = static_cast<double>(std::max<int64_t>(profile.runs(), 1));
  double all = 0;
  uint64_t launches = 0, host = 0, libraries = 0;
  for (const ProfileRow& row : rows) {
    all += row.work.minimum_ns() / runs;
    launches += row.counts->launches;
    if (!row.library.empty())
      ++libraries;
    else if (row.counts->launches == 0 && row.opcode != "copy")
      ++host;
  }
  out << llvm::formatv(
      "{0} on {1}: {2} launches, {3} instructions without{4}; at the peaks of the target {5} "
      "({6})\n",
      result.module, result.platform, launches, host,
      libraries == 0 ? "" : ", " + std::to_string(libraries) + " by libraries", FormatTime(all),
      PeaksText(peaks));
  // Ratios: 1 is the best that accesses of these arrays can do.
  Table table = {{"at peaks", "bound", "calls", "launches", "MB read", "MB written", "sectors", "/fewest",
                  "banks/fewest", "divergent", "instruction", "source"}};
  const auto ratio = [](uint64_t count, uint64_t fewest) {
    return fewest == 0 ? std::string("-")
                       : Fixed(static_cast<double>(count) / static_cast<double>(fewest), 2);
  };
  const size_t shown = top == 0 ? rows.size() : std::min(rows.size(), static_cast<size_t>(top));
  for (const ProfileRow& row : llvm::ArrayRef(rows).take_front(shown)) {
    const DeviceCounts& counts = *row.counts;
    const double divergent = 100 * static_cast<double>(counts.divergent_branches) /
                             static_cast<double>(std::max<uint64_t>(counts.branches, 1));
    table.push_back({FormatTime(row.work.minimum_ns() / runs),
                     row.work.compute_ns >= row.work.memory_ns ? "compute" : "memory",
                     Fixed(static_cast<double>(row.calls) / runs, 0), std::to_string(counts.launches),
                     Fixed(static_cast<double>(counts.bytes_read) * 1e-6, 3),
                     Fixed(static_cast<double>(counts.bytes_written) * 1e-6, 3),
                     std::to_string(counts.sectors), ratio(counts.sectors, counts.fewest_sectors),
                     ratio(counts.shared_cycles, counts.fewest_shared_cycles), Fixed(divergent, 1) + "%",
                     InstructionText(row), row.source});
  }
  PrintTable(out, table, 3);
  if (shown < rows.size()) out << llvm::formatv("and {0} more (--top)\n", rows.size() - shown);
}

std::string ProfileJson(const ModuleResult& result, const Profile& profile, const cpu::Peaks& peaks,
                        llvm::ArrayRef<ProfileRow> rows, int64_t indent) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  JsonWriter json(stream, static_cast<unsigned>(indent));
  json.Object([&] {
    json.Member("schema", "hlo.profile/1");
    json.Member("tool", "hlo-run");
    json.Member("version", HLO_VERSION);
    json.Member("module", result.module);
    json.Member("platform", result.platform);
    json.Member("device", peaks.device.empty() ? llvm::sys::getHostCPUName() : llvm::StringRef(peaks.device));
    json.Member("threads", ThreadCount());
    json.Member("runs", profile.runs());
    json.Member("total_ns", profile.device_ns());
    WritePeaks(json, peaks);
    json.Array("rows", [&] {
      for (const ProfileRow& row : rows) json.Object([&] { WriteRow(json, row); });
    });
  });
  return text + "\n";
}

}  // namespace hlo
