// Statistics of clients and servers as JSON: docs/homa.md §8.
#pragma once

#include <nlohmann/json.hpp>

#include "homa/nodes/message_client.h"
#include "homa/nodes/message_server.h"

namespace turntable::homa {

nlohmann::json raw_statistics(const MessageClient& client, const load::Schedule& schedule,
                              bool complete);
// While it runs: its seconds that are over, from one on.
nlohmann::json statistics_so_far(const MessageClient& client, std::size_t first_second);
nlohmann::json raw_statistics(const ServerStatistics& statistics);

}  // namespace turntable::homa
