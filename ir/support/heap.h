// The heap of programs that know how much they are about to allocate.
#pragma once
#include <cstddef>

namespace hlo {

/// Grows the heap by about so many bytes (at most 1 GiB) at once, in large pages where the system has them:
/// many small objects in small pages cost more in page faults and address translation than in work. Less than
/// one large page is nothing. For programs that own their process, as it changes how malloc grows and
/// shrinks.
void GrowHeap(size_t bytes);

}  // namespace hlo
