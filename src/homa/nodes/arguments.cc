#include "homa/nodes/arguments.h"

#include "common/command_error.h"

namespace turntable::homa {

Peers peers_argument(const std::string& where, const node::Arguments& arguments, const char* name) {
  std::vector<sockaddr_in> addresses;
  for (const nlohmann::json& json : arguments.array(name)) {
    const std::string what = where + ", " + name;
    const node::Arguments each(what, json, {"address", "port"});
    const sockaddr_in address =
        net::parse_ipv4(what + ": \"address\"", each.text("address"),
                        static_cast<std::uint16_t>(each.integer("port", 1, 65'535)));
    for (const sockaddr_in& other : addresses)
      if (net::same_endpoint(address, other))
        throw bad_argument(what + ": " + net::text_of(address) + " is there twice");
    addresses.push_back(address);
  }
  return Peers(std::move(addresses));
}

}  // namespace turntable::homa
