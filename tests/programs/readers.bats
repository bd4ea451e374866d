#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=mpi
# What was written for nccl-tests reads our output: the JSON of --json-style nccl-tests, and the table.
load ../common

TWO_SIZES=(-b 64K -e 128K -n 3 -w 1 --host-limits off)

@test "every collective's JSON has what nccl-tests' readers read" {
  local collective
  for collective in $ALL; do
    run -0 mpirun -np 3 "./${collective}_perf" "${TWO_SIZES[@]}" -I 1 -K 1 -J "$DIR/$collective.json" --json-style nccl-tests
    jq -e '.version == 3 and .out_of_bounds.okay == "true" and .average_bus_bandwidth.okay == "unchecked" and
      .config.per_iter_timing == "true" and (.config.devices | length) == 3 and (.results | length) == 2' "$DIR/$collective.json"
    jq -e '[.results[] | .out_of_place, .in_place | .time > 0 and .nwrong == 0] | all' "$DIR/$collective.json"
    jq -e '[.results[] | .out_of_place_per_iter, .in_place_per_iter |
      (.times_us | length) == 3 and .skipped_iterations == 1 and .max_us == (.times_us[1:] | max) and
      .times_us == [.per_process_max_times_us | transpose[] | max]] | all' "$DIR/$collective.json"
    # The script itself, where nccl-tests is there.
    [ ! -e "${NCCL_TESTS_HOME:-/none}/tools/analyze_perf_json.py" ] || {
      python3 "$NCCL_TESTS_HOME/tools/analyze_perf_json.py" "$DIR/$collective.json" --all > "$DIR/read"
      grep -q 'Consistency .*: PASS' "$DIR/read"
      grep -q 'fastest=process' "$DIR/read"
    }
  done
}

@test "a reader of the table of another vendor makes a CSV of every collective" {
  [ -d ../shared/data/journey2 ] || skip "no ../shared/data here"
  local reader=$PWD/../shared/data/journey2/nccl_to_csv.py collective
  for collective in $ALL; do
    mpirun -np 2 "./${collective}_perf" "${TWO_SIZES[@]}" > "$DIR/$collective.log"
    (cd "$DIR" && python3 "$reader" "$collective.log" > said) || { cat "$DIR/said"; return 1; }
    [ "$(wc -l < "$DIR/${collective}_results.csv")" -eq 3 ]
    grep -q '^Total Errors,0' "$DIR/${collective}_summary.csv"
  done
}

# bats test_tags=quick
@test "a JSON in nccl-tests' style is imported, resumed and checked before a run" {
  local run=(-b 64K -e 64K -n 5 -w 0 --host-limits off --csv "$DIR/a.csv" -J "$DIR/a.json" --json-style nccl-tests)
  mpirun -np 2 ./allreduce_perf "${run[@]}" > "$DIR/out"
  ./busbar import "$DIR/a.json" -o "$DIR/b.csv"
  [ "$(column collective,ranks,size_bytes,in_place,wrong "$DIR/b.csv" | xargs)" = "$(column collective,ranks,size_bytes,in_place,wrong "$DIR/a.csv" | xargs)" ]
  mpirun -np 2 ./allreduce_perf "${run[@]}" --resume > "$DIR/out"
  [ "$(jq '.results | length' "$DIR/a.json")" -eq 1 ]
  COMMAND=(./allreduce_perf)
  refused "missing -J FILE.json" --json-style nccl-tests
  refused "invalid value 'csv' for --json-style" -J "$DIR/x.json" --json-style csv
}
