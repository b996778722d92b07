// How much slower than usual a test server is at an instant: by a script, or by a file that
// somebody rewrites while it runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace turntable::mcload {

class Slowdown {
 public:
  Slowdown() = default;

  // A line per change, "FROM_S FACTOR": from so many seconds after the server's start on. Throws
  // std::invalid_argument that names file and line.
  static std::vector<std::pair<double, double>> read_script(const std::string& path);

  void set_script(std::vector<std::pair<double, double>> script) { script_ = std::move(script); }
  // The file holds one number; it is read again every 20 ms. While it is not there: 1.
  void set_file(std::string path) { file_ = std::move(path); }

  void begin(std::int64_t now_ns) { began_ns_ = now_ns; }
  double factor(std::int64_t now_ns);

 private:
  std::vector<std::pair<double, double>> script_;
  std::string file_;
  std::int64_t began_ns_ = 0;
  std::int64_t read_ns_ = 0;
  double from_file_ = 1;
};

}  // namespace turntable::mcload
