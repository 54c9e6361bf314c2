#include "backends/compile/object_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <deque>
#include <map>
#include <thread>

#include "gtest/gtest.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

namespace hlo::compile {
namespace {

class ObjectCacheTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("object_cache", folder_)); }
  void TearDown() override {
    [[maybe_unused]] const std::error_code ignored = llvm::sys::fs::remove_directories(folder_);
  }

  [[nodiscard]] std::string folder() const { return folder_.str().str(); }
  CachedProgram Entry(size_t bytes) {
    return {"module", "program", codes_.emplace_back(bytes, 'x'), nullptr};
  }
  static bool Has(const ObjectCache& cache, const std::string& key) {
    std::string remark;
    const bool found = cache.Load(key, remark).has_value();
    EXPECT_EQ(remark, "");
    return found;
  }
  /// Entries by the folder they lie in, with their paths.
  [[nodiscard]] std::map<std::string, std::vector<std::string>> Files() const {
    std::map<std::string, std::vector<std::string>> files;
    std::error_code error;
    for (llvm::sys::fs::recursive_directory_iterator at(folder_, error), end; !error && at != end;
         at.increment(error))
      if (at->type() == llvm::sys::fs::file_type::regular_file)
        files[llvm::sys::path::parent_path(at->path()).str()].push_back(at->path());
    return files;
  }

  llvm::SmallString<128> folder_;
  std::deque<std::string> codes_;  // of entries
};

TEST_F(ObjectCacheTest, GivesBackWhatItGot) {
  const ObjectCache cache(folder());
  const llvm::StringRef code("co\0de", 5);
  cache.Store("key", {"module", "program", code, nullptr});
  std::string remark;
  const auto loaded = cache.Load("key", remark);
  ASSERT_TRUE(loaded.has_value());
  EXPECT_EQ(loaded->module, "module");
  EXPECT_EQ(loaded->program, "program");
  EXPECT_EQ(loaded->code, code);
  EXPECT_FALSE(Has(cache, "other"));
}

TEST_F(ObjectCacheTest, KeepsItsLimits) {
  const ObjectCache cache(folder(),
                          {.bytes = ObjectCache::kFolders * 4096, .entries = ObjectCache::kFolders * 8});
  for (int i = 0; i < 2000; ++i) cache.Store("small" + std::to_string(i), Entry(1));
  for (const auto& [at, files] : Files()) EXPECT_LE(files.size(), 8U) << at;
  EXPECT_EQ(Files().size(), ObjectCache::kFolders);
  EXPECT_TRUE(Has(cache, "small1999"));
  for (int i = 0; i < 500; ++i) cache.Store("big" + std::to_string(i), Entry(1500));
  for (const auto& [at, files] : Files()) EXPECT_LE(files.size(), 8U) << at;
  uint64_t bytes = 0;
  for (const auto& [at, files] : Files())
    for (const std::string& file : files) {
      uint64_t size = 0;
      ASSERT_FALSE(llvm::sys::fs::file_size(file, size));
      bytes += size;
    }
  EXPECT_LE(bytes, ObjectCache::kFolders * 4096);
  EXPECT_TRUE(Has(cache, "big499"));
  cache.Store("huge", Entry(5000));
  EXPECT_FALSE(Has(cache, "huge"));
}

TEST_F(ObjectCacheTest, WhatWasUsedLatelyStays) {
  const ObjectCache cache(folder(), {.bytes = uint64_t{1} << 30, .entries = ObjectCache::kFolders * 4},
                          [](llvm::StringRef key) { return key.str(); });
  cache.Store("old", Entry(1));
  for (int i = 0; i < 100; ++i) {
    // Ages all but the one that is asked for.
    for (const auto& [at, files] : Files())
      for (const std::string& file : files)
        if (const timespec times[2] = {{1000 + i, 0}, {1000 + i, 0}}; file.find("/old.") == std::string::npos)
          ::utimensat(AT_FDCWD, file.c_str(), times, 0);
    ASSERT_TRUE(Has(cache, "old"));
    cache.Store("new" + std::to_string(i), Entry(1));
  }
}

TEST_F(ObjectCacheTest, ManyAtOnce) {
  const ObjectCache::Limits limits{.bytes = uint64_t{1} << 30, .entries = ObjectCache::kFolders * 2};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      const ObjectCache cache(folder(), limits);
      for (int i = 0; i < 100; ++i) {
        const std::string key = std::to_string(i % 10);
        const std::string code(static_cast<size_t>(i % 10) + 1, 'x');
        cache.Store(key, {"module", "program", code, nullptr});
        std::string remark;
        if (const auto found = cache.Load(key, remark)) {
          EXPECT_EQ(found->code.size(), static_cast<size_t>(i % 10) + 1);
        }
        EXPECT_EQ(remark, "");
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ObjectCacheTest, DamagedFilesAreLeftAside) {
  const ObjectCache cache(folder());
  cache.Store("key", Entry(40));
  const std::string path = Files().begin()->second.front();
  const std::string whole = (*llvm::MemoryBuffer::getFile(path))->getBuffer().str();
  const auto expect_damaged = [&](llvm::StringRef bytes) {
    {
      std::error_code error;
      llvm::raw_fd_ostream os(path, error);
      os << bytes;
    }
    std::string remark;
    EXPECT_FALSE(cache.Load("key", remark).has_value());
    EXPECT_NE(remark.find("is damaged; not used"), std::string::npos);
  };
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    expect_damaged(damaged);
  }
  for (size_t size = 0; size < whole.size(); ++size) expect_damaged(llvm::StringRef(whole).take_front(size));
  expect_damaged(whole + "x");
}

// As if all keys had the same hash.
TEST_F(ObjectCacheTest, KeysOfOneNameAreToldApart) {
  const ObjectCache cache(folder(), {}, [](llvm::StringRef) { return std::string("same"); });
  cache.Store("key", Entry(40));
  for (const char* other : {"kez", "ke", "key ", "key2", ""}) {
    std::string remark;
    EXPECT_FALSE(cache.Load(other, remark).has_value());
    EXPECT_NE(remark.find("holds another program; not used"), std::string::npos) << other;
  }
  EXPECT_TRUE(Has(cache, "key"));
  cache.Store("other", Entry(50));
  EXPECT_TRUE(Has(cache, "other"));
  std::string remark;
  EXPECT_FALSE(cache.Load("key", remark).has_value());
}

TEST_F(ObjectCacheTest, EntriesThatChangedPlacesAreLeftAside) {
  const ObjectCache cache(folder());
  cache.Store("a", Entry(40));
  const std::string a = Files().begin()->second.front();
  cache.Store("b", Entry(40));
  std::string b;
  for (const auto& [at, files] : Files())
    for (const std::string& file : files)
      if (file != a) b = file;
  ASSERT_EQ(::rename(a.c_str(), (a + "x").c_str()), 0);
  ASSERT_EQ(::rename(b.c_str(), a.c_str()), 0);
  ASSERT_EQ(::rename((a + "x").c_str(), b.c_str()), 0);
  for (const char* key : {"a", "b"}) {
    std::string remark;
    EXPECT_FALSE(cache.Load(key, remark).has_value());
    EXPECT_NE(remark.find("holds another program; not used"), std::string::npos);
  }
}

TEST_F(ObjectCacheTest, FoldersThatOthersMayWriteDoNotCount) {
  const ObjectCache cache(folder());
  cache.Store("key", Entry(10));
  const auto files = Files();
  ASSERT_EQ(files.size(), 1U);
  ::chmod(files.begin()->first.c_str(), 0777);
  std::string remark;
  EXPECT_FALSE(cache.Load("key", remark).has_value());
  EXPECT_NE(remark.find("may be written by others"), std::string::npos);
}

TEST_F(ObjectCacheTest, OnlyFilesOfOursCount) {
  const ObjectCache cache(folder());
  cache.Store("key", Entry(10));
  const std::string path = Files().begin()->second.front();
  std::string remark;
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(path.c_str(), 1, 1), 0);
    EXPECT_FALSE(cache.Load("key", remark).has_value());
    EXPECT_NE(remark.find("may be written by others"), std::string::npos);
  }
  // What never ends is not even read.
  ASSERT_EQ(::unlink(path.c_str()), 0);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(Has(cache, "key"));
  ASSERT_EQ(::unlink(path.c_str()), 0);
  ASSERT_EQ(::symlink("/dev/zero", path.c_str()), 0);
  EXPECT_FALSE(Has(cache, "key"));
  // A new entry takes the place.
  ASSERT_EQ(::unlink(path.c_str()), 0);
  cache.Store("key", Entry(10));
  EXPECT_TRUE(Has(cache, "key"));
}

}  // namespace
}  // namespace hlo::compile
