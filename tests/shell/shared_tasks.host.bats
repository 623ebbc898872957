#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Shared counting of tasks where it takes many runs, threads or sets: on a real machine, with
# software events. A host may hide some switches from BPF programs, so that counts can be short.

load helpers
load kept

requirements() {
	require_root
}

@test "1,000 short runs beside a long one leave nothing, and the long one is right" {
	gang 2 1000 20
	short_runs 1000 page-faults
	same long 2 page-faults 1000
}
