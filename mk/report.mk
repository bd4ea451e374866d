# SPDX-License-Identifier: BSD-3-Clause
# The comparison report of the first paper's systems, from the simulation.
EXAMPLE := plots/example-report
# system:ranks
EXAMPLE_CASES := dgx-1v:2 dgx-1v:4 dgx-1v:8 dgx-2:2 dgx-2:4 dgx-2:8 dgx-2:16 ac922:2 ac922:4 exxact-ts4:2 exxact-ts4:4 exxact-ts4:8

.PHONY: example-report docs-pictures
example-report: packages-build ## simulate DGX-1V, DGX-2, AC922 and the 2080 Ti box and compare them: plots/example-report/report.html and .md
	@$(MAKE) --no-print-directory busbar allreduce_perf broadcast_perf
	@rm -rf $(EXAMPLE); mkdir -p $(EXAMPLE)
	@for collective in allreduce broadcast; do for case in $(EXAMPLE_CASES); do IFS=: read -r system ranks <<< $$case; \
	  ./$${collective}_perf --backend sim --system $$system --ranks $$ranks --devices prefix -b 1M -e 1G --placement out \
	    --csv $(EXAMPLE)/$$collective-$$system-$$ranks.csv > /dev/null || exit; done; done
	@for kind in html md; do ./busbar report --system dgx-1v --system dgx-2 --system ac922 --system exxact-ts4 \
	  $(EXAMPLE)/*.csv -o $(EXAMPLE)/report.$$kind || exit; done

# Not a prerequisite of anything: it needs root, and browsers draw fonts of their own.
docs-pictures: packages-plot executables ## draw the pictures of pages in docs/ again (needs root, ip, tc, chromium)
	tools/docs-pictures
