// TCP connections, and what processes say over them before they trust each other.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "ir/support/result.h"

namespace hlo::processes {

/// An open descriptor.
class Socket {
 public:
  explicit Socket(int descriptor = -1) : descriptor_(descriptor) {}
  Socket(Socket&& o) noexcept : descriptor_(std::exchange(o.descriptor_, -1)) {}
  Socket& operator=(Socket&& o) noexcept {
    std::swap(descriptor_, o.descriptor_);
    return *this;
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket();
  [[nodiscard]] bool valid() const { return descriptor_ >= 0; }
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Where a process listens: a host by name or number, and a port.
struct Endpoint {
  std::string host, port;
  /// `HOST:PORT`, `[HOST]:PORT`. Errors: usage-option.
  static Result<Endpoint> Parse(llvm::StringRef text);
  [[nodiscard]] std::string ToString() const;
};

using Deadline = std::chrono::steady_clock::time_point;

/// Listens there; port 0: one that is free. Errors: unavailable-processes, where the host is not this machine
/// or the port is in use.
Result<Socket> Listen(const Endpoint& at);
/// Tries until somebody listens there; invalid if nobody does before the end. Errors: unavailable-processes
/// for a name that nobody knows; interrupted.
Result<Socket> Connect(const Endpoint& to, Deadline end);
/// One that has come, if one has.
Socket Accept(const Socket& listener);
/// This end of a connection, or the other one.
Endpoint EndOf(const Socket& socket, bool of_this);

/// A text with a mark and a length in front. Strangers' bytes have no such mark.
bool SendGreeting(const Socket& socket, llvm::StringRef text);
/// The same as it comes, a few bytes at a time.
class Greeting {
 public:
  enum State : uint8_t { More, Whole, Broken };
  /// Takes what has come.
  State Read(const Socket& socket);
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string header_, text_;
};

/// Waits for a moment until one of them has something to read, or to accept. Errors: interrupted.
Status AwaitAny(llvm::ArrayRef<const Socket*> sockets);
/// The other side has ended it.
bool HasClosed(const Socket& socket);

}  // namespace hlo::processes
