#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# What "make bench" says to a PEER that it cannot measure.

load helpers

bench=$BATS_TEST_DIRNAME/../../scripts/bench

@test "a peer that is not there is an error" {
	refused 2 env PEER=/nowhere/perf "$bench" <<-EOT
		bench: PEER=/nowhere/perf: no such file
	EOT
}
