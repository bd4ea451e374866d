# SPDX-License-Identifier: BSD-3-Clause
# Tests on a cluster of network namespaces: tests/cluster/cluster. They need root, ip and tc; without
# them every test skips and says why.
.PHONY: test-cluster
test-cluster: executables ## acceptance tests on four hosts that are network namespaces
	BUILD=$(BUILD) $(if $(SANITIZE),ASAN_OPTIONS=detect_leaks=0) bats tests/cluster
check: test-cluster
