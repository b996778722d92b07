// Puts a server into the background without a gap: the caller goes on only when the server answers.
#pragma once

#include <filesystem>
#include <functional>

namespace turntable::node {

// Forks. The child leads a new session, keeps no descriptor of its caller but `kept`, works in "/",
// reads /dev/null, appends its output to `log_file`, and calls `serve(ready)`; `serve` calls
// `ready()` when it listens. The parent returns when that has happened, and throws
// std::runtime_error with the child's message when the child failed before. Call it before any
// thread is started; the child never returns from here.
void daemonize(const std::filesystem::path& log_file, int kept,
               const std::function<void(const std::function<void()>& ready)>& serve);

}  // namespace turntable::node
