# SPDX-License-Identifier: BSD-3-Clause
# Tests on a cluster of network namespaces: tests/cluster/cluster. They need root, ip and tc; without
# them every test skips and says why.
.PHONY: test-cluster
test-cluster: packages-slurm executables ## acceptance tests on hosts that are network namespaces
	@$(call run_bats,cluster,$(WITH_TAGS)) tests/cluster

# Each verdict ten times: one in ten would be no acceptance test.
.PHONY: soak-cluster
soak-cluster: executables ## ten runs of each verdict on the namespaces' cluster
	BUSBAR_REPEATS=10 bats --filter "cluster passes|host" $(addprefix tests/cluster/,accept.bats launchers.bats fleet.bats)
soak: soak-cluster
