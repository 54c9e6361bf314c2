// Texts of PTX, run: instructions on values, kernels with what they leave in memory or what is wrong with
// them.
#include "backends/gpu/emulator/device.h"

#include "backends/gpu/ptx/parser.h"
#include "gtest/gtest.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

namespace hlo::gpu {
namespace {

std::string Read(llvm::StringRef name) {
  const auto buffer =
      llvm::MemoryBuffer::getFile((llvm::Twine(HLO_SOURCE_DIR "/backends/gpu/emulator/") + name).str());
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

struct Loaded {
  std::unique_ptr<Device> device;
  std::unique_ptr<LoadedModule> module;
};

Loaded Load(const std::string& text, uint64_t seed = 0) {
  Loaded loaded;
  const auto source = std::make_shared<SourceBuffer>("test.ptx", text);
  auto module = ptx::ParseModule(source);
  EXPECT_TRUE(module) << (module ? "" : Render(module.error()));
  if (!module) return loaded;
  DeviceOptions options;
  options.memory = 16 << 20;
  options.seed = seed;
  options.sm = (*module)->sm;
  options.count = true;
  auto device = Device::Create(options);
  EXPECT_TRUE(device);
  auto code = LoadedModule::Load(*module, **device);
  EXPECT_TRUE(code) << (code ? "" : Render(code.error()));
  if (!code) return loaded;
  loaded.device = std::move(*device);
  loaded.module = std::move(*code);
  return loaded;
}

/// A register that a statement names: its class and number.
struct Named {
  llvm::StringRef kind;
  unsigned number;
  bool operator==(const Named&) const = default;
};
std::vector<Named> RegistersOf(llvm::StringRef statement) {
  std::vector<Named> found;
  while (true) {
    statement = statement.drop_until([](char c) { return c == '%'; });
    if (statement.empty()) return found;
    statement = statement.drop_front();
    const llvm::StringRef kind = statement.take_while(llvm::isAlpha);
    Named named{kind, 0};
    if (statement.drop_front(kind.size()).take_while(llvm::isDigit).getAsInteger(10, named.number)) continue;
    if (!llvm::is_contained(found, named)) found.push_back(named);
  }
}

unsigned BytesOf(llvm::StringRef kind) { return kind == "rd" || kind == "fd" ? 8 : kind == "rs" ? 2 : 4; }

struct Line {
  llvm::StringRef statement;
  std::vector<uint64_t> inputs, outputs;
};

std::vector<Line> Lines(llvm::StringRef text) {
  std::vector<Line> lines;
  llvm::SmallVector<llvm::StringRef> all;
  text.split(all, '\n', -1, false);
  const auto numbers = [](llvm::StringRef list) {
    std::vector<uint64_t> values;
    llvm::SmallVector<llvm::StringRef> words;
    list.split(words, ' ', -1, false);
    for (const llvm::StringRef word : words) {
      uint64_t value = 0;
      EXPECT_FALSE(word.getAsInteger(16, value)) << word.str();
      values.push_back(value);
    }
    return values;
  };
  for (const llvm::StringRef line : all) {
    if (line.starts_with("//")) continue;
    const auto [statement, comment] = line.split("  // ");
    const auto [in, out] = comment.split(" -> ");
    lines.push_back({statement, numbers(in), numbers(out)});
  }
  return lines;
}

/// One statement in a block of its own, with its inputs from memory and its outputs to memory.
std::string BlockOf(const Line& line, size_t number) {
  std::string text =
      "{ .reg .pred %p<10>; .reg .b16 %rs<10>; .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .f32 %f<10>; .reg "
      ".f64 %fd<10>; "
      ".reg .u32 t;\n";
  std::string after;
  unsigned in = 0, out = 0;
  for (const Named& reg : RegistersOf(line.statement)) {
    const std::string name = ("%" + reg.kind + llvm::Twine(reg.number)).str();
    const size_t at = 64 * number;
    const std::string type = ".b" + std::to_string(8 * BytesOf(reg.kind));
    if (reg.number == 0) {
      const std::string to = "[out+" + std::to_string(at + 8 * out++) + "]";
      after += reg.kind == "p" ? "selp.u32 t, 1, 0, " + name + "; st.global.u32 " + to + ", t;\n"
                               : "st.global" + type + " " + to + ", " + name + ";\n";
    } else if (in < line.inputs.size()) {
      const std::string from = "[in+" + std::to_string(at + 8 * in++) + "]";
      text += reg.kind == "p" ? "ld.global.u32 t, " + from + "; setp.ne.u32 " + name + ", t, 0;\n"
                              : "ld.global" + type + " " + name + ", " + from + ";\n";
    }
  }
  return text + line.statement.str() + "\n" + after + "}\n";
}

TEST(Emulator, InstructionsGiveTheirValues) {
  const std::string text = Read("semantics_test.ptx");
  const std::vector<Line> lines = Lines(text);
  ASSERT_GT(lines.size(), 150U);
  std::string module =
      ".version 8.5\n.target sm_90\n.address_size 64\n.entry k(.param .u64 pin, .param .u64 pout) {\n"
      ".reg .b64 in, out; ld.param.u64 in, [pin]; ld.param.u64 out, [pout];\n";
  for (size_t i = 0; i < lines.size(); ++i) module += BlockOf(lines[i], i);
  Loaded loaded = Load(module + "ret; }\n");
  ASSERT_TRUE(loaded.module);
  DeviceMemory& memory = loaded.device->memory();
  const uint64_t bytes = 64 * lines.size();
  const uint64_t in = *memory.Allocate(bytes), out = *memory.Allocate(bytes);
  memory.SetWritten(in, bytes, true);
  for (size_t i = 0; i < lines.size(); ++i)
    std::memcpy(reinterpret_cast<uint8_t*>(in) + 64 * i, lines[i].inputs.data(), 8 * lines[i].inputs.size());
  const uint64_t params[] = {in, out};
  const ptx::Function* entry = loaded.module->module().FindEntry("k");
  const Fault fault =
      loaded.device->Launch(*loaded.module, *entry, {}, reinterpret_cast<const uint8_t*>(params));
  ASSERT_FALSE(fault) << fault.text;
  for (size_t i = 0; i < lines.size(); ++i)
    for (size_t k = 0; k < lines[i].outputs.size(); ++k) {
      uint64_t found = 0;
      std::memcpy(&found, reinterpret_cast<uint8_t*>(out) + 64 * i + 8 * k, 8);
      EXPECT_EQ(llvm::utohexstr(found), llvm::utohexstr(lines[i].outputs[k])) << lines[i].statement.str();
    }
}

/// What the comments of a case say: `// KEY: VALUE`.
std::vector<std::pair<llvm::StringRef, llvm::StringRef>> Directives(llvm::StringRef text) {
  std::vector<std::pair<llvm::StringRef, llvm::StringRef>> found;
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n', -1, false);
  for (llvm::StringRef line : lines)
    if (line.consume_front("// ")) found.emplace_back(line.split(": "));
  return found;
}

std::vector<double> Values(llvm::StringRef list, size_t count) {
  std::vector<double> values;
  if (list == "iota")
    for (size_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i));
  if (list == "zero") values.assign(count, 0);
  if (!values.empty()) return values;
  llvm::SmallVector<llvm::StringRef> words;
  list.split(words, ' ', -1, false);
  for (const llvm::StringRef word : words) {
    auto [value, times] = word.split('*');
    double number = 0;
    size_t repeat = 1;
    uint64_t hex = 0;
    if (value.starts_with("0x") && !value.getAsInteger(0, hex))
      number = static_cast<double>(hex);
    else
      EXPECT_FALSE(value.getAsDouble(number)) << word.str();
    if (!times.empty()) EXPECT_FALSE(times.getAsInteger(10, repeat)) << word.str();
    values.insert(values.end(), repeat, number);
  }
  return values;
}

void Put(llvm::StringRef type, uint8_t* to, double value) {
  const auto put = [&](auto x) { std::memcpy(to, &x, sizeof x); };
  if (type == "f32") return put(static_cast<float>(value));
  if (type == "f64") return put(value);
  if (type == "u64") return put(static_cast<uint64_t>(value));
  if (type == "u16") return put(static_cast<uint16_t>(value));
  if (type == "u8") return put(static_cast<uint8_t>(value));
  put(static_cast<uint32_t>(static_cast<int64_t>(value)));
}
double Get(llvm::StringRef type, const uint8_t* from) {
  const auto get = [&](auto x) {
    std::memcpy(&x, from, sizeof x);
    return static_cast<double>(x);
  };
  if (type == "f32") return get(float{});
  if (type == "f64") return get(double{});
  if (type == "u64") return get(uint64_t{});
  if (type == "u16") return get(uint16_t{});
  if (type == "u8") return get(uint8_t{});
  return type == "s32" ? get(int32_t{}) : get(uint32_t{});
}
size_t SizeOf(llvm::StringRef type) {
  return type.ends_with("64") ? 8 : type.ends_with("16") ? 2 : type.ends_with("8") ? 1 : 4;
}

struct Argument {
  llvm::StringRef type;
  uint64_t address = 0;
  size_t count = 0;
};

/// `u32[64] iota`, `u32[64] unwritten`, `u32[64] freed` or `u32 5`.
Argument Pass(llvm::StringRef text, Device& device, std::vector<uint8_t>& params) {
  Argument argument;
  const auto [shape, values] = text.split(' ');
  const auto [type, dims] = shape.split('[');
  argument.type = type;
  const size_t at = dims.empty() ? SizeOf(type) : 8;
  while (params.size() % at != 0) params.push_back(0);
  params.resize(params.size() + at);
  uint8_t* place = params.data() + params.size() - at;
  if (dims.empty()) {
    Put(type, place, Values(values, 1).front());
    return argument;
  }
  EXPECT_FALSE(dims.drop_back().getAsInteger(10, argument.count));
  const uint64_t bytes = argument.count * SizeOf(type);
  argument.address = *device.memory().Allocate(bytes);
  if (values == "freed") {
    device.memory().Release(argument.address);
  } else if (values != "unwritten") {
    device.memory().SetWritten(argument.address, bytes, true);
    const std::vector<double> numbers = Values(values, argument.count);
    for (size_t i = 0; i < std::min(numbers.size(), argument.count); ++i)
      Put(type, reinterpret_cast<uint8_t*>(argument.address) + i * SizeOf(type), numbers[i]);
  }
  std::memcpy(place, &argument.address, 8);
  return argument;
}

/// `grid=2,1,1 block=64 shared=1024`
LaunchSize SizeOfLaunch(llvm::StringRef text) {
  LaunchSize size;
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ' ', -1, false);
  for (llvm::StringRef word : words) {
    const auto [key, list] = word.split('=');
    llvm::SmallVector<llvm::StringRef> numbers;
    list.split(numbers, ',');
    for (size_t i = 0; i < numbers.size(); ++i) {
      uint64_t value = 0;
      EXPECT_FALSE(numbers[i].getAsInteger(10, value)) << word.str();
      if (key == "shared") size.dynamic_shared = value;
      if (key == "grid") size.grid[i] = static_cast<unsigned>(value);
      if (key == "block") size.block[i] = static_cast<unsigned>(value);
    }
  }
  return size;
}

constexpr std::pair<llvm::StringRef, FaultKind> kFaults[] = {
    {"OutOfBounds", FaultKind::OutOfBounds}, {"Freed", FaultKind::Freed},
    {"Misaligned", FaultKind::Misaligned},   {"Unwritten", FaultKind::Unwritten},
    {"ReadOnly", FaultKind::ReadOnly},       {"SharedRace", FaultKind::SharedRace},
    {"GlobalRace", FaultKind::GlobalRace},   {"DivergentBarrier", FaultKind::DivergentBarrier},
    {"Aligned", FaultKind::Aligned},         {"Trap", FaultKind::Trap},
    {"Barrier", FaultKind::Barrier},         {"Condition", FaultKind::Condition}};

void CheckFault(llvm::StringRef text, llvm::StringRef expected, const Fault& fault) {
  const auto [kind, what] = expected.split(' ');
  FaultKind wanted = FaultKind::None;
  for (const auto& [name, of] : kFaults)
    if (name == kind) wanted = of;
  ASSERT_NE(wanted, FaultKind::None) << kind.str();
  EXPECT_EQ(wanted, fault.kind) << expected.str() << "\nfound: " << fault.text;
  EXPECT_TRUE(llvm::StringRef(fault.text).contains(what)) << expected.str() << "\nfound: " << fault.text;
  const size_t here = text.find("  // HERE");
  if (here == llvm::StringRef::npos) return;
  const std::string line = "line " + std::to_string(text.take_front(here).count('\n') + 1) + ":";
  EXPECT_TRUE(llvm::StringRef(fault.text).contains(line)) << line << "\nfound: " << fault.text;
}

void RunCase(llvm::StringRef text, uint64_t seed) {
  llvm::StringRef name;
  Loaded loaded = Load(text.str(), seed);
  ASSERT_TRUE(loaded.module) << text.str();
  std::vector<uint8_t> params;
  std::vector<Argument> arguments;
  LaunchSize size;
  llvm::StringRef fault_expected;
  for (const auto& [key, value] : Directives(text)) {
    if (key == "CASE") name = value;
    if (key == "ARG") arguments.push_back(Pass(value, *loaded.device, params));
    if (key == "LAUNCH") size = SizeOfLaunch(value);
    if (key == "FAULT") fault_expected = value;
  }
  const ptx::Function* entry = loaded.module->module().FindEntry("k");
  ASSERT_NE(entry, nullptr);
  params.resize(std::max<size_t>(params.size(), entry->param_bytes) + 8);
  const std::string refused = loaded.device->CheckLaunch(*entry, size);
  for (const auto& [key, value] : Directives(text))
    if (key == "REFUSED") {
      EXPECT_TRUE(llvm::StringRef(refused).contains(value)) << name.str() << ": " << refused;
      return;
    }
  ASSERT_EQ(refused, "") << name.str();
  const Fault fault = loaded.device->Launch(*loaded.module, *entry, size, params.data());
  if (!fault_expected.empty()) return CheckFault(text, fault_expected, fault);
  ASSERT_FALSE(fault) << name.str() << ": " << fault.text;
  const Counts& counts = loaded.device->counts();
  const std::pair<llvm::StringRef, uint64_t> found[] = {{"sectors", counts.sectors},
                                                        {"fewest-sectors", counts.fewest_sectors},
                                                        {"shared-cycles", counts.shared_cycles},
                                                        {"fewest-shared-cycles", counts.fewest_shared_cycles},
                                                        {"branches", counts.branches},
                                                        {"divergent-branches", counts.divergent_branches},
                                                        {"bytes-read", counts.bytes_read},
                                                        {"bytes-written", counts.bytes_written}};
  for (const auto& [key, value] : Directives(text))
    for (const auto& [what, count] : found)
      if (key == "COUNT " + what.str())
        EXPECT_EQ(std::to_string(count), value.str()) << name.str() << ": " << what.str();
  for (const auto& [key, value] : Directives(text)) {
    llvm::StringRef which = key;
    size_t number = 0;
    if (!which.consume_front("EXPECT ") || which.getAsInteger(10, number)) continue;
    const Argument& argument = arguments[number];
    const std::vector<double> values = Values(value, argument.count);
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(Get(argument.type, reinterpret_cast<uint8_t*>(argument.address) + i * SizeOf(argument.type)),
                values[i])
          << name.str() << ", element " << i;
  }
}

void RunFile(llvm::StringRef file) {
  const std::string text = Read(file);
  llvm::SmallVector<llvm::StringRef> cases;
  llvm::StringRef(text).split(cases, "// -----\n", -1, false);
  ASSERT_GT(cases.size(), 5U);
  for (const llvm::StringRef part : cases)
    for (const uint64_t seed : {0, 7}) RunCase(part, seed);
}

TEST(Emulator, KernelsGiveTheirResults) { RunFile("kernels_test.ptx"); }
TEST(Emulator, FaultsAreFoundAndNamed) { RunFile("faults_test.ptx"); }

}  // namespace
}  // namespace hlo::gpu
