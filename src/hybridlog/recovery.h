// A store's index from the records that a checkpoint covers.
#pragma once

#include <stdexcept>

#include "hybridlog/device.h"
#include "hybridlog/hash_index.h"

namespace turntable::hybridlog {

struct Checkpoint;
struct Recovered;
struct StoreSettings;

// The device does not have what the checkpoint says.
class RecoveryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Takes the checkpoint's file of the index, if there is one, and reads the log behind it to the end
// by several threads; else the whole log. Records of the version after the checkpoint's are marked
// invalid on the device, so that no later checkpoint finds them. Throws RecoveryError.
Recovered recover(const Checkpoint& from, const StoreSettings& settings, Device& device,
                  HashIndex& index);

}  // namespace turntable::hybridlog
