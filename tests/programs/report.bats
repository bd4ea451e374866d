#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=quick
# busbar report: pages of CSVs and of systems, in HTML and Markdown; refusals.
load ../common

COMMAND=(./busbar report)
report() { run "-${EXIT:-0}" --separate-stderr "${COMMAND[@]}" "$@"; }
curve() {  # curve SYSTEM RANKS RATE... : a CSV of rates at 256 MiB, 512 MiB, ...
  local size=268435456
  [ -f "$DIR/$1.csv" ] || printf '# busbar: 0.1.0\n# system: %s\ncollective,backend,ranks,nodes,type,in_place,size_bytes,status,time_median_us,busbw_GBps\n' "$1" > "$DIR/$1.csv"
  for rate in "${@:3}"; do
    echo "broadcast,sim,$2,1,float,0,$size,ok,1,$rate" >> "$DIR/$1.csv"
    size=$((size * 2))
  done
}
papers() {
  curve dgx-2 8 117 118
  curve p3dn 8 110 124
  curve ac922 4 29 30
  curve exxact-ts4 8 6 6
}

@test "a report names all systems, says simulated, and tells where two cross" {
  papers
  report "$DIR"/*.csv -o "$DIR/r.html"
  for name in p3dn dgx-2 ac922 exxact-ts4; do grep -q "id=\"system-$name\"" "$DIR/r.html"; done
  grep -q 'broadcast, 8 ranks: p3dn (simulated) overtakes dgx-2 (simulated) between 256 MiB and 512 MiB' "$DIR/r.html"
  grep -q 'Runs: simulated (4)' "$DIR/r.html"
  grep -q '<th scope="row">worst 4</th><td>0,1,2,7</td>' "$DIR/r.html"
}
@test "a report is one well-formed page that asks for nothing, the same bytes each time" {
  papers
  report "$DIR"/*.csv -o "$DIR/r.html"
  report "$DIR"/*.csv -o "$DIR/again.html"
  cmp "$DIR/r.html" "$DIR/again.html"
  run ! grep -Eq '<script|<link|<img|src=|https?:|@import|url\(' "$DIR/r.html"
  command -v xmllint > /dev/null || skip "no xmllint here (libxml2-utils)"
  xmllint --noout "$DIR/r.html"
}
@test "a report of systems alone needs no CSV" {
  report --system dgx-1v --system dgx-2 -o "$DIR/t.html"
  grep -q 'nothing here is measured' "$DIR/t.html"
  [ "$(grep -c 'all-reduce</td>.*>150</td><td>NVLink 2 of every GPU' "$DIR/t.html")" -eq 2 ]
}
@test "the Markdown has the same words and tables" {
  papers
  report "$DIR"/*.csv -o "$DIR/r.md"
  grep -q '^# Interconnects compared' "$DIR/r.md"
  grep -q 'p3dn (simulated) overtakes dgx-2 (simulated) between 256 MiB and 512 MiB' "$DIR/r.md"
  grep -q '^| 512 MiB | ' "$DIR/r.md"
  run ! grep -q '<svg' "$DIR/r.md"
}
@test "a measured run without a system has a report, with its host and its time" {
  printf '# started: 2026-01-02 03:04:05\n# hosts: node7\ncollective,backend,ranks,nodes,type,in_place,size_bytes,status,time_median_us,busbw_GBps\nallreduce,mpi,2,1,float,0,1024,ok,1,3\n' > "$DIR/mine.csv"
  report "$DIR/mine.csv" -o "$DIR/r.md"
  grep -q 'measured.*2026-01-02 03:04:05.*node7' "$DIR/r.md"
  grep -q 'No topology is known for mine' "$DIR/r.md"
}
@test "a browser opens the page without a complaint, and no wider than a phone" {
  papers
  report --system dgx-1v --system ac922 "$DIR"/*.csv -o "$DIR/r.html"
  browse "$DIR/r.html"
}
@test "a report without gnuplot has its tables and says what to install" {
  papers
  mkdir "$DIR/empty"
  run -0 --separate-stderr env PATH="$DIR/empty" "$ROOT/busbar" report "$DIR"/*.csv -o "$DIR/r.html"
  [ "$(grep -c gnuplot-nox "$DIR/r.html")" -eq 1 ]
  grep -q '<caption>Bus bandwidth in GB/s over 4 ranks: ' "$DIR/r.html"
  [ "$(grep -c '<svg' "$DIR/r.html")" -eq 4 ]  # the drawings of the machines
}
@test "report refuses files without a value, and writes nothing" {
  printf 'collective,size_bytes\nallreduce,1024\n' > "$DIR/bad.csv"
  refused "a bus bandwidth" "$DIR/bad.csv" -o "$DIR/x.html"
  [ ! -e "$DIR/x.html" ]
}
@test "report warns of a file that was cut, on the page and on stderr" {
  curve dgx-2 8 117 118
  printf 'broadcast,si' >> "$DIR/dgx-2.csv"
  report "$DIR/dgx-2.csv" -o "$DIR/r.md"
  [[ $stderr == *"busbar: warning: dgx-2.csv: cut off"* ]]
  grep -q 'dgx-2.csv: cut off' "$DIR/r.md"
}
@test "report refuses what it does not understand, in one line" {
  refused "missing input" -o "$DIR/x.html"
  refused "-o report.html" --system dgx-1v
  refused ".html or .md" --system dgx-1v -o "$DIR/x.pdf"
  refused "unknown option --frob" --frob --system dgx-1v -o "$DIR/x.html"
  refused "dgx-1w" --system dgx-1w -o "$DIR/x.html"
  refused "given twice" --system dgx-1v --system p3dn -o "$DIR/x.html"
  refused "absent.csv" "$DIR/absent.csv" -o "$DIR/x.html"
  [ ! -e "$DIR/x.html" ]
  report --system dgx-1v -o "$DIR/x.html"
  refused "exists" --system dgx-1v -o "$DIR/x.html"
}
@test "a report of imported logs recognizes their machines, and names what is low or falls" {
  [ -d ../shared/data/journey2 ] || skip "no ../shared/data here"
  for log in h100_kubectl_16 a2a_p2poff; do
    ./busbar import "../shared/data/journey2/$log.log" -o "$DIR/$log.csv" 2> "$DIR/said"
  done
  report "$DIR"/*.csv -o "$DIR/r.html"
  grep -q 'h100_kubectl_16: auto: dgx-h100, by its GPUs' "$DIR/r.html"
  grep -q '16 ranks: h100_kubectl_16 has 197 GB/s at 8 GiB, 0.41 of the median that others measured at this size: too low' "$DIR/r.html"
  grep -q 'a2a_p2poff, out of place falls from 30.2 GB/s at 8 MiB to 0.788 at 64 MiB' "$DIR/r.html"
  grep -q 'id="system-h100-kubectl-16"' "$DIR/r.html"
}
# run_of DAY MACHINE RATE : a run of that day in runs/.
run_of() {
  mkdir -p "$DIR/runs/$2"
  printf '# busbar: 0.2.0\n# system: %s\n# started: 2026-11-%02d 03:00:00\n# hosts: h#1\ncollective,backend,ranks,nodes,type,op,in_place,size_bytes,count,status,time_median_us,busbw_GBps\nallreduce,nccl,8,1,float,sum,0,1048576,262144,ok,9,%s\n' \
    "$2" "$1" "$3" > "$DIR/runs/$2/day #$1.csv"
}
@test "an index of a folder has verdicts, histories, and a link to every run" {
  local day page=$DIR/runs/index.html
  for day in {1..5}; do
    run_of "$day" box "$((400 + day))"
    run_of "$day" "rack <7>" "$((300 + day))"
  done
  # A user's own run: no system, and the hosts are the machine.
  run_of 1 nameless 200
  sed -i '/^# system:/d; s/^# hosts: .*/# hosts: n4/' "$DIR"/runs/nameless/*.csv
  mkdir "$DIR/runs/night"
  printf 'collective,size_bytes,status\nallreduce,1,ok\n' > "$DIR/runs/night/launch.csv"
  echo '# journal: 1' > "$DIR/runs/night/launches.csv"
  echo '{"judged": "2026-11-10 04:00:00", "system": "box", "specification": "s.toml", "overall": "FAIL", "suspects": [{"nodes": ["h3"], "path": null, "defect": "wrong data"}, {"nodes": [], "path": "uplink leaf1", "defect": "slow"}, {"nodes": ["h1", "h2"], "path": null, "rule": "mtu", "defect": "a fact"}]}' > "$DIR/runs/night/verdicts.json"
  echo '{"judged"' > "$DIR/runs/box/verdicts.json"
  echo '<html/>' > "$DIR/runs/night/report.html"
  report --index "$DIR/runs"
  [[ $stderr == *"box/verdicts.json: not a verdict"* ]]
  xmllint --noout "$page"
  grep -q 'Last verdict, of box (2026-11-10 04:00:00): FAIL, suspected: h3 wrong data, uplink leaf1 slow, link h1 - h2 mtu\.' "$page"
  [ "$(grep -c '<svg' "$page")" -eq 2 ]
  grep -q '<td>n4</td>' "$page"
  # Every link but those within the page leads to a file; launches of an acceptance are no runs.
  grep -o 'href="[^"#]*"' "$page" | sort -u | sed 's/^href="//; s/"$//' > "$DIR/links"
  [ "$(wc -l < "$DIR/links")" -eq 12 ]
  python3 -c 'import os, sys, urllib.parse; os.chdir(sys.argv[1]); [os.stat(urllib.parse.unquote(link.strip())) for link in open(sys.argv[2])]' "$DIR/runs" "$DIR/links"
  report --index "$DIR/runs/night"
  grep -q '0 runs and 1 acceptance;' "$DIR/runs/night/index.html"
  browse "$page"
}
@test "an index is made again, but replaces no other file, and needs a run or a verdict" {
  run_of 1 box 400
  report --index "$DIR/runs"
  run_of 2 box 401
  report --index "$DIR/runs/"
  grep -q 'day%20%232.csv' "$DIR/runs/index.html"
  echo '<p>mine</p>' > "$DIR/runs/index.html"
  refused "is not an index of busbar" --index "$DIR/runs"
  refused "cannot read" --index "$DIR/absent"
  mkdir "$DIR/empty"
  refused "no CSV of a run and no verdicts.json" --index "$DIR/empty"
  refused "mutually exclusive" --index "$DIR/runs" -o "$DIR/x.html"
}
@test "an index lists runs beside a verdict, keeps disturbed rows out of histories, and names bad files" {
  local day runs=$DIR/runs/box page=$DIR/runs/box/index.html
  for day in 1 2 3; do run_of "$day" box 400; done
  sed -i '5s/status/flags,status/; 6s/,ok/,delay-injected,ok/' "$runs/day #3.csv"
  sed 's/,ok/,wrong/' "$runs/day #1.csv" > "$runs/fault.csv"
  sed 's/400$/777/' "$runs/day #1.csv" > "$runs/cut.csv"
  printf 'allreduce,nc' >> "$runs/cut.csv"
  : > "$runs/empty.csv"
  printf 'collective,in_place,size_bytes,sample\nallreduce,0,8,0\n' > "$runs/samples.csv"
  echo '{"judged": null, "system": "box", "specification": "s.toml", "overall": "PASS", "suspects": []}' > "$runs/verdicts.json"
  report --index "$runs"
  for file in "cut.csv: cut off" "empty.csv: no line names columns" "in no history: day #3.csv"; do
    [[ $stderr == *"$file"* ]]
    grep -q "$file" "$page"
  done
  grep -q '5 runs and 1 acceptance;' "$page"
  grep -q 'PASS. Wrong data in fault.csv.' "$page"
  grep -q '<td>1 wrong</td>' "$page"
  run ! grep -q 'samples.csv' "$page"
}
@test "report and plot of a log name busbar import" {
  printf '# nThread 1\n  8  2  float  sum  -1  5.0  0.1  0.1  0\n' > "$DIR/x.log"
  refused "busbar import" "$DIR/x.log" -o "$DIR/x.html"
  COMMAND=(./busbar plot)
  refused "busbar import" "$DIR/x.log" --terminal
}
