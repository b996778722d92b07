#include "hybridlog/record_reader.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "hybridlog/threaded_reader.h"
#include "hybridlog/uring_reader.h"

namespace turntable::hybridlog {

std::unique_ptr<RecordReader> open_record_reader(Device& device, const ReaderSettings& settings) {
  if (settings.uses_uring)
    if (auto reader = UringReader::open(device, settings)) return reader;
  return std::make_unique<ThreadedReader>(device, settings);
}

std::size_t BeginningSectors::take(const std::byte* sectors, std::size_t most_value_bytes,
                                   RecordReader::Ticket& ticket) const {
  const std::byte* const begin = sectors + (ticket.address - first);
  std::memcpy(&ticket.record, begin, sizeof(Record));
  if (!Header(ticket.record.header).is_sized()) return 0;
  if (ticket.record.value_bytes() > most_value_bytes) {
    ticket.error = std::make_error_code(std::errc::bad_message);
    return 0;
  }
  ticket.sized.resize(ticket.record.value_bytes());
  const std::span<std::byte> value = std::as_writable_bytes(ticket.sized.words());
  const std::size_t there =
      std::min<std::size_t>(value.size(), end - ticket.address - sizeof(Record));
  if (there > 0) std::memcpy(value.data(), begin + sizeof(Record), there);
  return value.size() - there;
}

}  // namespace turntable::hybridlog
