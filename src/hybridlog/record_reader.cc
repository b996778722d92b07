#include "hybridlog/record_reader.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace turntable::hybridlog {

RecordReader::RecordReader(Device& device, std::size_t threads, std::size_t most_value_bytes)
    : device_(device), most_value_bytes_(most_value_bytes) {
  for (std::size_t i = 0; i < threads; ++i)
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

RecordReader::~RecordReader() = default;

std::shared_ptr<RecordReader::Ticket> RecordReader::read(Address address) {
  auto ticket = std::make_shared<Ticket>(address);
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(ticket);
  }
  changed_.notify_one();
  return ticket;
}

void RecordReader::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) {
    const std::shared_ptr<Ticket> ticket = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    read(*ticket);
    ticket->done.store(true, std::memory_order_release);
    lock.lock();
  }
}

// The beginning of a record may lie in two sectors. Where it is longer than these, the rest is read
// once its length is known.
void RecordReader::read(Ticket& ticket) const {
  constexpr Address kSector = Device::kSectorBytes;
  alignas(kSector) std::array<std::byte, 2 * kSector> sectors;
  const Address first = ticket.address & ~(kSector - 1);
  const Address end = (ticket.address + sizeof(Record) + kSector - 1) & ~(kSector - 1);
  ticket.error = device_.read(first, sectors.data(), end - first);
  if (ticket.error) return;
  const std::byte* const begin = sectors.data() + (ticket.address - first);
  std::memcpy(&ticket.record, begin, sizeof(Record));
  if (!Header(ticket.record.header).is_sized()) return;
  if (ticket.record.value_bytes() > most_value_bytes_) {
    ticket.error = std::make_error_code(std::errc::bad_message);
    return;
  }
  ticket.sized.resize(ticket.record.value_bytes());
  const std::span<std::byte> value = std::as_writable_bytes(ticket.sized.words());
  const std::size_t there =
      std::min<std::size_t>(value.size(), end - ticket.address - sizeof(Record));
  if (there > 0) std::memcpy(value.data(), begin + sizeof(Record), there);
  if (there < value.size()) ticket.error = read_rest(end, value.subspan(there));
}

// address: a sector's.
std::error_code RecordReader::read_rest(Address address, std::span<std::byte> rest) const {
  constexpr std::size_t kSector = Device::kSectorBytes;
  const std::size_t sectors = (rest.size() + kSector - 1) & ~(kSector - 1);
  const std::unique_ptr<std::byte, decltype(&std::free)> read(
      static_cast<std::byte*>(std::aligned_alloc(kSector, sectors)), &std::free);
  if (!read) return std::make_error_code(std::errc::not_enough_memory);
  const std::error_code error = device_.read(address, read.get(), sectors);
  if (!error) std::memcpy(rest.data(), read.get(), rest.size());
  return error;
}

}  // namespace turntable::hybridlog
