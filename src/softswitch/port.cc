#include "softswitch/port.h"

#include <stdexcept>

#include "dataplane/replication.h"

namespace turntable::softswitch {

UniqueFd claim_for_port(const net::NetworkInterface& link, std::uint16_t number,
                        const std::string& interface) {
  UniqueFd claim = link.claim("port");
  if (claim) return claim;
  throw std::runtime_error("port " + std::to_string(number) + ": interface " + interface +
                           " is a port already, of this softswitch or another one; stop that one, "
                           "or take another interface");
}

PortTable::PortTable(std::uint32_t pipes) : pipes_(pipes) {
  for (std::uint32_t i = 0; i < pipes * dataplane::kPortsPerPipe; ++i) {
    const auto number = static_cast<std::uint16_t>(i);
    if (!dataplane::is_recirculation_port(number)) continue;
    recirculation_.push_back(std::make_unique<RecirculationPort>(number));
    by_number_[number] = recirculation_.back().get();
  }
}

void PortTable::add(std::unique_ptr<Port> port) {
  const std::uint16_t number = port->number();
  const std::string what = "port " + std::to_string(number) + " (" + port->interface() + "): ";
  if (number >= kMaxPorts) {
    throw std::invalid_argument(what + "expected a number below " + std::to_string(kMaxPorts) +
                                ", TNA ports have 9 bits");
  }
  if (number >= pipes_ * dataplane::kPortsPerPipe) {
    throw std::invalid_argument(
        what + "is of pipe " + std::to_string(number / dataplane::kPortsPerPipe) +
        ", and the switch has " + std::to_string(pipes_) +
        " pipes of 128 ports; expected a number below " +
        std::to_string(pipes_ * dataplane::kPortsPerPipe) + ", or more --pipes");
  }
  if (dataplane::is_recirculation_port(number)) {
    throw std::invalid_argument(what +
                                "68 to 71 of each pipe (128 numbers) are recirculation ports; take "
                                "another number");
  }
  if (by_number_[number] != nullptr) {
    throw std::invalid_argument(what + "the number is taken by " + by_number_[number]->interface() +
                                "; give every port its own");
  }
  by_number_[number] = port.get();
  ports_.push_back(std::move(port));
}

}  // namespace turntable::softswitch
