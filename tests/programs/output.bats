#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=quick
load ../common

@test "rows have 13 words and begin with a digit; nothing else does" {
  run -0 --separate-stderr mpirun -np 4 ./allreduce_perf --host-limits off -b 1M -e 4M -c 1 --time-budget 0.1
  [ "$(table | wc -l)" -eq 3 ]
  [ "$(table | awk 'NF != 13' | wc -l)" -eq 0 ]
  [ "$(grep -vc '^#' <<<"$output")" -eq 3 ]
  [ -z "$stderr" ]
}

@test "the output reads under the rules of DCGM, Azure, superbench, Google and AWS" {
  run --separate-stderr mpirun -np 4 ./all_reduce_perf -b 1M -e 2M -c 1 --time-budget 0.1
  grep -q '^# Out of bounds values : 0 OK' <<<"$output"                  # DCGM
  grep -qE '^# Avg bus bandwidth    : [0-9.e+-]+ ' <<<"$output"
  [[ $output != *FAILED* ]]                                              # Azure
  grep -m1 bandwidth <<<"$output" | awk '{ exit !($6 > 0) }'
  grep 'out-of-place' <<<"$output" | tail -n 1 | grep -q 'in-place'      # superbench, AWS
  title=$(grep -E 'size.*count.*type.*redop' <<<"$output")
  [ "$(wc -w <<<"${title#\#}")" -eq 13 ]
  for name in time busbw algbw; do                                       # columns are counted from the right
    place=$(awk -v name="$name" '{ for (i = 1; i <= NF; ++i) if ($i == name) { print NF - i; exit } }' <<<"$title")
    table | awk -v place="$place" '{ exit !($(NF - place) + 0 == $(NF - place) && $(NF - place) >= 0) }'
  done
  [ "$(awk '/Out of bounds values/ { last = NR } /out-of-place/ { title = NR } END { print last - title }' <<<"$output")" -gt 4 ]
  table | awk '{ exit !($3 == "float" && $12 > 0) }'                     # Google: in-place busbw
  grep -qE '# Avg bus bandwidth\s*:\s*([0-9]+)' <<<"$output"
  table | grep -qE '^ *[0-9]+ +[0-9]+ +(float|double|int|half) +(sum|prod|max|min|none) +-?[0-9]+( +[0-9.]+){3} +[0-9]+( +[0-9.]+){3} +[0-9]+$'
  grep -qE 'Rank +0 .* on +[^ ]+ device +[0-9]+' <<<"$output"            # CloudAI
  grep -qE '^# nThread 1 nGpus 1 minBytes 1048576 maxBytes 2097152 step:' <<<"$output"
}

@test "CSV, JSON and samples tell the same" {
  run -0 mpirun -np 2 ./reducescatter_perf "${QUICK[@]}" --csv "$DIR/a.csv" -J "$DIR/a.json" --samples "$DIR/s.csv"
  [ "$(rows "$DIR/a.csv" | wc -l)" -eq 6 ]
  [ "$(jq '.rows | length' "$DIR/a.json")" -eq 6 ]
  [ "$(jq -r '.rows[].size_bytes' "$DIR/a.json")" = "$(column size_bytes "$DIR/a.csv")" ]
  [ "$(jq '.rows[] | select(.status == "ok") | .time_median_us > 0' "$DIR/a.json" | sort -u)" = true ]
  [ "$(jq -r .context.configuration "$DIR/a.json")" = "$(sed -n 's/^# configuration: //p' "$DIR/a.csv")" ]
  [ "$(grep -c '^reducescatter' "$DIR/s.csv")" -eq 18 ]
  for size in 1024 2048 4096; do  # the middle one of a row's three samples is its time
    middle=$(awk -F, -v size="$size" '$6 == size && $5 == 0 { print $10 }' "$DIR/s.csv" | sort -g | sed -n 2p)
    [ "$middle" = "$(jq ".rows[] | select(.size_bytes == $size and .in_place == 0) | .time_median_us" "$DIR/a.json")" ]
  done
}

@test "the CSV has the columns that were promised, in their order" {
  run ./allreduce_perf "${QUICK[@]}" --csv "$DIR/a.csv" --samples "$DIR/"$'\xff'
  iconv -f UTF-8 "$DIR/a.csv" > "$DIR/utf-8.csv"  # whatever the command line has
  promised=collective,backend,ranks,nodes,type,op,root,in_place,size_bytes,count,status,reason,flags,cadence
  promised+=,samples,operations,stop_reason,time_median_us,time_ci_low_us,time_ci_high_us,time_mean_us
  promised+=,time_min_us,time_p90_us,time_p99_us,time_max_us,start_skew_us,algbw_GBps,busbw_GBps,wrong
  grep -q "^$promised" "$DIR/a.csv"
  [ "$(column busbw_GBps "$DIR/a.csv" | sort -u)" = "" ]  # one rank has no bus bandwidth
}

@test "with standard output closed nothing is printed into a file, and the run fails" {
  local options=(--backend sim --system dgx-a100 --ranks 8 -b 1K -e 4K)
  for stream in 0 1 2; do
    code=0
    eval "./allreduce_perf ${options[*]} --csv $DIR/$stream.csv $stream>&-" > "$DIR/out" 2> "$DIR/err" || code=$?
    [ "$code" -eq $((stream == 1 ? 4 : 0)) ]
    run ! grep -q 'Collective test' "$DIR/$stream.csv"
  done
  [ "$(wc -l < "$DIR/2.csv")" -gt 3 ]
  for command in "busbar accept list" "allreduce_perf --version"; do
    code=0
    eval "./$command" > /dev/full 2> "$DIR/err" || code=$?
    [ "$code" -eq 4 ]
    [ "$(cat "$DIR/err")" = "${command%% *}: cannot write to standard output: No space left on device" ]
  done
}
@test "a limit of the size of files (ulimit -f) is an error like a full disk, no signal" {
  ulimit -f 8
  run -4 --separate-stderr ./allreduce_perf --backend sim --system dgx-a100 --ranks 8 -b 8 -e 1G --csv "$DIR/a.csv"
  [ "$stderr" = "allreduce_perf: cannot write $DIR/a.csv: File too large" ]
}
@test "--csv - gives the CSV and nothing else on standard output" {
  run -0 --separate-stderr mpirun -np 2 ./allreduce_perf "${QUICK[@]}" --csv -
  grep -v '^#' <<<"$output" > "$DIR/lines.csv"
  [ "$(wc -l < "$DIR/lines.csv")" -eq 7 ]
  [ "$(column status "$DIR/lines.csv" | sort -u)" = ok ]
  [ -z "$(table)" ]
  [ ! -e ./- ]
}

@test "types and operations that MPI lacks are skipped rows with the reason; all skipped is exit 77" {
  run -77 ./allreduce_perf "${QUICK[@]}" -d half --csv "$DIR/a.csv"
  [ "$(column status "$DIR/a.csv" | sort -u)" = skipped ]
  [ "$(column time_median_us "$DIR/a.csv" | sort -u)" = "" ]
  [[ $output == *"MPI has no type half"* ]]
  run -0 ./allreduce_perf "${QUICK[@]}" -o all --csv "$DIR/b.csv"
  [ "$(column op "$DIR/b.csv" | sort -u | xargs)" = "avg max min prod sum" ]
  rows "$DIR/b.csv" | grep ',avg,' | grep -q 'MPI has no reduction avg'
}

changes() {  # changes CELLS-OF WANTED OPTIONS... : the option is seen in a column
  local name=$1 wanted=$2
  shift 2
  rm -f "$DIR/c.csv"
  mpirun -np 2 ./allreduce_perf --host-limits off -b 1K -e 1K -n 4 -w 1 --csv "$DIR/c.csv" "$@" > "$DIR/out"
  [ "$(column "$name" "$DIR/c.csv" | sort -u | xargs)" = "$wanted" ] || {
    echo "$*: $name is $(column "$name" "$DIR/c.csv" | xargs)"
    return 1
  }
}

@test "options of counts, sizes, types and checks are seen in a row" {
  changes operations 4
  changes operations 12 -m 3
  changes batch 3 -m 3
  changes warmup_operations 7 -w 7
  changes size_bytes "1024 2048" -e 2K -i 1K
  changes size_bytes "1024 3072" -e 4K -f 3
  changes type int32 -d int32
  changes op max -o max
  changes cycle "0 1 2" -N 3
  changes aggregation mean -a 1
  changes aggregation rank0 -a 0
  changes wrong "" -c 0
  changes wrong 0 -c 3
}
@test "options of how operations are issued, and where their data lies, are seen in a row" {
  changes cadence isolated --cadence isolated
  changes progress yield --progress yield
  changes progress block --progress block
  changes cache rotate --cache rotate
  if grep -q AnonHugePages /proc/self/smaps; then  # elsewhere the column is empty
    changes pages small --pages small; grep -q 'small pages' "$DIR/out"
    grep -qF '[never]' /sys/kernel/mm/transparent_hugepage/enabled || changes pages huge --pages huge
  fi
  changes in_place 1 --placement in
  changes in_place 0 --placement out
}
@test "options of when a row ends are seen in it" {
  changes stop_reason count -n 5
  changes stop_reason time-budget -b 1M -e 1M -n auto --time-budget 0.002 --ci-width 0.01
  # Where the machine is so busy that samples are not worth six, there is no interval to be narrow.
  for _ in 1 2 3 4 5; do
    changes stop_reason ci-width -n auto --time-budget 30 --ci-width 50 > "$DIR/said" && break
  done
  [ ! -s "$DIR/said" ]
}
@test "options of lines, seeds, binding and memory are seen in a row or on a line" {
  changes backend mpi --backend mpi
  changes segment_bytes 16777216 -b 64M -e 64M -n 1 -w 0 --placement in --memory-limit 224M
  changes op sum -S 1; grep -qE '20[0-9-]{8} [0-9:]{8}$' "$DIR/out"
  changes op sum -z 1; grep -q '^# Blocking Enabled: ' "$DIR/out"
  changes op sum --seed 9; grep -q 'seed 9' "$DIR/out"
  changes op sum --bind none; grep -q 'core -' "$DIR/out"
  changes op sum --bind core; grep -q 'numa [0-9-]* core 0' "$DIR/out"
  changes op sum --bind numa; grep -q 'Rank  1' "$DIR/out"
  changes op sum -T 60; [ "$(wc -l < "$DIR/out")" -gt 10 ]
}

@test "the tail is of all visits' samples" {
  mpirun -np 2 ./allreduce_perf --host-limits off --placement out --cadence isolated --visits 8 -b 1K -e 2K -n 1600 --csv "$DIR/a.csv"
  column samples,time_p99_us,time_p999_us,time_max_us "$DIR/a.csv" |
    awk -F'|' '$1 != 1600 || $3 < $2 || $3 > $4 { bad = 1 } END { exit bad || NR != 2 }'
}
@test "roots are swept" {
  run mpirun -np 3 ./broadcast_perf "${QUICK[@]}" -r all --csv "$DIR/a.csv"
  [ "$(column root "$DIR/a.csv" | sort -u | xargs)" = "0 1 2" ]
  run mpirun -np 3 ./broadcast_perf "${QUICK[@]}" -r 1
  [ "$(table | awk '{ print $5 }' | sort -u)" = 1 ]
}

@test "progress is on stderr, and only on a terminal" {
  run --separate-stderr mpirun -np 2 ./allreduce_perf --host-limits off -b 1K -e 1K --time-budget 0.05
  [ -z "$stderr" ]
  for launch in "" "mpirun -np 2"; do
    script -qec "$launch ./allreduce_perf --host-limits off -b 1K -e 1K --time-budget 0.05 > $DIR/out" /dev/null > "$DIR/terminal"
    grep -q 'warming up' "$DIR/terminal"
    run ! grep -q 'warming up' "$DIR/out"
  done
}
