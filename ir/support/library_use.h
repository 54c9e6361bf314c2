// Foreign code that is running, for reports of crashes.
#pragma once

namespace hlo {

/// A library that is being loaded, or a function of one that is being called; texts end in a zero.
struct LibraryUse {
  const char* file;              // the library's
  const char* target = nullptr;  // the custom-call target that is called; null: the library is being loaded
  const char* instruction = nullptr;  // that calls it
};

/// Says what is being used while it lives.
class LibraryScope {
 public:
  explicit LibraryScope(const LibraryUse& use);
  ~LibraryScope();
  LibraryScope(const LibraryScope&) = delete;
  LibraryScope& operator=(const LibraryScope&) = delete;

 private:
  const LibraryUse use_;
  const LibraryUse* outer_;
};

/// What this thread is using, or null. Async-signal-safe.
const LibraryUse* CurrentLibraryUse();
/// What some other thread is using, or null: libraries may have threads of their own.
const LibraryUse* OtherLibraryUse();

}  // namespace hlo
