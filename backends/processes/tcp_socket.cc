#include "backends/processes/tcp_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "ir/support/interrupt.h"
#include "llvm/ADT/ScopeExit.h"

namespace hlo::processes {
namespace {

using Clock = std::chrono::steady_clock;

constexpr llvm::StringLiteral kMark = "hlo-tcp1";
/// The mark and the length.
constexpr size_t kHeader = 8 + 4;
constexpr uint32_t kMostGreeting = 1 << 20;
constexpr std::chrono::milliseconds kBetweenTries{50};

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Result<Addresses> Resolve(const Endpoint& endpoint, bool to_listen) {
  addrinfo wanted = {};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV | (to_listen ? AI_PASSIVE : 0);
  addrinfo* found = nullptr;
  const int error = getaddrinfo(endpoint.host.c_str(), endpoint.port.c_str(), &wanted, &found);
  if (error == 0) return Addresses(found, &freeaddrinfo);
  return Error("unavailable-processes", {}, "host '{0}' of '{1}' is not known: {2}", endpoint.host,
               endpoint.ToString(), gai_strerror(error));
}

Socket NewSocket(const addrinfo& address) {
  Socket socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return socket;
  const int on = 1;
  (void)setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

/// Whether the connection has been made before the end.
bool Finish(const Socket& socket, Deadline end) {
  while (Clock::now() < end && !Interrupted()) {
    pollfd look = {socket.get(), POLLOUT, 0};
    if (poll(&look, 1, static_cast<int>(kBetweenTries.count())) <= 0) continue;
    int error = 0;
    socklen_t size = sizeof error;
    return getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
  }
  return false;
}

}  // namespace

Socket::~Socket() {
  if (valid()) close(descriptor_);
}

Result<Endpoint> Endpoint::Parse(llvm::StringRef text) {
  auto [host, port] = text.rsplit(':');
  if (host.consume_front("[") && !host.consume_back("]")) host = "";
  unsigned number = 0;
  constexpr unsigned kMostPort = 65535;
  // A number without brackets would have its last group taken for the port.
  if (host.empty() || (host.contains(':') && !text.starts_with("[")) || host.contains('\0') ||
      port.getAsInteger(10, number) || number == 0 || number > kMostPort)
    return Error("usage-option", {}, "coordinator '{0}': expected HOST:PORT, with a port from 1 to {1}", text,
                 kMostPort);
  return Endpoint{host.str(), std::to_string(number)};
}

std::string Endpoint::ToString() const {
  return host.find(':') == std::string::npos ? host + ":" + port : "[" + host + "]:" + port;
}

Result<Socket> Listen(const Endpoint& at) {
  HLO_TRY(const Addresses addresses, Resolve(at, /*to_listen=*/true));
  int error = 0;
  for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
    Socket socket = NewSocket(*address);
    const int on = 1;
    constexpr int kWaiting = 128;
    if (socket.valid() && setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(socket.get(), address->ai_addr, address->ai_addrlen) == 0 && listen(socket.get(), kWaiting) == 0)
      return socket;
    error = errno;
  }
  return Error("unavailable-processes", {}, "cannot listen at {0}: {1}", at.ToString(), std::strerror(error));
}

Result<Socket> Connect(const Endpoint& to, Deadline end) {
  HLO_TRY(const Addresses addresses, Resolve(to, /*to_listen=*/false));
  while (Clock::now() < end) {
    for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
      Socket socket = NewSocket(*address);
      if (!socket.valid()) continue;
      const bool made = connect(socket.get(), address->ai_addr, address->ai_addrlen) == 0 ||
                        (errno == EINPROGRESS && Finish(socket, end));
      // Of a port that nobody listens at, a machine may connect to itself.
      const bool itself = made && EndOf(socket, true).ToString() == EndOf(socket, false).ToString();
      if (made && !itself) return socket;
    }
    HLO_CHECK_OK(AwaitAny({}));
  }
  return Socket();
}

Socket Accept(const Socket& listener) {
  Socket socket(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  const int on = 1;
  if (socket.valid()) (void)setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

Endpoint EndOf(const Socket& socket, bool of_this) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  auto* const at = reinterpret_cast<sockaddr*>(&address);
  char host[NI_MAXHOST] = "", port[NI_MAXSERV] = "";
  if ((of_this ? getsockname : getpeername)(socket.get(), at, &size) == 0)
    (void)getnameinfo(at, size, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
  return {host, port};
}

bool SendGreeting(const Socket& socket, llvm::StringRef text) {
  std::string bytes = kMark.str();
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(text.size() >> shift);
  bytes += text;
  const auto end = Clock::now() + std::chrono::seconds(5);
  for (size_t at = 0; at < bytes.size() && Clock::now() < end;) {
    const ssize_t sent = send(socket.get(), bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (sent > 0) at += static_cast<size_t>(sent);
    if (sent > 0 && at == bytes.size()) return true;
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
    pollfd look = {socket.get(), POLLOUT, 0};
    (void)poll(&look, 1, static_cast<int>(kBetweenTries.count()));
  }
  return false;
}

Greeting::State Greeting::Read(const Socket& socket) {
  for (;;) {
    uint32_t length = 0;
    const bool has_header = header_.size() == kHeader;
    if (!llvm::StringRef(header_).starts_with(kMark.take_front(header_.size()))) return Broken;
    if (has_header)
      for (size_t i = 0; i < 4; ++i)
        length |= static_cast<uint32_t>(static_cast<uint8_t>(header_[kMark.size() + i])) << (8 * i);
    if (length > kMostGreeting) return Broken;
    const size_t missing = has_header ? length - text_.size() : kHeader - header_.size();
    if (missing == 0) return Whole;
    char bytes[4096];
    const ssize_t got = recv(socket.get(), bytes, std::min(missing, sizeof bytes), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return More;
    if (got <= 0) return Broken;
    (has_header ? text_ : header_).append(bytes, static_cast<size_t>(got));
  }
}

Status AwaitAny(llvm::ArrayRef<const Socket*> sockets) {
  std::vector<pollfd> looks;
  for (const Socket* socket : sockets) looks.push_back({socket->get(), POLLIN, 0});
  (void)poll(looks.data(), looks.size(), static_cast<int>(kBetweenTries.count()));
  return Interrupted() ? Status(Error(InterruptedError())) : Status();
}

bool HasClosed(const Socket& socket) {
  char byte = 0;
  const ssize_t got = recv(socket.get(), &byte, 1, MSG_PEEK);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

}  // namespace hlo::processes
