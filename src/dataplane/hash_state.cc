#include "dataplane/hash_state.h"

#include <nlohmann/json.hpp>

#include "dataplane/hash_codec.h"
#include "dataplane/table_state.h"

namespace turntable::dataplane {
namespace {

using Json = nlohmann::json;

HashCodec fields_of(const std::string& name, DynamicHash& hash) {
  return {name + ".configure", kHashConfigure, hash};
}

HashCodec algorithm_of(const std::string& name, DynamicHash& hash) {
  return {name + ".algorithm", kHashAlgorithm, hash};
}

}  // namespace

Json state_of(const std::string& name, DynamicHash& hash) {
  Json state;
  if (hash.sets_slices()) state["fields"] = fields_of(name, hash).read(Json::object());
  if (hash.sets_algorithm()) {
    state["algorithm"] = algorithm_of(name, hash).read(Json::object());
    state["algorithm"]["data"].erase("seed");  // told in 32 bits; that of the algorithm has all
  }
  if (hash.sets_seed()) state["seed"] = hash.seed();
  return state;
}

void take_state(const std::string& name, DynamicHash& hash, const Json& state) {
  try {
    if (state.contains("fields")) fields_of(name, hash).write(state.at("fields"));
    if (state.contains("algorithm")) algorithm_of(name, hash).write(state.at("algorithm"));
    if (state.contains("seed"))
      algorithm_of(name, hash).write({{"data", {{"seed", state.at("seed")}}}});
  } catch (const CommandError& error) {
    throw state_conflict(std::string(error.what()) + "; reset the hash first");
  }
}

}  // namespace turntable::dataplane
