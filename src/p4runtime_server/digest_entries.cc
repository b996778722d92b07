#include "p4runtime_server/digest_entries.h"

namespace turntable::p4runtime_server {

using Json = nlohmann::json;
using p4::v1::DigestEntry;
using p4::v1::Update;

SwitchUpdate write_digest(RunningProgram& program, Update::Type type, const DigestEntry& entry) {
  program.info().digest(entry.digest_id());
  program.digests().check(type, entry);
  return {Json::array(),
          [&program, type, entry] {
            // What came before anybody wanted it.
            if (!program.digests().has_any()) program.link().call("digest_read", Json::object());
            program.digests().write(type, entry);
          },
          "digest " + std::to_string(entry.digest_id())};
}

void read_digests(RunningProgram& program, const DigestEntry& wanted, const Entities& found) {
  if (wanted.digest_id() != 0) program.info().digest(wanted.digest_id());
  for (const DigestEntry& entry : program.digests().entries(wanted.digest_id())) {
    p4::v1::Entity entity;
    *entity.mutable_digest_entry() = entry;
    found(std::move(entity));
  }
}

}  // namespace turntable::p4runtime_server
