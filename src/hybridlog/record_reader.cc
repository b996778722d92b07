#include "hybridlog/record_reader.h"

#include <array>
#include <cstring>
#include <utility>

namespace turntable::hybridlog {

RecordReader::RecordReader(Device& device, std::size_t threads) : device_(device) {
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

// A record may lie in two sectors.
void RecordReader::read(Ticket& ticket) const {
  constexpr Address kSector = Device::kSectorBytes;
  alignas(kSector) std::array<std::byte, 2 * kSector> sectors;
  const Address first = ticket.address & ~(kSector - 1);
  const Address end = (ticket.address + sizeof(Record) + kSector - 1) & ~(kSector - 1);
  ticket.error = device_.read(first, sectors.data(), end - first);
  if (!ticket.error)
    std::memcpy(&ticket.record, sectors.data() + (ticket.address - first), sizeof(Record));
}

}  // namespace turntable::hybridlog
