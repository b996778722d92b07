#include "hybridlog/chain_lookup.h"

namespace turntable::hybridlog {

// Bytes below begin may be zeros: it is looked at after each of them was read.
bool ChainLookup::go_on() {
  using Found = OtherLogs::Found;
  for (;;) {
    if (reading_) {
      if (!reading_->is_done()) return false;
      if (store_.log().begin() != begin_) return end_with(Found::kGone);
      const Header header(reading_->record.header);
      if (reading_->error || header.is_nothing()) return end_with(Found::kError);
      const bool counts = !header.is_invalid() && !header.is_indirection();
      if (counts && reading_->record.key == key_)
        return end_with(header.is_tombstone() ? Found::kNothing : Found::kValue);
      address_ = header.previous();
    }
    if (store_.log().begin() != begin_) return end_with(Found::kGone);
    if (address_ < begin_) return end_with(Found::kNothing);
    // What is not on the device was never pointed to.
    if (address_ >= store_.log().head()) return end_with(Found::kError);
    reading_ = store_.reader().read(address_);
  }
}

bool ChainLookup::end_with(OtherLogs::Found found) noexcept {
  found_ = found;
  return true;
}

}  // namespace turntable::hybridlog
