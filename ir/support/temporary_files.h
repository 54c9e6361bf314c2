// Files that are not finished: they go when the process ends, however it ends.
#pragma once
#include <string>

namespace hlo {

/// From here on the file goes with the process. More than 512 at once are merely not cleaned up.
void RegisterTemporaryFile(const std::string& name);
/// The file has been renamed or removed.
void UnregisterTemporaryFile(const std::string& name);
/// Unlinks all registered files of this process; for its abnormal ends. Only async-signal-safe calls.
void RemoveTemporaryFiles();

}  // namespace hlo
