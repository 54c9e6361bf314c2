// What has been found out about a module and is kept with it.
#pragma once
#include <memory>

namespace hlo {

class Module;

/// What a backend has found out about the module as it is, in the backend's words, for whoever compiles it
/// next; null: nothing. The pass manager drops it when a pass changes the module; it ends with the module and
/// is not copied with it.
std::shared_ptr<void> FindingsOf(const Module& module);
void SetFindings(const Module& module, std::shared_ptr<void> findings);

}  // namespace hlo
