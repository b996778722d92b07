// The Tofino Native Architecture (Tofino 1), as p4soft knows it: types, intrinsic metadata, externs and packages, so that a
// program written for the SDE's tna.p4 checks the same here. Its parts have the names of the SDE's, which programs may include too.
#ifndef P4SOFT_TNA_P4
#define P4SOFT_TNA_P4

#include <tofino1_specs.p4>
#include <tofino1_base.p4>
#include <tofino1_arch.p4>

#endif
