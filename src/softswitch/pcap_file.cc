#include "softswitch/pcap_file.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/errno_error.h"
#include "dataplane/program.h"

namespace turntable::softswitch {
namespace {

// All in this machine's byte order, which readers tell by the magic number.
struct PcapFileHeader {
  std::uint32_t magic = 0xa1b23c4d;  // with nanoseconds
  std::uint16_t version_major = 2;
  std::uint16_t version_minor = 4;
  std::uint32_t reserved1 = 0;
  std::uint32_t reserved2 = 0;
  std::uint32_t longest_frame = dataplane::kMaxFrame;
  std::uint32_t link_type = 1;  // Ethernet
};
static_assert(sizeof(PcapFileHeader) == 24);

struct PcapRecordHeader {
  std::uint32_t seconds;
  std::uint32_t nanoseconds;
  std::uint32_t captured_bytes;
  std::uint32_t frame_bytes;
};
static_assert(sizeof(PcapRecordHeader) == 16);

template <class Header>
void append(std::string& bytes, const Header& header) {
  bytes.append(reinterpret_cast<const char*>(&header), sizeof(header));
}

}  // namespace

PcapFile::PcapFile(const std::filesystem::path& path)
    : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
  if (!file_) throw errno_error("cannot write the capture " + path_.string());
  append(pending_, PcapFileHeader());
  flush();
}

void PcapFile::add(std::span<const std::uint8_t> frame, std::int64_t realtime_ns) {
  const auto bytes = static_cast<std::uint32_t>(frame.size());
  append(pending_,
         PcapRecordHeader{static_cast<std::uint32_t>(realtime_ns / kSecondNs),
                          static_cast<std::uint32_t>(realtime_ns % kSecondNs), bytes, bytes});
  pending_.append(reinterpret_cast<const char*>(frame.data()), frame.size());
}

void PcapFile::flush() {
  for (std::size_t written = 0; written < pending_.size();) {
    const ssize_t taken =
        ::write(file_.get(), pending_.data() + written, pending_.size() - written);
    if (taken < 0) throw errno_error("cannot write the capture " + path_.string());
    written += static_cast<std::size_t>(taken);
  }
  pending_.clear();
}

}  // namespace turntable::softswitch
