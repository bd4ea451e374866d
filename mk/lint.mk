# SPDX-License-Identifier: BSD-3-Clause
# Checks of the sources themselves; a violation of any is an error. tidy and check-headers skip what
# has not changed since it passed (stamps in $(BUILD)/lint), so a second `make lint` takes seconds.
# From the Makefile: BUILD, CXX, and LINT_CXXFLAGS (language and include folders; -isystem for vendors).

CLANG_FORMAT := clang-format-14
CLANG_TIDY := clang-tidy-14
CPPCHECK := cppcheck
SHELLCHECK := shellcheck

LINT_ENV = BUILD='$(BUILD)' CXX='$(CXX)' LINT_CXXFLAGS='$(LINT_CXXFLAGS)' CLANG_FORMAT='$(CLANG_FORMAT)' \
  ABSENT_BACKENDS='$(ABSENT_BACKENDS)' CLANG_TIDY='$(CLANG_TIDY)' CPPCHECK='$(CPPCHECK)' SHELLCHECK='$(SHELLCHECK)'
# LINT_WITHOUT='tidy-tests' leaves these out, as CI does for its time: they are for before a commit.
LINT_WITHOUT :=
LINT_CHECKS := $(filter-out $(LINT_WITHOUT),check-size check-floors check-scripts check-libraries format-check check-headers cppcheck tidy \
  tidy-tests lint-is-alive check-sanitized)

.PHONY: lint format tidy-tests $(LINT_CHECKS)
lint: packages-lint $(LINT_CHECKS) ## check the sources: format, clang-tidy, cppcheck, floors ...

format: packages-lint ## rewrite the sources as .clang-format says
	@$(LINT_ENV) tools/check-format --fix

$(LINT_CHECKS): | packages-lint
check-headers tidy tidy-tests: | packages-build packages-test packages-bench

check-size: ; @tools/size
check-floors: ; @$(LINT_ENV) tools/check-floors
# Needs the programs: what they are linked to, not what the makefile says.
check-libraries: executables ; @tools/third-party --against THIRD-PARTY $(PERF:%=$(BIN)/%) $(BIN)/busbar
check-scripts: ; @$(LINT_ENV) tools/check-scripts
format-check: ; @$(LINT_ENV) tools/check-format
check-headers: ; @$(LINT_ENV) tools/check-headers
cppcheck: ; @$(LINT_ENV) tools/check-cppcheck
tidy: ; @$(LINT_ENV) tools/check-tidy
tidy-tests: private LINT_CXXFLAGS += $(EVERY_TEST_HAS:%=-include %)
tidy-tests: ; @$(LINT_ENV) TIDY_SCOPE=tests tools/check-tidy
lint-is-alive: ; @$(LINT_ENV) tools/lint-is-alive
# The folder whose tables are made by the compiler, with the sanitizers, which see other constants.
check-sanitized: ; @$(MAKE) --no-print-directory SANITIZE=address,undefined build-sanitize/joined/src/harness.o
