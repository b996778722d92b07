// What generated code says about a packet while it passes, for `softswitch --trace`.
//
// Every program is compiled twice from the same file: NAME.so has none of the code within TRACED,
// and NAME.trace.so, compiled with TURNTABLE_TRACE, has all of it.
#pragma once

#ifdef TURNTABLE_TRACE

#include "dataplane/trace_recorder.h"
#define TRACED(...) __VA_ARGS__

namespace turntable::dataplane {
using ProgramBase = TracedProgram;
}

#else

#include "dataplane/generated_program.h"
#define TRACED(...)

namespace turntable::dataplane {
using ProgramBase = GeneratedProgram;
}

#endif
