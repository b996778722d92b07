#include "hybridlog/uring_reader.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

namespace turntable::hybridlog {

std::unique_ptr<UringReader> UringReader::open(Device& device, const ReaderSettings& settings) {
  if (device.file() < 0) return nullptr;
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC));
  io_uring ring;
  // One more: the wake.
  if (!wake || ::io_uring_queue_init(static_cast<unsigned>(settings.under_way + 1), &ring, 0) != 0)
    return nullptr;
  return std::unique_ptr<UringReader>(new UringReader(device, settings, ring, std::move(wake)));
}

UringReader::UringReader(Device& device, const ReaderSettings& settings, io_uring ring,
                         UniqueFd wake)
    : device_(device),
      most_value_bytes_(settings.most_value_bytes),
      ring_(ring),
      wake_(std::move(wake)),
      reads_(settings.under_way) {
  for (Read& read : reads_) {
    read.beginning = sector_memory(BeginningSectors::kMostBytes);
    if (!read.beginning) throw std::bad_alloc();
    free_.push_back(&read);
  }
  thread_ = std::thread([this] { work(); });
}

UringReader::~UringReader() {
  stops_ = true;
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
  ::io_uring_queue_exit(&ring_);
}

std::shared_ptr<RecordReader::Ticket> UringReader::read(Address address) {
  auto ticket = std::make_shared<Ticket>(address);
  bool was_empty = false;
  {
    const std::lock_guard lock(mutex_);
    was_empty = waiting_.empty();
    waiting_.push_back(ticket);
  }
  // Else the thread has been told, and has not looked yet; or all reads are under way, and it looks
  // whenever one has ended.
  if (was_empty) ::eventfd_write(wake_.get(), 1);
  return ticket;
}

// At the end it waits for what the kernel still writes into this memory.
void UringReader::work() {
  await_wake();
  while (!stops_ || is_awaiting_ || free_.size() < reads_.size()) {
    if (!stops_) begin_waiting();
    ::io_uring_submit_and_wait(&ring_, 1);  // where it fails there are completions to be taken
    io_uring_cqe* completion = nullptr;
    while (::io_uring_peek_cqe(&ring_, &completion) == 0) {
      auto* const read = static_cast<Read*>(::io_uring_cqe_get_data(completion));
      const int result = completion->res;
      ::io_uring_cqe_seen(&ring_, completion);
      if (read == nullptr) {
        is_awaiting_ = false;
        if (!stops_) await_wake();
      } else {
        completed(*read, result);
      }
    }
  }
}

void UringReader::begin_waiting() {
  const std::lock_guard lock(mutex_);
  for (; !free_.empty() && !waiting_.empty(); waiting_.pop_front()) {
    Read& read = *free_.back();
    free_.pop_back();
    read.ticket = std::move(waiting_.front());
    const BeginningSectors beginning(read.ticket->address);
    ask(read, beginning.first, read.beginning.get(), beginning.bytes());
  }
}

void UringReader::ask(Read& read, Address from, std::byte* to, std::size_t bytes) {
  read.from = from;
  read.to = to;
  read.bytes = bytes;
  read.done = 0;
  device_.count_read(bytes);
  submit(read);
}

// There is one: a read has at most one entry, and so has the wake.
io_uring_sqe* UringReader::entry() {
  io_uring_sqe* entry = ::io_uring_get_sqe(&ring_);
  while (entry == nullptr) {
    ::io_uring_submit(&ring_);
    entry = ::io_uring_get_sqe(&ring_);
  }
  return entry;
}

void UringReader::submit(Read& read) {
  io_uring_sqe* const asked = entry();
  ::io_uring_prep_read(asked, device_.file(), read.to + read.done,
                       static_cast<unsigned>(read.bytes - read.done), read.from + read.done);
  ::io_uring_sqe_set_data(asked, &read);
}

void UringReader::await_wake() {
  io_uring_sqe* const asked = entry();
  ::io_uring_prep_read(asked, wake_.get(), &woken_, sizeof woken_, 0);
  ::io_uring_sqe_set_data(asked, nullptr);
  is_awaiting_ = true;
}

void UringReader::completed(Read& read, int result) {
  if (result == -EINTR || result == -EAGAIN) return submit(read);
  if (result < 0) return finish(read, {-result, std::system_category()});
  if (result == 0)
    return finish(read, std::make_error_code(std::errc::io_error));  // beyond the end
  read.done += static_cast<std::size_t>(result);
  if (read.done < read.bytes) return submit(read);
  go_on(read);
}

void UringReader::go_on(Read& read) {
  Ticket& ticket = *read.ticket;
  if (read.rest) {
    const std::span<std::byte> value = std::as_writable_bytes(ticket.sized.words());
    std::memcpy(value.last(read.missing).data(), read.rest.get(), read.missing);
    return finish(read);
  }
  const BeginningSectors beginning(ticket.address);
  read.missing = beginning.take(read.beginning.get(), most_value_bytes_, ticket);
  if (read.missing == 0) return finish(read, ticket.error);
  read.rest = sector_memory(read.missing);
  if (!read.rest) return finish(read, std::make_error_code(std::errc::not_enough_memory));
  ask(read, beginning.end, read.rest.get(), whole_sectors(read.missing));
}

void UringReader::finish(Read& read, std::error_code error) {
  read.ticket->error = error;
  read.ticket->done.store(true, std::memory_order_release);
  read.ticket.reset();
  read.rest.reset();
  free_.push_back(&read);
}

}  // namespace turntable::hybridlog
