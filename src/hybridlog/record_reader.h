// Records from the device, for operations that go on with something else meanwhile.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <system_error>

#include "hybridlog/address.h"
#include "hybridlog/device.h"
#include "hybridlog/record.h"
#include "hybridlog/value.h"

namespace turntable::hybridlog {

class RecordReader {
 public:
  struct Ticket {
    explicit Ticket(Address of) : address(of) {}

    bool is_done() const noexcept { return done.load(std::memory_order_acquire); }

    const Address address;
    std::atomic<bool> done{false};
    // Once it is done.
    std::error_code error;
    Record record{};
    Value sized;  // of a sized record: its value

    Bytes value() const noexcept {
      return Header(record.header).is_sized() ? sized.bytes() : bytes_of(record.value);
    }
  };

  virtual ~RecordReader() = default;  // what was not begun is never done

  virtual std::shared_ptr<Ticket> read(Address address) = 0;
  virtual const char* kind() const noexcept = 0;  // io_uring, or threads
};

struct ReaderSettings {
  std::size_t under_way = 4;  // reads at once
  bool uses_uring = true;     // where kernel and device have it; else a thread waits for each read
  // What says that it is longer is no record.
  std::size_t most_value_bytes = kMostValueBytes;
};

// device: outlives the reader.
std::unique_ptr<RecordReader> open_record_reader(Device& device, const ReaderSettings& settings);

// For readers: what the device is asked for first, whole sectors with the record's beginning.
struct BeginningSectors {
  static constexpr std::size_t kMostBytes = 2 * Device::kSectorBytes;

  explicit BeginningSectors(Address record) noexcept
      : first(record & ~(Address{Device::kSectorBytes} - 1)),
        end((record + sizeof(Record) + Device::kSectorBytes - 1) &
            ~(Address{Device::kSectorBytes} - 1)) {}
  std::size_t bytes() const noexcept { return end - first; }

  // Takes what they have of the record. Returns how many bytes of a sized value lie behind `end`.
  std::size_t take(const std::byte* sectors, std::size_t most_value_bytes,
                   RecordReader::Ticket& ticket) const;

  Address first, end;
};

}  // namespace turntable::hybridlog
