#include "shadowfax/client/open_sessions.h"

#include "shadowfax/client/router.h"
#include "shadowfax/client/text_sessions.h"

namespace turntable::shadowfax {
namespace {

std::unique_ptr<const TextProtocol> text_protocol(Protocol protocol) {
  if (protocol == Protocol::kMemcached) return std::make_unique<MemcachedProtocol>();
  return std::make_unique<RedisProtocol>();
}

}  // namespace

std::unique_ptr<Sessions> open_sessions(const Servers& servers, const Batching& batching,
                                        std::size_t thread) {
  if (servers.protocol == Protocol::kShadowfax) return open_router(servers, batching, thread);
  return std::make_unique<TextSessions>(text_protocol(servers.protocol), batching, servers.given,
                                        thread);
}

}  // namespace turntable::shadowfax
