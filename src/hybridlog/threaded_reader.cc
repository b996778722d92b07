#include "hybridlog/threaded_reader.h"

#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "hybridlog/sector_memory.h"

namespace turntable::hybridlog {

ThreadedReader::ThreadedReader(Device& device, const ReaderSettings& settings)
    : device_(device), most_value_bytes_(settings.most_value_bytes) {
  for (std::size_t i = 0; i < settings.under_way; ++i)
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

ThreadedReader::~ThreadedReader() = default;

std::shared_ptr<RecordReader::Ticket> ThreadedReader::read(Address address) {
  auto ticket = std::make_shared<Ticket>(address);
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(ticket);
  }
  changed_.notify_one();
  return ticket;
}

void ThreadedReader::work(const std::stop_token& stop) {
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

void ThreadedReader::read(Ticket& ticket) const {
  alignas(Device::kSectorBytes) std::array<std::byte, BeginningSectors::kMostBytes> sectors;
  const BeginningSectors beginning(ticket.address);
  ticket.error = device_.read(beginning.first, sectors.data(), beginning.bytes());
  if (ticket.error) return;
  const std::size_t missing = beginning.take(sectors.data(), most_value_bytes_, ticket);
  if (missing == 0) return;
  const SectorMemory rest = sector_memory(missing);
  if (!rest) {
    ticket.error = std::make_error_code(std::errc::not_enough_memory);
    return;
  }
  ticket.error = device_.read(beginning.end, rest.get(), whole_sectors(missing));
  const std::span<std::byte> value = std::as_writable_bytes(ticket.sized.words());
  if (!ticket.error) std::memcpy(value.last(missing).data(), rest.get(), missing);
}

}  // namespace turntable::hybridlog
