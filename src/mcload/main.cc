// mcload: a load generator for memcached on the command line (docs/mcload.md).

#include "common/run_main.h"
#include "mcload/command_line.h"

int main(int argc, char** argv) {
  return turntable::run_main("mcload",
                             [&] { return turntable::mcload::run_command_line(argc, argv); });
}
