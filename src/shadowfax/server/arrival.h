// A range of keys that this server receives from another one (docs/shadowfax-design.md §3).
//
//   prepare() : a checkpoint, below whose end lies whatever this server had of the range before;
//               what was staged for another one is forgotten first
//   stage()   : hot records, as the source has cut them off; they are in memory alone
//   begin()   : it owns the range; what is staged is taken, what it lacks is awaited, no
//               checkpoints are made as long as they would have to wait for it, and the log is not
//               compacted
//   take()    : records come, the newest of a key first
//   finish()  : all have come; a checkpoint has them, and from then on nothing more is taken
//
// After a crash all of it is sent again: the source knows by the server's incarnation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hybridlog/store.h"
#include "shadowfax/cluster/cluster_state.h"
#include "shadowfax/server/checkpointer.h"
#include "shadowfax/server/compaction_gate.h"

namespace turntable::shadowfax {

// Not thread-safe.
class Arrival {
 public:
  Arrival(hybridlog::Store& store, Checkpointer& checkpointer, CompactionGate& gate);

  // The migration whose range is received.
  std::optional<std::uint64_t> id() const noexcept { return id_; }
  std::uint64_t records() const noexcept { return records_; }        // that came, since begin()
  std::uint64_t staged() const noexcept { return staged_records_; }  // of them before it

  void forget_staged();
  // Thread-safe. Throws std::system_error where no checkpoint can be made now.
  hybridlog::Address prepare() { return checkpointer_.make().end; }
  // For the migration that may begin next. Throws std::invalid_argument.
  void stage(std::uint64_t id, std::span<const std::uint8_t> records);
  // Of one that has ended, or has begun: nothing. The state that says so may be an old one.
  void begin(const Migration& migration);
  // records: server/moved_record.h. Throws std::invalid_argument where they are none; nothing was
  // taken then. std::runtime_error where the store has no room for them, cannot read what it has,
  // or has no values that are so long. Once all have come: nothing.
  void take(std::span<const std::uint8_t> records);
  // rest: what was not sent, of which there are indirection records; they count from now on. Throws
  // std::system_error where the checkpoint cannot be made, std::runtime_error as take(): try again.
  // What was done is not done again, and the first one's rest stays.
  void finish(const std::optional<SourceLog>& rest = std::nullopt);
  bool has_all() const noexcept { return has_all_; }
  const std::optional<SourceLog>& rest() const noexcept { return rest_; }
  // It is known to the metadata service.
  void end() {
    if (!id_) return;
    ended_ = *id_;
    id_.reset();
    gate_.open();
  }

 private:
  hybridlog::Store& store_;
  Checkpointer& checkpointer_;
  CompactionGate& gate_;
  std::optional<std::uint64_t> id_;
  hybridlog::Address receives_from_ = 0;
  std::vector<hybridlog::Awaited::Addition> left_;  // to be made
  std::uint64_t staged_for_ = 0;                    // the migration's id; 0: nothing is staged
  std::vector<std::uint8_t> staged_;
  std::uint64_t staged_records_ = 0;
  std::uint64_t ended_ = 0;  // the last one's id; ids ascend
  std::uint64_t records_ = 0;
  bool has_all_ = false, is_kept_ = false;  // is_kept_: a checkpoint has all
  std::optional<SourceLog> rest_;           // of what has all
};

}  // namespace turntable::shadowfax
