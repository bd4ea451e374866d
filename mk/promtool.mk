# SPDX-License-Identifier: BSD-3-Clause
# Prometheus and its checker of metrics and alerts, for tests/project/examples.bats.
packages-pages: promtool
.PHONY: promtool
promtool: ## fetch Debian's Prometheus into build/ (19 MB; its package would start a server)
	@BUSBAR_NO_INSTALL=$(BUSBAR_NO_INSTALL) tools/fetch-promtool build/promtool
