"""Random TNA programs: what p4soft makes of them, compared with an interpreter of its own."""
