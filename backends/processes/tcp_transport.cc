#include "backends/processes/tcp_transport.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <map>

#include "llvm/ADT/DenseSet.h"

namespace hlo::processes {
namespace {

/// What the bytes of a connection are made of: a header, and so many bytes behind it.
struct Frame {
  enum Kind : uint32_t {
    Message = 1,
    Ready,  // the next memory of that tag has a place
    Data,   // a part of the memory of that tag
    Bye,    // nothing follows
  };
  uint32_t kind = Bye;
  int32_t tag = 0;
  uint64_t bytes = 0;
};
static_assert(sizeof(Frame) == 16);

/// Memory goes in frames of so many bytes, so that messages pass it.
constexpr size_t kChunk = size_t{1} << 18;
constexpr size_t kBuffer = size_t{1} << 16;
constexpr uint64_t kMostMessage = uint64_t{1} << 30;
/// How long the last words of others are waited for.
constexpr std::chrono::milliseconds kPatience{3000};

std::string HeaderOf(Frame::Kind kind, int tag, uint64_t bytes) {
  const Frame frame{kind, tag, bytes};
  return {reinterpret_cast<const char*>(&frame), sizeof frame};
}

/// Memory on its way, of one ticket.
template <class Byte>
struct Moving {
  Byte* data;
  size_t bytes;
  Transport::Ticket ticket;
  size_t done = 0;
};

/// A connection with one process. Memory is sent once the receiver has a place for it, so that nothing that
/// comes has to be put anywhere else.
class Connection {
 public:
  using Tickets = llvm::DenseSet<Transport::Ticket>;
  Connection(Socket socket, Tickets& pending) : socket_(std::move(socket)), pending_(pending) {}

  /// Something may come of it.
  [[nodiscard]] bool open() const { return socket_.valid() && !broken_; }
  [[nodiscard]] bool said_bye() const { return said_bye_; }
  [[nodiscard]] bool all_written() const {
    return deaf_ || (at_ == front_.size() && body_.empty() && control_.empty() && data_.empty());
  }
  [[nodiscard]] int descriptor() const { return socket_.get(); }

  void Say(Frame::Kind kind, int tag, llvm::StringRef text) {
    control_.push_back(HeaderOf(kind, tag, text.size()) + text.str());
    Write();
  }
  void Send(int tag, Moving<const char> what) {
    waiting_[tag].push_back(what);
    Release(tag);
    Write();
  }
  void Receive(int tag, Moving<char> what) {
    receiving_[tag].push_back(what);
    Say(Frame::Ready, tag, "");
  }
  /// As much as the connection takes.
  void Write();
  /// As much as has come; messages are added to `texts`.
  void Read(llvm::function_ref<void(std::string)> take);

 private:
  /// Memory of a tag goes where both sides are ready.
  void Release(int tag);
  void Begin();
  /// The next bytes that have come, at most so many; none: there are no more for now.
  size_t Take(char* to, size_t most);
  bool Write(llvm::StringRef bytes, bool more, size_t& written);
  void Part();

  Socket socket_;
  Tickets& pending_;
  bool broken_ = false, deaf_ = false, said_bye_ = false;

  std::string front_;  // that is written, to `at_`, and then the body
  size_t at_ = 0;
  llvm::StringRef body_;
  Transport::Ticket ends_ = 0;       // with the body
  std::deque<std::string> control_;  // goes before memory
  std::deque<std::pair<int, Moving<const char>>> data_;
  std::map<int, std::deque<Moving<const char>>> waiting_;
  std::map<int, size_t> places_;  // that the other side has, for memory that has not been sent

  std::string buffer_;  // bytes that have come, from `read_` on
  size_t read_ = 0;
  Frame frame_;
  size_t header_ = 0;  // bytes of it
  std::string text_;
  size_t got_ = 0;  // bytes behind the header
  std::map<int, std::deque<Moving<char>>> receiving_;
};

bool Connection::Write(llvm::StringRef bytes, bool more, size_t& written) {
  const ssize_t sent = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | (more ? MSG_MORE : 0));
  // What it has said before may still be there to be read.
  if (sent < 0 && errno != EAGAIN && errno != EINTR) deaf_ = true;
  written = sent > 0 ? static_cast<size_t>(sent) : 0;
  return written == bytes.size();
}

void Connection::Part() {
  auto& [tag, memory] = data_.front();
  const size_t size = std::min(kChunk, memory.bytes - memory.done);
  front_ = HeaderOf(Frame::Data, tag, size);
  body_ = {memory.data + memory.done, size};
  memory.done += size;
  if (memory.done < memory.bytes) return;
  ends_ = memory.ticket;
  data_.pop_front();
}

void Connection::Write() {
  while (open() && !deaf_) {
    size_t written = 0;
    if (at_ < front_.size()) {
      const bool all = Write(llvm::StringRef(front_).drop_front(at_), !body_.empty(), written);
      at_ += written;
      if (!all) return;
    }
    if (!body_.empty()) {
      const bool all = Write(body_, /*more=*/false, written);
      body_ = body_.drop_front(written);
      if (!all) return;
    }
    if (ends_ != 0) pending_.erase(std::exchange(ends_, 0));
    at_ = 0;
    front_.clear();
    if (!control_.empty()) {
      front_ = std::move(control_.front());
      control_.pop_front();
    } else if (!data_.empty()) {
      Part();
    } else {
      return;
    }
  }
}

void Connection::Release(int tag) {
  const auto places = places_.find(tag);
  const auto memory = waiting_.find(tag);
  if (places == places_.end() || memory == waiting_.end()) return;
  data_.emplace_back(tag, memory->second.front());
  memory->second.pop_front();
  if (memory->second.empty()) waiting_.erase(memory);
  if (--places->second == 0) places_.erase(places);
}

size_t Connection::Take(char* to, size_t most) {
  if (read_ == buffer_.size() && most < kBuffer) {
    buffer_.resize(kBuffer);
    const ssize_t got = recv(socket_.get(), buffer_.data(), kBuffer, 0);
    buffer_.resize(got > 0 ? static_cast<size_t>(got) : 0);
    read_ = 0;
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) broken_ = true;
  }
  if (read_ < buffer_.size()) {
    const size_t size = std::min(most, buffer_.size() - read_);
    std::memcpy(to, buffer_.data() + read_, size);
    read_ += size;
    return size;
  }
  if (most < kBuffer) return 0;
  const ssize_t got = recv(socket_.get(), to, most, 0);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) broken_ = true;
  return got > 0 ? static_cast<size_t>(got) : 0;
}

void Connection::Begin() {
  got_ = 0;
  switch (frame_.kind) {
    case Frame::Message:
      if (frame_.bytes > kMostMessage) broken_ = true;
      if (!broken_) text_.resize(frame_.bytes);
      break;
    case Frame::Ready:
      ++places_[frame_.tag];
      Release(frame_.tag);
      Write();
      break;
    case Frame::Data: {
      const auto it = receiving_.find(frame_.tag);
      if (it == receiving_.end() || frame_.bytes > it->second.front().bytes - it->second.front().done)
        broken_ = true;
      break;
    }
    case Frame::Bye: said_bye_ = true; break;
    default: broken_ = true;
  }
}

void Connection::Read(llvm::function_ref<void(std::string)> take) {
  while (open()) {
    if (header_ < sizeof frame_) {
      const size_t got = Take(reinterpret_cast<char*>(&frame_) + header_, sizeof frame_ - header_);
      if (got == 0) return;
      header_ += got;
      if (header_ < sizeof frame_) continue;
      Begin();
      if (broken_) return;
    }
    const bool is_data = frame_.kind == Frame::Data, is_message = frame_.kind == Frame::Message;
    if ((is_data || is_message) && got_ < frame_.bytes) {
      Moving<char>* const memory = is_data ? &receiving_[frame_.tag].front() : nullptr;
      const size_t got =
          Take(is_data ? memory->data + memory->done : text_.data() + got_, frame_.bytes - got_);
      if (got == 0) return;
      got_ += got;
      if (is_data) memory->done += got;
      if (got_ < frame_.bytes) continue;
    }
    header_ = 0;
    if (is_message) take(std::exchange(text_, {}));
    if (!is_data) continue;
    auto& queue = receiving_[frame_.tag];
    if (queue.front().done < queue.front().bytes) continue;
    pending_.erase(queue.front().ticket);
    queue.pop_front();
    if (queue.empty()) receiving_.erase(frame_.tag);
  }
}

class TcpTransport final : public Transport {
 public:
  TcpTransport(int rank, std::vector<Socket> connections)
      : rank_(rank), size_(static_cast<int>(connections.size())) {
    for (Socket& socket : connections)
      connections_.push_back(std::make_unique<Connection>(std::move(socket), pending_));
  }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] int tags() const override { return INT32_MAX; }

  void Post(int to, std::string text) override { With(to).Say(Frame::Message, 0, text); }
  std::optional<Message> Next() override {
    if (texts_.empty()) Turn(0);
    if (texts_.empty()) return std::nullopt;
    Message message = std::move(texts_.front());
    texts_.pop_front();
    return message;
  }
  Ticket Send(int to, int tag, const void* data, size_t bytes) override {
    const Ticket ticket = NewTicket();
    With(to).Send(tag, {static_cast<const char*>(data), bytes, ticket});
    return ticket;
  }
  Ticket Receive(int from, int tag, void* data, size_t bytes) override {
    const Ticket ticket = NewTicket();
    With(from).Receive(tag, {static_cast<char*>(data), bytes, ticket});
    return ticket;
  }
  bool Done(Ticket ticket) override { return !pending_.contains(ticket); }
  [[nodiscard]] const std::string& error() const override { return error_; }
  [[nodiscard]] std::optional<int> lost() const override { return lost_; }
  void Close() override;

 private:
  Connection& With(int rank) { return *connections_[static_cast<size_t>(rank)]; }
  Ticket NewTicket() {
    pending_.insert(++last_);
    return last_;
  }
  /// Reads and writes what it can; waits for so many milliseconds for something to do.
  void Turn(int wait_ms);

  int rank_, size_;
  Connection::Tickets pending_;
  std::vector<std::unique_ptr<Connection>> connections_;  // by process
  std::deque<Message> texts_;
  Ticket last_ = 0;
  std::optional<int> lost_;
  std::string error_;
  std::vector<pollfd> looks_;
};

void TcpTransport::Turn(int wait_ms) {
  looks_.clear();
  for (const auto& connection : connections_) {
    const auto events = static_cast<int16_t>(POLLIN | (connection->all_written() ? 0 : POLLOUT));
    looks_.push_back({connection->open() ? connection->descriptor() : -1, events, 0});
  }
  if (poll(looks_.data(), looks_.size(), wait_ms) <= 0) return;
  for (size_t r = 0; r < looks_.size(); ++r) {
    Connection& with = *connections_[r];
    const auto from = static_cast<int>(r);
    if ((looks_[r].revents & POLLOUT) != 0) with.Write();
    if ((looks_[r].revents & ~POLLOUT) != 0)
      with.Read([&](std::string text) { texts_.push_back({from, std::move(text)}); });
    if (from != rank_ && !with.open() && !with.said_bye() && !lost_) lost_ = from;
  }
}

void TcpTransport::Close() {
  // Nobody ends before all know that they may: an end without a word is a death.
  for (const auto& connection : connections_)
    if (connection->open()) connection->Say(Frame::Bye, 0, "");
  const auto end = std::chrono::steady_clock::now() + kPatience;
  const auto waits = [](const auto& c) { return c->open() && !(c->said_bye() && c->all_written()); };
  constexpr int kWait = 10;
  while (llvm::any_of(connections_, waits) && std::chrono::steady_clock::now() < end) Turn(kWait);
  connections_.clear();
}

}  // namespace

std::unique_ptr<Transport> MakeTcpTransport(int rank, std::vector<Socket> connections) {
  return std::make_unique<TcpTransport>(rank, std::move(connections));
}

}  // namespace hlo::processes
