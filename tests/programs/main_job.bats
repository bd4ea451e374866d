#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=soak
# Slow tests that want the whole machine: `make soak`.
load ../common

available_gib() { awk '/^MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo; }

@test "the main job has every size on a row of its own, in under three minutes" {
  [ "$(available_gib)" -ge 21 ] || skip "needs 21 GiB of memory"
  begin=$SECONDS
  run mpirun -np 16 ./allreduce_perf -b 1M -e 1G --csv "$DIR/a.csv"
  echo "took $((SECONDS - begin)) s"
  [ "$status" -eq 0 ]
  [ "$(table | wc -l)" -eq 11 ]
  [ "$(column wrong "$DIR/a.csv" | sort -u | grep -v '^$')" = 0 ]
  [ $((SECONDS - begin)) -lt 180 ]
}

@test "resident memory stays within the plan" {
  [ "$(available_gib)" -ge 8 ] || skip "needs 8 GiB of memory"
  local pair collective
  # Both buffers, the library's temporary memory and 32 MiB, in MiB for 256 MiB on 4 ranks.
  for pair in allreduce:672 reducescatter:416 allgather:352 broadcast:544 \
    reduce:1184 alltoall:608 sendrecv:544 gather:480 scatter:608; do
    collective=${pair%:*}
    for progress in block yield; do
      mpirun -np 4 "./${collective}_perf" -b 256M -e 256M -n 2 -w 1 -r 1 --progress "$progress" --csv "$DIR/$collective.$progress.csv" > "$DIR/out" 3>&- &
      peak=0
      while kill -0 $! 2> /dev/null; do
        now=$(pgrep -f -- "--csv $DIR/$collective.$progress.csv" | xargs -I{} cat /proc/{}/status 2> /dev/null |
          awk '$1 == "VmHWM:" && $2 > most { most = $2 } END { print most + 0 }')
        if [ "$now" -gt "$peak" ]; then peak=$now; fi
        sleep 0.05
      done
      echo "$collective $progress: peak $((peak / 1024)) MiB of a rank, planned ${pair#*:}"
      [ "$peak" -gt 0 ]
      [ $((10 * peak)) -lt $((11 * ${pair#*:} * 1024)) ]
    done
  done
}

@test "messages above 2 GiB are right" {
  [ "$(available_gib)" -ge 18 ] || skip "needs 18 GiB of memory"
  for collective in allreduce broadcast allgather reduce alltoall; do
    rm -f "$DIR/a.csv"
    run -0 mpirun -np 2 "./${collective}_perf" -b 3G -e 3G -d int8 -n 1 -w 0 --placement in --csv "$DIR/a.csv"
    [ "$(column wrong "$DIR/a.csv")" = 0 ]
  done
}
