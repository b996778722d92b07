// A checkpoint, where a store that is begun again finds it. Format 2 has the additions that are
// left (awaited.h), which a program of format 1 would lose; files of format 1 have none, and are
// read.
#pragma once

#include <optional>
#include <string>

#include "common/checked_file.h"
#include "hybridlog/store.h"

namespace turntable::hybridlog {

// A file that is no checkpoint, or was changed.
using CheckpointError = CheckedFileError;

// Replaces the file: after a crash there is the old one or the new one, whole. Throws
// std::system_error.
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);

// Nothing where there is no file. Throws CheckpointError, std::system_error.
std::optional<Checkpoint> read_checkpoint(const std::string& path);

}  // namespace turntable::hybridlog
