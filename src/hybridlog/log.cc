#include "hybridlog/log.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace turntable::hybridlog {
namespace {

constexpr std::chrono::milliseconds kBetweenAttempts{50};  // to write where the device fails
constexpr unsigned kMostPageBits = 30;

// Moves a marker forwards, never back. True: this call has moved it.
bool raise(std::atomic<Address>& marker, Address to) noexcept {
  Address now = marker.load();
  while (now < to)
    if (marker.compare_exchange_weak(now, to)) return true;
  return false;
}

std::size_t mapped_bytes(const LogSettings& settings) {
  settings.check();
  return std::bit_ceil(settings.pages) << settings.page_bits;
}

}  // namespace

std::uint64_t LogSettings::mutable_pages() const noexcept {
  const auto wanted = static_cast<std::uint64_t>(mutable_share * static_cast<double>(pages));
  return std::clamp<std::uint64_t>(wanted, 1, pages - kReadOnlyPages);
}

void LogSettings::check() const {
  const auto fail = [](const std::string& what) { throw std::invalid_argument("log: " + what); };
  if (page_bytes() < Device::kSectorBytes || page_bits > kMostPageBits) {
    fail("pages of 2^" + std::to_string(page_bits) + " bytes; expected 2^12 to 2^" +
         std::to_string(kMostPageBits));
  }
  if (pages < kFewestPages) {
    fail(std::to_string(pages) + " pages in memory; expected at least " +
         std::to_string(kFewestPages) + ", or smaller pages");
  }
  if (!(mutable_share > 0 && mutable_share <= 1))
    fail("mutable share " + std::to_string(mutable_share) + "; expected more than 0, at most 1");
}

// A circle of a power of two of frames costs addresses only: no more than `pages` are in use.
Log::Log(const LogSettings& settings, Epoch& epoch, Device& device, Address begin, Address tail)
    : settings_(settings),
      epoch_(epoch),
      device_(device),
      memory_(mapped_bytes(settings), "the log"),
      memory_mask_(memory_.size() - 1),
      tail_(tail >> settings.page_bits << kOffsetBits | (tail & (settings.page_bytes() - 1))),
      read_only_(tail),
      safe_read_only_(tail),
      head_(tail),
      begin_(begin),
      wanted_head_(tail),
      flushed_until_(tail),
      free_until_(tail & ~(settings.page_bytes() - 1)),
      to_flush_(tail),
      to_free_(free_until_.load()),
      worker_([this](const std::stop_token& stop) { work(stop); }) {}

Log::~Log() = default;

Address Log::tail() const noexcept {
  const std::uint64_t now = tail_.load();
  return start_of(now >> kOffsetBits) + std::min(now & kOffsetMask, settings_.page_bytes());
}

std::error_code Log::wait_until_flushed(Address until) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return flushed_until_.load() >= until || error_; });
  return flushed_until_.load() >= until ? std::error_code() : error_;
}

std::error_code Log::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

std::optional<Address> Log::allocate(Epoch::Thread& thread, std::size_t bytes) {
  for (;;) {
    // Only where there seems to be room: else waiting threads would move the offset on and on.
    std::uint64_t place = tail_.load();
    if ((place & kOffsetMask) + bytes <= settings_.page_bytes()) {
      place = tail_.fetch_add(bytes);
      const std::uint64_t offset = place & kOffsetMask;
      if (offset + bytes <= settings_.page_bytes()) return start_of(place >> kOffsetBits) + offset;
    }
    if (open_page_after(place >> kOffsetBits, thread)) continue;
    if (failing_.load()) return std::nullopt;
    thread.refresh();
    std::this_thread::yield();
  }
}

// False: no frame is free.
bool Log::open_page_after(std::uint64_t page, Epoch::Thread& thread) {
  const std::uint64_t next = page + 1, pages = settings_.pages;
  if (start_of(next + 1) - free_until_.load() > start_of(pages)) return false;
  std::uint64_t now = tail_.load();
  do {
    if (now >> kOffsetBits != page) return true;
  } while (!tail_.compare_exchange_weak(now, next << kOffsetBits));
  const std::uint64_t mutable_pages = settings_.mutable_pages();
  // So far that the page after this one can be opened at once.
  if (next + 2 > pages) raise(wanted_head_, start_of(next + 2 - pages));
  if (next + 1 > mutable_pages) shift_read_only(start_of(next + 1 - mutable_pages), thread);
  shift_head(&thread);
  return true;
}

Address Log::shift_read_only_to_tail(Epoch::Thread& thread) {
  const Address until = tail();
  shift_read_only(until, thread);
  return until;
}

void Log::shift_read_only(Address until, Epoch::Thread& thread) {
  if (!raise(read_only_, until)) return;
  const auto nobody_writes_below = [this, until] {
    raise(safe_read_only_, until);
    {
      const std::lock_guard lock(mutex_);
      to_flush_ = std::max(to_flush_, until);
    }
    changed_.notify_all();
  };
  epoch_.bump(nobody_writes_below, thread);
}

// thread: the calling one where it is protected.
void Log::shift_head(Epoch::Thread* thread) {
  const Address flushed = std::min(wanted_head_.load(), flushed_until_.load());
  const Address until = flushed & ~(settings_.page_bytes() - 1);
  if (!raise(head_, until)) return;
  const auto nobody_reads_below = [this, until] {
    {
      const std::lock_guard lock(mutex_);
      to_free_ = std::max(to_free_, until);
    }
    changed_.notify_all();
  };
  if (thread != nullptr) {
    epoch_.bump(nobody_reads_below, *thread);
  } else {
    epoch_.bump(nobody_reads_below);
  }
}

// The only thread that writes to the device and frees frames, in the order of addresses. At the end
// what the device does not take is given up.
void Log::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto is_something_to_do = [this] {
    return to_flush_ > flushed_until_.load() || to_free_ > free_until_.load();
  };
  while (changed_.wait(lock, stop, is_something_to_do)) {
    const Address flushed = flushed_until_.load(), until = to_flush_;
    const Address freed = free_until_.load(), free_until = to_free_;
    lock.unlock();
    if (free_until > freed) {
      clear(freed, free_until);
      free_until_.store(free_until);
    }
    const std::error_code error = until > flushed ? write(flushed, until) : std::error_code();
    if (until > flushed && !error) {
      flushed_until_.store(until);
      shift_head(nullptr);
    }
    lock.lock();
    if (until > flushed) error_ = error;
    failing_.store(static_cast<bool>(error_));
    changed_.notify_all();
    if (error) changed_.wait_for(lock, stop, kBetweenAttempts, [] { return false; });
    if (error && stop.stop_requested()) return;
  }
}

// As an action of the epoch: whoever reads a marker that says `until` was protected after the bump,
// and so finds in the index what was written again before it.
void Log::truncate(Address until) {
  epoch_.bump([this, until] {
    raise(begin_, until);
    {
      const std::lock_guard lock(mutex_);  // whoever waits has not looked yet, or sleeps
    }
    changed_.notify_all();
  });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return begin_.load() >= until; });
}

// After a crash it may be that nothing was given back: the first time all is.
std::error_code Log::give_back(Address until) {
  const std::lock_guard lock(giving_back_);
  until = start_of_page(std::min(until, begin_.load()));
  if (until <= given_back_) return {};
  const std::error_code error = device_.discard(given_back_, until - given_back_);
  if (!error) given_back_ = until;
  return error;
}

std::error_code Log::write(Address from, Address until) {
  while (from < until) {
    const Address end =
        std::min(until, (from & ~(settings_.page_bytes() - 1)) + settings_.page_bytes());
    if (const std::error_code error = write_page_part(from, end)) return error;
    from = end;
  }
  return {};
}

// Whole sectors. What is behind `until` in its sector is still changed: it is left out, and written
// with the sector's second half later.
std::error_code Log::write_page_part(Address from, Address until) {
  constexpr Address kInSector = Device::kSectorBytes - 1;
  const Address first = from & ~kInSector, whole = until & ~kInSector;
  if (whole > first) {
    if (const auto error = device_.write(first, at(first), whole - first)) return error;
  }
  if (whole == until) return {};
  alignas(Device::kSectorBytes) std::array<std::byte, Device::kSectorBytes> sector{};
  std::memcpy(sector.data(), at(whole), until - whole);
  return device_.write(whole, sector.data(), sector.size());
}

// The kernel gives zeros where the memory is used again.
void Log::clear(Address from, Address until) noexcept {
  for (Address page = from; page < until; page += settings_.page_bytes())
    ::madvise(at(page), settings_.page_bytes(), MADV_DONTNEED);
}

}  // namespace turntable::hybridlog
