// What a node found once and must know for as long as a run lasts, also after it was started anew:
// by a key of the run's, in a file of a directory that outlives the node.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace turntable::node {

class Kept {
 public:
  using Json = nlohmann::json;

  // directory/<kind>-<hash of key>.json. `where` is the beginning of every message.
  Kept(std::string where, const std::string& directory, const std::string& kind, std::string key);

  // An object, with the key as "key"; null if there is none for it. Throws CommandError for a file
  // that holds something else.
  Json read() const;
  // `value`: an object. Throws CommandError.
  void write(Json value) const;

  const std::string& path() const noexcept { return path_; }

 private:
  const std::string where_, key_, path_;
};

}  // namespace turntable::node
