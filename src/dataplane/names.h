// Short names of tables, keys and actions: any unique suffix at a dot, as BfRt clients accept it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace turntable::dataplane {

// "partition" and "SwitchIngress.partition" are suffixes of "pipe.SwitchIngress.partition".
bool is_dotted_suffix(std::string_view name, std::string_view suffix);

// The position of the one name that `wanted` stands for: an equal name, else the only one with that
// suffix. Throws bad_argument that names `what` and `where` ("table", "of program nocache"), with
// the nearest names if there is none, and all candidates if there are several.
std::size_t resolve_name(const std::vector<std::string>& names, std::string_view wanted,
                         std::string_view what, std::string_view where);

}  // namespace turntable::dataplane
