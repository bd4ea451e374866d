#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Slurm prolog: judges this node before a job gets it. In slurm.conf:
#   Prolog=/etc/slurm/busbar-prolog.sh
#   PrologEpilogTimeout=900
# Slurm drains the node and requeues the job where this leaves with anything but 0. It calls no
# Slurm command, which prologs must not do. What it says goes to slurmd's log. Nothing can be copied
# here: the bundle of `make bundle` lies on the node already, by the image or a package.
set -u
PATH=${BUSBAR_PROGRAMS:-/opt/busbar}:$PATH

SPEC=${BUSBAR_SPEC:-/etc/busbar/accept.toml}
STATE=${BUSBAR_STATE:-/var/lib/busbar}
TEXTFILES=${BUSBAR_TEXTFILES:-/var/lib/node_exporter/textfile_collector}
MAX_AGE_MINUTES=${BUSBAR_MAX_AGE_MINUTES:-720}  # a pass is good for that long
TIMEOUT=${BUSBAR_TIMEOUT:-600}                  # seconds; below PrologEpilogTimeout
NODE=${SLURMD_NODENAME:-$(hostname -s)}
PASSED=$STATE/passed

KEEP_DAYS=${BUSBAR_KEEP_DAYS:-30}               # of what was measured

say() { echo "busbar-prolog: $NODE: $*" >&2; }

mkdir -p "$STATE" || exit 1
if [ -n "$(find "$PASSED" -mmin "-$MAX_AGE_MINUTES" 2>/dev/null)" ]; then
  exit 0
fi
rm -f "$PASSED"
# Beside another job neither could be judged: this node is asked again by the next job.
if pgrep -af '^slurmstepd: \[' | grep -qvF "[${SLURM_JOB_ID:-0}."; then
  say "another job runs here; not measured"
  exit 0
fi
find "$STATE" -maxdepth 1 -name 'run-*' -mtime "+$KEEP_DAYS" -exec rm -rf {} +

RUN=$STATE/run-$(date +%Y%m%dT%H%M%S)-${SLURM_JOB_ID:-0}
PROMETHEUS=()
[ -d "$TEXTFILES" ] && PROMETHEUS=(--prometheus "$TEXTFILES/busbar.prom")
timeout --kill-after=10 "$TIMEOUT" \
  busbar accept run "$SPEC" --profile quick --hosts "$NODE" -o "$RUN" "${PROMETHEUS[@]}" >"$RUN.log" 2>&1
code=$?

case $code in
  0) touch "$PASSED" ;;
  3) # Not enough is known: the job runs, and the next one asks again.
    say "INCONCLUSIVE, see $RUN.log"
    code=0
    ;;
  1) say "FAIL, see $RUN.log: $(grep -m1 ' FAIL' "$RUN.log")" ;;
  *) say "no verdict (exit $code), see $RUN.log: $(tail -n 1 "$RUN.log")" ;;
esac
exit "$code"
