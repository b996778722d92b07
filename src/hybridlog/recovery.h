// A store's index from the records that a checkpoint covers.
#pragma once

#include <stdexcept>

#include "hybridlog/device.h"
#include "hybridlog/hash_index.h"

namespace turntable::hybridlog {

struct Checkpoint;

// The device does not have what the checkpoint says.
class RecoveryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Reads the log from begin to end. Records of the version after the checkpoint's are marked invalid
// on the device, so that no later checkpoint finds them. Throws RecoveryError.
void recover(const Checkpoint& from, unsigned page_bits, Device& device, HashIndex& index);

}  // namespace turntable::hybridlog
