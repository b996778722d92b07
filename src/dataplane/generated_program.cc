#include "dataplane/generated_program.h"

#include <algorithm>
#include <cstring>

#include "dataplane/program_control.h"

namespace turntable::dataplane {

GeneratedProgram::GeneratedProgram(std::string_view name, std::string_view schema,
                                   std::string_view p4info)
    : name_(name),
      schema_(schema),
      control_(std::make_unique<ProgramControl>(std::string(name), schema, digests_, p4info)) {}

GeneratedProgram::~GeneratedProgram() = default;

ControlPlane& GeneratedProgram::control() {
  return *control_;
}

void GeneratedProgram::add_table(const std::string& name, Table& table) {
  control_->add_table(name, table);
}

void GeneratedProgram::add_counter(const std::string& name, Counter& counter) {
  control_->add_counter(name, counter);
}

void GeneratedProgram::add_meter(const std::string& name, Meter& meter) {
  control_->add_meter(name, meter);
}

void GeneratedProgram::add_filter(const std::string& name, FilterArray& filter) {
  control_->add_filter(name, filter);
}

void GeneratedProgram::add_hash(const std::string& name, DynamicHash& hash) {
  control_->add_hash(name, hash);
}

void GeneratedProgram::add_random(Random& random) {
  control_->add_random(random);
}

void GeneratedProgram::add_selector(const std::string& name, ActionSelector& selector,
                                    const std::string& profile) {
  control_->profiles().add_selector(name, selector, profile);
}

void GeneratedProgram::add_implementation(const std::string& table, const std::string& profile,
                                          const std::string& selector) {
  control_->profiles().add_implementation(table, profile, selector);
}

void GeneratedProgram::request_mirror(std::uint16_t session,
                                      std::span<const std::uint8_t> header) noexcept {
  mirror_requested_ = true;
  mirror_copy_.session = session;
  mirror_copy_.header_length = static_cast<std::uint32_t>(header.size());
  std::copy(header.begin(), header.end(), mirror_copy_.header.begin());
}

// A frame is resubmitted once; the ASIC ignores a second request as well.
void GeneratedProgram::request_resubmit(Packet& packet,
                                        std::span<const std::uint8_t> data) noexcept {
  if (packet.resubmitted) return;
  packet.resubmit = true;
  packet.resubmit_data = {};
  std::copy(data.begin(), data.end(), packet.resubmit_data.begin());
}

void GeneratedProgram::mirror_original(Packet& packet, const PacketReader& reader) noexcept {
  packet.mirrored = mirror_requested_;
  if (!packet.mirrored) return;
  const std::ptrdiff_t parsed = std::max<std::ptrdiff_t>(reader.position() - packet.data, 0);
  mirror_copy_.front_length = static_cast<std::uint32_t>(parsed);
  mirror_copy_.tail_length = packet.length - mirror_copy_.front_length;
  std::memcpy(mirror_copy_.front.data(), packet.data, mirror_copy_.front_length);
}

void GeneratedProgram::mirror_rebuilt(Packet& packet) noexcept {
  packet.mirrored = mirror_requested_ && (packet.drop_ctl & kDropMirror) == 0;
  mirror_copy_.front_length = 0;
  mirror_copy_.tail_length = packet.length;
}

void GeneratedProgram::add_register(const std::string& name, RegisterArray& cells) {
  control_->add_register(name, cells);
}

}  // namespace turntable::dataplane
