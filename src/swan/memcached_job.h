// memcached as the high-priority job: what a command says of it, and how it is to run.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "swan/process_settings.h"
#include "textstore/memcached_process.h"

namespace turntable::swan {

// Of a command's argument: {"threads", "connections", "memory_mb", ["hash_power"], "address",
// "port" | "socket", ["user"], ["affinity"], ["fresh"], ["timeout_s"]}. Throws CommandError.
textstore::MemcachedSettings memcached_settings(const std::string& where,
                                                const nlohmann::json& json);

// Applies them to all of its threads, and pins workers one by one if that was asked for.
void apply(const textstore::MemcachedProcess& memcached, const ProcessSettings& settings);

}  // namespace turntable::swan
