# SPDX-License-Identifier: BSD-3-Clause
# For tests/programs/schemas.bats and loading.bats: ajv checks JSON by its schemas, and DuckDB reads files. No program needs them.
NODE_PACKAGES := ajv@8.17.1 @duckdb/node-api@1.4.4-r.1
packages-pages: node-packages
.PHONY: node-packages
node-packages: ; @BUSBAR_NO_INSTALL=$(BUSBAR_NO_INSTALL) tools/fetch-node-packages build/node $(NODE_PACKAGES)
