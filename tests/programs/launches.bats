#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=soak
# busbar accept run on far more nodes than this machine could start launchers for: `make soak`.
load ../common

@test "2,000 nodes with 256 descriptors and 120 processes have a verdict each, and the slow one is named" {
  local as_nobody=()
  # Root has no limit of processes.
  [ "$(id -u)" -ne 0 ] || as_nobody=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
  NOISE=$'max_cv = 0.05\non_noisy = "inconclusive"' node_specification stand-ins '"1MiB"' 20 0.9 1 |
    sed 's/^timeout_s = 20/timeout_s = 60/' > "$DIR/spec.toml"
  seq -f n%g 2000 > "$DIR/hosts"
  chmod -R a+rwX "$BATS_RUN_TMPDIR"
  "${as_nobody[@]}" true 2> /dev/null || skip "cannot become nobody"
  begin=$SECONDS
  ANY_HOST_SLOW=n1311 ANY_HOST_SECONDS=0.2 run --separate-stderr "${as_nobody[@]}" bash -c 'ulimit -n 256; ulimit -u 120; exec "$@"' x \
    /usr/bin/python3 -c 'import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print("peak KiB:", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(code)' ./busbar accept run "$DIR/spec.toml" -o "$DIR/run" --hostfile "$DIR/hosts" --mpiexec tests/fixtures/any-host --programs .
  echo "took $((SECONDS - begin)) s; $stderr"
  [ "$status" -eq 1 ]
  [ "$(jq -r '[.counts.PASS, .counts.FAIL, .counts.ERROR] | join(" ")' "$DIR/run/verdicts.json")" = "1999 1 0" ]
  [ "$(jq -r '[.verdicts[] | select(.verdict == "FAIL").instance] | join(" ")' "$DIR/run/verdicts.json")" = n1311 ]
  [ "$(sed -n 's/^peak KiB: //p' <<<"$stderr")" -lt 100000 ]
}
