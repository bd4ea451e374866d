// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "harness/measurement.hpp"
#include "model/fact.hpp"
#include "tests/unit/support/sample_records.hpp"

namespace busbar::test {

/// Measures the rows of a job into the outputs of its options, as a program does.
inline void run_job(const Job& job) {
  Outputs outputs(job.world, job.options);
  Journal journal(job.world, job.options);
  const std::vector<PlannedRow> rows = plan_rows(job.options, job.collective, job.plan);
  Connected connected(job, rows);
  RunContext head = context();
  const std::string configuration = join(configuration_of(job.options), " ");
  head.facts = {{key(fact::kConfiguration), configuration}};
  head.hosts.assign(static_cast<std::size_t>(job.world.size()), "h1");
  head.groups = job.plan.ranks_by_group();
  outputs.check_resumable(configuration);
  journal.begin(job, rows, outputs, configuration);
  outputs.begin(head);
  run_rows(job, rows, connected, journal, outputs);
  outputs.end("");
  journal.end();
}

}  // namespace busbar::test
