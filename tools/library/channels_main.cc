// channels CASE [SIZE [COORDINATOR PROCESS PROCESSES]]: programs on four devices that exchange values while
// they run, in one process or spread over those of mpirun or of a coordinator; scripts/mpi_check. Prints, by
// device, what came or what was wrong.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <thread>

#include "hlo/xla.h"

namespace {

constexpr int kDevices = 4, kValues = 5;

/// What one run of this program has.
struct Session {
  const xla::Client& client;
  std::string size;               // of the values
  std::vector<int64_t> channels;  // from each device to the next one, and one more
};
/// What a device has to say, or each of this process.
using Role = std::string (*)(const Session&, int device);
using Spread = std::vector<std::string> (*)(const Session&);
struct Case {
  const char* name;
  Role role;
  Spread spread;
  std::chrono::milliseconds time_limit;
};

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// SIZE and CHANNEL stand for those.
xla::Executable Compiled(const Session& session, const std::string& text, int64_t channel,
                         const xla::CompileOptions& how) {
  const std::string module =
      Replaced(Replaced(text, "SIZE", session.size), "CHANNEL", std::to_string(channel));
  return session.client.Compile(xla::XlaComputation::FromText(module).value(), how).value();
}

xla::Executable On(const Session& session, int device, const std::string& text, int64_t channel) {
  xla::CompileOptions how;
  how.device_assignment = {device};
  return Compiled(session, text, channel, how);
}

/// A parameter through a channel, or 7 in all places.
constexpr const char* kSend = R"(ENTRY send {
  x = f32[SIZE] parameter(0)
  t = token[] after-all()
  s = (f32[SIZE], u32[], token[]) send(x, t), channel_id=CHANNEL
  ROOT d = token[] send-done(s), channel_id=CHANNEL
})";
constexpr const char* kReceive = R"(ENTRY receive {
  t = token[] after-all()
  r = (f32[SIZE], u32[], token[]) recv(t), channel_id=CHANNEL
  d = (f32[SIZE], token[]) recv-done(r), channel_id=CHANNEL
  ROOT x = f32[SIZE] get-tuple-element(d), index=0
})";

xla::Literal Value(const Session& session, float first) {
  const auto count = static_cast<size_t>(std::strtoull(session.size.c_str(), nullptr, 10));
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = first + 0.1F * static_cast<float>(i);
  return xla::LiteralUtil::CreateR1<float>(values);
}

/// Long ones as one number, which depends on each bit.
std::string Text(const xla::StatusOr<xla::Literal>& value) {
  constexpr size_t kLong = 200;
  if (!value.ok()) return value.status().ToString();
  const std::string text = value->ToString();
  return text.size() < kLong ? text : std::to_string(std::hash<std::string>()(text));
}

/// Each takes what the one before it has sent, does something with it, and sends it on.
std::string Pipeline(const Session& session, int device) {
  const char* const stage = R"(ENTRY stage {
  x = f32[SIZE] parameter(0)
  c = f32[] constant(1.7)
  b = f32[SIZE] broadcast(c), dimensions={}
  m = f32[SIZE] multiply(x, b)
  ROOT r = f32[SIZE] sine(m)
})";
  const xla::Executable work = On(session, device, stage, 0);
  const auto channel = [&](int d) { return session.channels[static_cast<size_t>(d)]; };
  std::string said;
  for (int i = 0; i < kValues; ++i) {
    xla::StatusOr<xla::Literal> x = Value(session, static_cast<float>(i));
    if (device > 0) x = On(session, device, kReceive, channel(device - 1)).Run({});
    if (!x.ok()) return x.status().ToString();
    x = work.Run({*x});
    said += Text(x) + " ";
    if (device < kDevices - 1)
      if (const auto sent = On(session, device, kSend, channel(device)).Run({*x}); !sent.ok())
        return sent.status().ToString();
  }
  return said;
}

/// Tuples with all kinds of arrays; the last device answers.
std::string Tuples(const Session& session, int device) {
  const std::string shape = "(f32[SIZE], s4[7], (pred[3], bf16[SIZE,2]), c64[])";
  const std::string receive = "ENTRY e {\n  t = token[] after-all()\n  r = (" + shape +
                              ", u32[], token[]) recv(t), channel_id=CHANNEL\n  d = (" + shape +
                              ", token[]) recv-done(r), channel_id=CHANNEL\n  ROOT x = " + shape +
                              " get-tuple-element(d), index=0\n}";
  const std::string send = "ENTRY e {\n  x = " + shape + " parameter(0)\n  t = token[] after-all()\n  s = (" +
                           shape + ", u32[], token[]) send(x, t), channel_id=CHANNEL\n" +
                           "  ROOT d = token[] send-done(s), channel_id=CHANNEL\n}";
  const std::string make = R"(ENTRY e {
  i = f32[SIZE] iota(), iota_dimension=0
  e = f32[SIZE] exponential(i)
  s = s4[7] iota(), iota_dimension=0
  p = pred[3] constant({true, false, true})
  b = bf16[SIZE,2] iota(), iota_dimension=0
  c = c64[] constant((1, -2))
  t = (pred[3], bf16[SIZE,2]) tuple(p, b)
  ROOT x = (f32[SIZE], s4[7], (pred[3], bf16[SIZE,2]), c64[]) tuple(e, s, t, c)
})";
  if (device == 0)
    return Text(On(session, device, send, session.channels[0]).Run({*On(session, 0, make, 0).Run({})}));
  if (device != kDevices - 1) return "nothing";
  return Text(On(session, device, receive, session.channels[0]).Run({}));
}

/// All but the last device send through one channel.
std::string TwoSenders(const Session& session, int device) {
  const int64_t channel = session.channels[0];
  if (device != kDevices - 1)
    return Text(On(session, device, kSend, channel).Run({Value(session, static_cast<float>(device))}));
  std::vector<std::string> came;
  for (int d = 0; d < device; ++d) came.push_back(Text(On(session, device, kReceive, channel).Run({})));
  std::sort(came.begin(), came.end());
  std::string said;
  for (const std::string& one : came) said += one + " ";
  return said;
}

/// What comes is of another shape.
std::string Mismatch(const Session& session, int device) {
  if (device == 0) return Text(On(session, device, kSend, session.channels[0]).Run({Value(session, 1)}));
  Session other = session;
  other.size += "0";
  return device == kDevices - 1 ? Text(On(other, device, kReceive, session.channels[0]).Run({})) : "nothing";
}

/// Each waits for the one before it, and then would send.
std::string Ring(const Session& session, int device) {
  const auto before = static_cast<size_t>((device + kDevices - 1) % kDevices);
  const auto got = On(session, device, kReceive, session.channels[before]).Run({});
  if (!got.ok()) return got.status().ToString();
  return Text(On(session, device, kSend, session.channels[static_cast<size_t>(device)]).Run({*got}));
}

/// The last device waits for what nobody sends.
std::string Nobody(const Session& session, int device) {
  return device == kDevices - 1 ? Text(On(session, device, kReceive, session.channels[0]).Run({}))
                                : "nothing";
}

/// The process of one device dies, the others wait.
std::string Dies(const Session& session, int device) {
  // Who has started this one ends it when it hears of that; it is to say first what it knows.
  (void)std::signal(SIGTERM, SIG_IGN);
  const int victim = std::atoi(session.size.c_str());
  if (device == victim) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    (void)std::raise(SIGKILL);
  }
  return Text(On(session, device, kReceive, session.channels[0]).Run({}));
}

/// Programs that are spread over all processes themselves: many under way, receivers first.
std::vector<std::string> Replicas(const Session& session) {
  const std::string pairs =
      ", frontend_attributes={_xla_send_recv_source_target_pairs=\"{{0,3},{1,2},{2,1},{3,0}}\"}";
  const std::string send =
      Replaced(R"(add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
ENTRY send {
  x = f32[SIZE] parameter(0)
  y = f32[SIZE] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=add
  z = f32[SIZE] subtract(y, x)
  t = token[] after-all()
  s = (f32[SIZE], u32[], token[]) send(z, t), channel_id=CHANNEL PAIRS
  ROOT d = token[] send-done(s), channel_id=CHANNEL PAIRS
})",
               " PAIRS", pairs);
  const std::string receive =
      Replaced(R"(add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
ENTRY receive {
  t = token[] after-all()
  r = (f32[SIZE], u32[], token[]) recv(t), channel_id=CHANNEL PAIRS
  d = (f32[SIZE], token[]) recv-done(r), channel_id=CHANNEL PAIRS
  x = f32[SIZE] get-tuple-element(d), index=0
  y = f32[SIZE] all-reduce(x), replica_groups={{1,3},{2,0}}, to_apply=add
  ROOT z = (f32[SIZE], f32[SIZE]) tuple(x, y)
})",
               " PAIRS", pairs);
  xla::CompileOptions how;
  how.replica_count = kDevices;
  const xla::Executable sender = Compiled(session, send, session.channels[0], how),
                        receiver = Compiled(session, receive, session.channels[0], how);
  std::vector<xla::Execution> waiting;
  for (int i = 0; i < kValues; ++i)
    waiting.push_back(
        receiver.ExecuteAsyncOnDevices(std::vector<std::vector<xla::Buffer>>(kDevices)).value());
  std::vector<std::string> said(kDevices);
  for (int i = 0; i < kValues; ++i) {
    std::vector<std::vector<xla::Literal>> arguments(kDevices);
    for (const int d : session.client.addressable_devices())
      arguments[static_cast<size_t>(d)] = {Value(session, static_cast<float>(10 * d))};
    if (const auto sent = sender.RunOnDevices(arguments); !sent.ok())
      for (std::string& one : said) one += sent.status().ToString();
  }
  for (const xla::Execution& run : waiting) {
    const xla::Status done = run.Await();
    for (const int d : session.client.addressable_devices())
      said[static_cast<size_t>(d)] += (done.ok() ? Text(run.result(d).ToLiteral()) : done.ToString()) + " ";
  }
  return said;
}

/// The same, and nobody sends.
std::vector<std::string> ReplicasInVain(const Session& session) {
  xla::CompileOptions how;
  how.replica_count = kDevices;
  const auto got = Compiled(session, kReceive, session.channels[0], how)
                       .RunOnDevices(std::vector<std::vector<xla::Literal>>(kDevices));
  std::vector<std::string> said(kDevices);
  for (size_t d = 0; d < kDevices; ++d) said[d] = got.ok() ? Text((*got)[d]) : got.status().ToString();
  return said;
}

constexpr std::chrono::milliseconds kSoon{1500};
constexpr Case kCases[] = {
    {"pipeline", Pipeline, nullptr, {}},
    {"tuples", Tuples, nullptr, {}},
    {"senders", TwoSenders, nullptr, {}},
    {"mismatch", Mismatch, nullptr, {}},
    {"ring", Ring, nullptr, kSoon},
    {"nobody", Nobody, nullptr, {}},
    {"dies", Dies, nullptr, {}},
    {"replicas", nullptr, Replicas, {}},
    {"replicas_in_vain", nullptr, ReplicasInVain, kSoon},
};

/// Waits for all devices.
void Meet(const Session& session) {
  xla::CompileOptions how;
  how.replica_count = kDevices;
  const char* const sum = R"(add { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT r = s32[] add(a, b) }
ENTRY e { x = s32[] constant(1)  ROOT r = s32[] all-reduce(x), replica_groups={}, to_apply=add })";
  const auto met =
      Compiled(session, sum, 0, how).RunOnDevices(std::vector<std::vector<xla::Literal>>(kDevices));
  if (!met.ok()) std::fprintf(stderr, "%s\n", met.status().ToString().c_str());
}

std::vector<std::string> Run(const Case& one, const Session& session) {
  if (one.spread != nullptr) return one.spread(session);
  std::vector<std::string> said(kDevices);
  std::vector<std::thread> roles;
  for (const int d : session.client.addressable_devices())
    roles.emplace_back([&, d] { said[static_cast<size_t>(d)] = one.role(session, d); });
  for (std::thread& role : roles) role.join();
  // Those that have a time limit end together.
  if (one.time_limit.count() != 0) Meet(session);
  return said;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  for (const Case& one : kCases) {
    if (name != one.name) continue;
    xla::ClientOptions options;
    options.device_count = kDevices;
    options.launcher = "auto";
    options.time_limit = one.time_limit;
    if (argc == 6) {
      options.coordinator = argv[3];
      options.process_index = std::atoi(argv[4]);
      options.process_count = std::atoi(argv[5]);
    }
    const auto client = xla::Client::Create(options);
    if (!client.ok()) {
      std::fprintf(stderr, "%s\n", client.status().ToString().c_str());
      return 1;
    }
    Session session{*client.value(), argc > 2 ? argv[2] : "3", {}};
    for (int i = 0; i < kDevices; ++i)
      session.channels.push_back(session.client.CreateChannelHandle().handle());
    const std::vector<std::string> said = Run(one, session);
    for (const int d : session.client.addressable_devices())
      std::printf("device %d: %s\n", d, said[static_cast<size_t>(d)].c_str());
    std::fflush(stdout);
    return 0;
  }
  std::fprintf(stderr, "usage: channels CASE [SIZE [COORDINATOR PROCESS PROCESSES]]\n");
  return 2;
}
