#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# docs/loading.md: its code is run as it stands there, on a CSV and a JSON with text that breaks careless readers.
load ../common

# block LANGUAGE N: the N-th block of code in this language.
block() { awk -v fence="\`\`\`$1" -v wanted="$2" '/^```/ { inside = !inside && $0 == fence && ++n == wanted; next } inside' "$ROOT/docs/loading.md"; }

setup() {
  common_setup
  mpirun -np 2 ./allreduce_perf "${QUICK[@]}" --csv "$DIR/real.csv" -J "$DIR/real.json" > "$DIR/out"
  cd "$DIR" || return 1
  /usr/bin/python3 - <<'PYTHON'
import csv, json
hosts = ["gpu#1", "Knoten ü, Regal 2", '"quoted" #3', "null", "NA", "#6"]
head = [line for line in open("real.csv", encoding="utf-8") if line.startswith("#")]
lines = [line for line in open("real.csv", encoding="utf-8") if not line.startswith("#")]
rows = list(csv.DictReader(lines))
document = json.load(open("real.json", encoding="utf-8"))
with open("allreduce.csv", "w", encoding="utf-8", newline="") as file:
    file.writelines(head + ["# note: 1, \"2\" # ü\n"])
    writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row, member, host in zip(rows, document["rows"], hosts):
        for one in (row, member):
            one["hosts"] = host
            one["reason"] = 'expected "7", got 8 # element 4' if host == "gpu#1" else one["reason"]
        writer.writerow(row)
        file.write("# resumed_command: a, b\n")
json.dump(document, open("allreduce.json", "w", encoding="utf-8"))
wanted = [{"hosts": row["hosts"], "reason": row["reason"] or None, "size_bytes": int(row["size_bytes"]),
           "busbw_GBps": float(row["busbw_GBps"])} for row in rows]
json.dump(sorted(wanted, key=lambda row: row["busbw_GBps"]), open("wanted.json", "w"))
PYTHON
}

same() { diff <(jq -cS '.[]' wanted.json) <(jq -cS '.[]' <<<"$1"); }

@test "pandas reads CSV and JSON by the code of docs/loading.md" {
  /usr/bin/python3 -c 'import pandas' || skip "no python3-pandas"
  { block python 1
    cat <<'PYTHON'
wanted = json.load(open("wanted.json"))
for rows in (read_csv("allreduce.csv"), read_json("allreduce.json")):
    assert rows["size_bytes"].dtype == "int64" and rows["busbw_GBps"].dtype == "float64"
    assert rows["root"].isna().all() and len(rows.columns) > 60
    rows = rows.sort_values("busbw_GBps")[list(wanted[0])].astype(object)
    assert rows.where(rows.notna(), None).to_dict("records") == wanted, rows
PYTHON
  } > load.py
  /usr/bin/python3 load.py
}

@test "jq reads JSON by the code of docs/loading.md" {
  run -0 bash -c "$(block sh 3)"
  same "$output"
}

@test "DuckDB reads CSV and JSON by the code of docs/loading.md" {
  export NODE_PATH=$ROOT/build/node/node_modules
  [ -d "$NODE_PATH/@duckdb" ] || skip "no DuckDB (make node-packages)"
  mkdir bin
  printf '#!/bin/sh\nexec node "%s/tests/fixtures/duckdb.js" "$@"\n' "$ROOT" > bin/duckdb
  chmod +x bin/duckdb
  for number in 1 2; do
    run -0 env PATH="$DIR/bin:$PATH" bash -c "$(block sh $number)"
    same "$output"
  done
}
