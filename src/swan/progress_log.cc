#include "swan/progress_log.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "common/clock.h"
#include "common/errno_error.h"

namespace turntable::swan {
namespace {

constexpr std::size_t kMostWritten = 4U << 20U;
constexpr std::size_t kChunk = 16384;
constexpr std::size_t kPipeBytes = 64U << 10U;  // as pipes are
constexpr std::size_t kMostLine = 64U << 10U;
constexpr std::size_t kLastLines = 12;
constexpr std::size_t kFirstLines = 1000;
constexpr std::string_view kProgress = "progress ";

}  // namespace

std::optional<double> ProgressLine::at(std::int64_t at_ns) const {
  if (points_.empty()) return std::nullopt;
  const auto after =
      std::lower_bound(points_.begin(), points_.end(), at_ns,
                       [](const Point& point, std::int64_t at) { return point.at_ns < at; });
  if (after == points_.begin()) return after->amount;
  if (after == points_.end()) return points_.back().amount;
  const Point& before = *(after - 1);
  const double share =
      static_cast<double>(at_ns - before.at_ns) / static_cast<double>(after->at_ns - before.at_ns);
  return before.amount + share * (after->amount - before.amount);
}

ProgressLog::ProgressLog(const std::filesystem::path& file)
    : file_(file, std::ios::binary | std::ios::trunc),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_) throw errno_error("cannot create an eventfd");
  thread_ = std::thread([this] { loop(); });
}

ProgressLog::~ProgressLog() {
  {
    const std::lock_guard lock(mutex_);
    for (Source& source : sources_) source.reader.reset();  // whoever still writes is told so
    ending_ = true;
  }
  ::eventfd_write(wake_.get(), 1);
  if (thread_.joinable()) thread_.join();
}

UniqueFd ProgressLog::open_writer() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw errno_error("cannot create a pipe");
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  UniqueFd writer(ends[1]);
  {
    const std::lock_guard lock(mutex_);
    sources_.emplace_back().reader.reset(ends[0]);
  }
  ::eventfd_write(wake_.get(), 1);
  return writer;
}

bool ProgressLog::finish(Deadline deadline) {
  std::unique_lock lock(mutex_);
  ending_ = true;
  ::eventfd_write(wake_.get(), 1);
  if (!changed_.wait_until(lock, deadline.time_point(), [&] { return ended_; })) return false;
  lock.unlock();
  if (thread_.joinable()) thread_.join();
  file_.flush();
  return true;
}

void ProgressLog::loop() {
  while (true) {
    std::vector<pollfd> polled = {{wake_.get(), POLLIN, 0}};
    {
      const std::lock_guard lock(mutex_);
      for (const Source& source : sources_)
        if (source.reader) polled.push_back({source.reader.get(), POLLIN, 0});
      if (ending_ && polled.size() == 1) {
        ended_ = true;
        changed_.notify_all();
        return;
      }
    }
    ::poll(polled.data(), polled.size(), -1);
    eventfd_t ignored = 0;
    ::eventfd_read(wake_.get(), &ignored);
    const std::lock_guard lock(mutex_);
    for (Source& source : sources_)
      if (source.reader && !read_from(source)) source.reader.reset();
  }
}

// False: its end.
bool ProgressLog::read_from(Source& source) {
  std::array<char, kChunk> chunk;
  const ssize_t got = ::read(source.reader.get(), chunk.data(), chunk.size());
  const std::int64_t now = monotonic_ns();
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  const auto size = static_cast<std::size_t>(got);
  if (written_ < kMostWritten) file_.write(chunk.data(), got);
  written_ += size;
  source.rest.append(chunk.data(), size);
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = source.rest.find('\n', begin)) != std::string::npos;
       begin = end + 1)
    take_line(source, source.rest.substr(begin, end - begin), now);
  source.rest.erase(0, begin);
  if (source.rest.size() > kMostLine) source.rest.clear();
  return true;
}

void ProgressLog::take_line(Source& source, const std::string& line, std::int64_t at_ns) {
  if (first_.size() < kFirstLines) first_.push_back(line);
  if (line.starts_with(kProgress)) {
    source.progress.add(at_ns, std::strtod(line.c_str() + kProgress.size(), nullptr));
    return;
  }
  last_.push_back(line);
  if (last_.size() > kLastLines) last_.pop_front();
}

bool ProgressLog::has_line_with(const std::string& text) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(first_.begin(), first_.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

std::string ProgressLog::last_lines() {
  const std::lock_guard lock(mutex_);
  for (Source& source : sources_) {
    for (std::size_t read = 0; source.reader && read < kPipeBytes; read += kChunk)
      if (!read_from(source)) break;  // the thread closes it
  }
  std::string lines;
  for (const std::string& line : last_) lines += (lines.empty() ? "  " : "\n  ") + line;
  return lines.empty() ? "  (empty)" : lines;
}

std::optional<double> ProgressLog::difference(std::int64_t from_ns, std::int64_t until_ns) const {
  const std::lock_guard lock(mutex_);
  std::optional<double> sum;
  for (const Source& source : sources_) {
    const auto from = source.progress.at(from_ns);
    const auto until = source.progress.at(until_ns);
    if (from && until) sum = sum.value_or(0) + *until - *from;
  }
  return sum;
}

}  // namespace turntable::swan
