// The program as P4Runtime's forwarding-pipeline configuration. softswitch runs one program from
// its start to its end: a client may ask whether it is the one that it wants, and have it begin
// anew.
#pragma once

#include "p4/v1/p4runtime.pb.h"
#include "p4runtime_server/running_program.h"

namespace turntable::p4runtime_server {

// Throws Refusal: INVALID_ARGUMENT no configuration, or that of another program; UNIMPLEMENTED what
// softswitch cannot do.
void set_pipeline_config(RunningProgram& program,
                         const p4::v1::SetForwardingPipelineConfigRequest& request);

void get_pipeline_config(const RunningProgram& program,
                         const p4::v1::GetForwardingPipelineConfigRequest& request,
                         p4::v1::ForwardingPipelineConfig& config);

}  // namespace turntable::p4runtime_server
