// Lists of processors in the kernel's notation: "0-2,5".
#pragma once

#include <string>
#include <vector>

namespace turntable {

using CpuList = std::vector<int>;  // ascending, each once

// `where` begins the message of the CommandError (bad_argument) for what is no such list. An empty
// text is an empty list.
CpuList parse_cpu_list(const std::string& where, const std::string& text);

// "0-2,5"; empty for none.
std::string cpu_list_text(const CpuList& cpus);

// The processors that this process may run on now.
CpuList allowed_cpus();

bool contains(const CpuList& cpus, int cpu);
// Those of `cpus` that are not in `others`.
CpuList without(const CpuList& cpus, const CpuList& others);

}  // namespace turntable
