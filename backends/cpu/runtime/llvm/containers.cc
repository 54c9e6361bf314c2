// LLVM's containers, as far as the archive uses them.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemAlloc.h"
#include "llvm/Support/xxhash.h"

namespace llvm {

void* allocate_buffer(size_t size, size_t alignment) {
  return ::operator new(size, std::align_val_t(alignment));
}
void deallocate_buffer(void* buffer, size_t size, size_t alignment) {
  ::operator delete(buffer, size, std::align_val_t(alignment));
}

uint64_t xxh3_64bits(ArrayRef<uint8_t> data) { return XXH3_64bits(data.data(), data.size()); }
hash_code hash_value(StringRef text) { return hash_combine_range(text.begin(), text.end()); }

// --- SmallVector ---

namespace {

template <class Count>
size_t LargerCapacity(size_t least, size_t capacity) {
  constexpr size_t kMost = std::numeric_limits<Count>::max();
  if (least > kMost) report_fatal_error("a vector of too many elements");
  if (capacity == kMost) report_fatal_error("a vector cannot grow");
  return std::clamp(2 * capacity + 1, least, kMost);
}

}  // namespace

/// Memory right after a vector without inline elements would be taken for these.
template <class Count>
void* SmallVectorBase<Count>::replaceAllocation(void* elements, size_t element_bytes, size_t capacity,
                                                size_t count) {
  void* others = safe_malloc(capacity * element_bytes);
  if (count != 0) std::memcpy(others, elements, count * element_bytes);
  std::free(elements);
  return others;
}

template <class Count>
void* SmallVectorBase<Count>::mallocForGrow(void* first, size_t least, size_t element_bytes,
                                            size_t& capacity) {
  capacity = LargerCapacity<Count>(least, this->capacity());
  void* elements = safe_malloc(capacity * element_bytes);
  return elements == first ? replaceAllocation(elements, element_bytes, capacity) : elements;
}

template <class Count>
void SmallVectorBase<Count>::grow_pod(void* first, size_t least, size_t element_bytes) {
  const size_t capacity = LargerCapacity<Count>(least, this->capacity());
  void* elements = nullptr;
  if (BeginX == first) {
    elements = safe_malloc(capacity * element_bytes);
    if (elements == first) elements = replaceAllocation(elements, element_bytes, capacity);
    std::memcpy(elements, BeginX, size() * element_bytes);
  } else {
    elements = safe_realloc(BeginX, capacity * element_bytes);
    if (elements == first) elements = replaceAllocation(elements, element_bytes, capacity, size());
  }
  set_allocation_range(elements, capacity);
}

template class SmallVectorBase<uint32_t>;
template class SmallVectorBase<uint64_t>;

// --- StringMap: open addressing; behind the buckets lie the hashes of their keys ---

namespace {

StringMapEntryBase** NewTable(unsigned buckets) {
  auto** table = static_cast<StringMapEntryBase**>(
      safe_calloc(buckets + 1, sizeof(StringMapEntryBase*) + sizeof(unsigned)));
  table[buckets] = reinterpret_cast<StringMapEntryBase*>(2);  // where iterators stop
  return table;
}
unsigned* HashesOf(StringMapEntryBase** table, unsigned buckets) {
  return reinterpret_cast<unsigned*>(table + buckets + 1);
}

}  // namespace

uint32_t StringMapImpl::hash(StringRef key) {
  return static_cast<uint32_t>(XXH3_64bits(key.data(), key.size()));
}

StringMapImpl::StringMapImpl(unsigned entries, unsigned item_size) : ItemSize(item_size) {
  if (entries > 0) init(static_cast<unsigned>(NextPowerOf2(uint64_t{entries} * 4 / 3 + 1)));
}

void StringMapImpl::init(unsigned buckets) {
  NumItems = NumTombstones = 0;
  NumBuckets = buckets == 0 ? 16 : buckets;
  TheTable = NewTable(NumBuckets);
}

unsigned StringMapImpl::LookupBucketFor(StringRef key, uint32_t hash) {
  if (NumBuckets == 0) init(0);
  unsigned* hashes = HashesOf(TheTable, NumBuckets);
  int tombstone = -1;
  for (unsigned bucket = hash & (NumBuckets - 1), probes = 1;;
       bucket = (bucket + probes++) & (NumBuckets - 1)) {
    const StringMapEntryBase* entry = TheTable[bucket];
    if (entry == nullptr) {
      if (tombstone >= 0) bucket = static_cast<unsigned>(tombstone);
      hashes[bucket] = hash;
      return bucket;
    }
    if (entry == getTombstoneVal()) {
      if (tombstone < 0) tombstone = static_cast<int>(bucket);
    } else if (hashes[bucket] == hash &&
               key == StringRef(reinterpret_cast<const char*>(entry) + ItemSize, entry->getKeyLength())) {
      return bucket;
    }
  }
}

int StringMapImpl::FindKey(StringRef key, uint32_t hash) const {
  if (NumBuckets == 0) return -1;
  const unsigned* hashes = HashesOf(TheTable, NumBuckets);
  for (unsigned bucket = hash & (NumBuckets - 1), probes = 1;;
       bucket = (bucket + probes++) & (NumBuckets - 1)) {
    const StringMapEntryBase* entry = TheTable[bucket];
    if (entry == nullptr) return -1;
    if (entry != getTombstoneVal() && hashes[bucket] == hash &&
        key == StringRef(reinterpret_cast<const char*>(entry) + ItemSize, entry->getKeyLength()))
      return static_cast<int>(bucket);
  }
}

/// Returns where what was at `bucket` is now.
unsigned StringMapImpl::RehashTable(unsigned bucket) {
  unsigned buckets = NumBuckets;
  if (NumItems * 4 > NumBuckets * 3)
    buckets = NumBuckets * 2;
  else if (NumBuckets - (NumItems + NumTombstones) > NumBuckets / 8)
    return bucket;
  StringMapEntryBase** table = NewTable(buckets);
  unsigned *before = HashesOf(TheTable, NumBuckets), *hashes = HashesOf(table, buckets), moved = bucket;
  for (unsigned i = 0; i < NumBuckets; ++i) {
    if (TheTable[i] == nullptr || TheTable[i] == getTombstoneVal()) continue;
    unsigned to = before[i] & (buckets - 1);
    for (unsigned probes = 1; table[to] != nullptr;) to = (to + probes++) & (buckets - 1);
    table[to] = TheTable[i];
    hashes[to] = before[i];
    if (i == bucket) moved = to;
  }
  std::free(static_cast<void*>(TheTable));
  TheTable = table;
  NumBuckets = buckets;
  NumTombstones = 0;
  return moved;
}

}  // namespace llvm
