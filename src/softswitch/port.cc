#include "softswitch/port.h"

#include <stdexcept>

namespace turntable::softswitch {

void PortTable::add(std::unique_ptr<Port> port) {
  const std::uint16_t number = port->number();
  const std::string what = "port " + std::to_string(number) + " (" + port->interface() + "): ";
  if (number >= kMaxPorts) {
    throw std::invalid_argument(what + "expected a number below " + std::to_string(kMaxPorts) +
                                ", TNA ports have 9 bits");
  }
  if (by_number_[number] != nullptr) {
    throw std::invalid_argument(what + "the number is taken by " + by_number_[number]->interface() +
                                "; give every port its own");
  }
  by_number_[number] = port.get();
  ports_.push_back(std::move(port));
}

}  // namespace turntable::softswitch
