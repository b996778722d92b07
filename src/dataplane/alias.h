// Two fields of metadata that are one (@pa_alias): the narrower is the low bits of the wider.
#pragma once

#include "dataplane/bits.h"

namespace turntable::dataplane {

template <int Width, int PartWidth>
class Alias {
 public:
  using Whole = Unsigned<Width>;
  using Part = Unsigned<PartWidth>;

  // For one packet; where one of them does not begin at zero, the other follows.
  void bind(Whole& whole, Part& part) noexcept {
    whole_ = &whole;
    part_ = &part;
    known_ = 0;
    follow();
  }

  // After a write to one of both: the other follows.
  void follow() noexcept {
    if (*part_ != known_)
      *whole_ = with_slice<Width, PartWidth - 1, 0>(*whole_, *part_);
    else
      *part_ = slice<PartWidth - 1, 0>(*whole_);
    known_ = *part_;
  }

 private:
  Whole* whole_ = nullptr;
  Part* part_ = nullptr;
  Part known_ = 0;  // of the part, when both were the same
};

}  // namespace turntable::dataplane
