#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bats file_tags=quick
# busbar plot: figures, gaps, the same bytes, text, refusals.
load ../common

COMMAND=(./busbar plot)
plot() { run "-${EXIT:-0}" --separate-stderr "${COMMAND[@]}" "$@"; }
# sweep FILE SYSTEM RANKS BACKEND: 1 to 16 MiB, of which 4 MiB was skipped.
sweep() {
  {
    echo "# configuration: collective=allreduce ranks=$3 sizes=1048576-16777216x2"
    echo "# system: $2"
    echo "# library: NCCL 2.19"
    echo "# started: 2026-11-01 10:00:00"
    echo 'collective,backend,ranks,nodes,type,op,in_place,size_bytes,status,time_median_us,time_ci_low_us,time_ci_high_us,time_p99_us,busbw_GBps,bound_GBps'
    for mib in 1 2 4 8 16; do
      if [ $mib -eq 4 ]; then echo "allreduce,$4,$3,1,float,sum,0,4194304,skipped,,,,,,"; continue; fi
      echo "allreduce,$4,$3,1,float,sum,0,$((mib * 1048576)),ok,$((mib * 10)),$((mib * 9)),$((mib * 11)),$((mib * 20)),$((100 + mib)),150"
    done
  } > "$1"
}
# pairs FILE: three ranks; the pair 0 to 2 failed.
pairs() {
  {
    echo '# system: three'
    echo 'collective,ranks,in_place,size_bytes,status,time_median_us,busbw_GBps,sender,receiver'
    for pair in 0,1 1,0 1,2 2,0 2,1; do echo "sendrecv,2,0,1048576,ok,50,2$((${pair%,*})).5,$pair"; done
    echo 'sendrecv,2,0,1048576,failed,,,0,2'
  } > "$1"
}

@test "plot draws svg, png and script of every figure that the rows allow" {
  sweep "$DIR/a.csv" dgx-2 4 nccl
  sweep "$DIR/b.csv" ac922 4 sim
  sweep "$DIR/c.csv" dgx-2 8 nccl
  plot "$DIR/a.csv" "$DIR/b.csv" "$DIR/c.csv" -o "$DIR/new/folder"
  [ "${#lines[@]}" -eq 8 ]
  for name in busbw share latency scaling; do
    grep -q '</svg>' "$DIR/new/folder/$name.svg"
    [ "$(head -c 4 "$DIR/new/folder/$name.png" | tail -c 3)" = PNG ]
    [ -s "$DIR/new/folder/$name.gp" ]
  done
  grep -q 'Bus bandwidth: allreduce, float sum, out of place, dashed: simulated' "$DIR/new/folder/busbw.svg"
  grep -q 'ac922 (simulated)' "$DIR/new/folder/busbw.svg"
  grep -q '4 ranks on 1 node' "$DIR/new/folder/busbw.svg"
  grep -q '16 MiB' "$DIR/new/folder/busbw.svg"
  # The papers' colours: green DGX-2, blue AC922.
  grep -qi "$(printf '#%02x%02x%02x' 0 158 115)\|rgb(  0, 158, 115)" "$DIR/new/folder/busbw.svg"
  grep -qi "#0072b2\|rgb(  0, 114, 178)" "$DIR/new/folder/busbw.svg"
}
@test "plot writes the same bytes for the same rows, and replaces pictures; a figure's script draws it alone" {
  sweep "$DIR/a.csv" dgx-2 4 nccl
  plot "$DIR/a.csv" -o "$DIR/1" --figure busbw
  cp -r "$DIR/1" "$DIR/2"
  plot "$DIR/a.csv" -o "$DIR/1" --figure busbw
  for file in busbw.svg busbw.png busbw.gp; do cmp "$DIR/1/$file" "$DIR/2/$file"; done
  mkdir "$DIR/alone"
  (cd "$DIR/alone" && gnuplot "$DIR/1/busbw.gp")
  cmp "$DIR/1/busbw.svg" "$DIR/alone/busbw.svg"
  plot "$DIR/a.csv" -o "$DIR/3" --figure busbw --format svg
  [ ! -e "$DIR/3/busbw.png" ]
}
@test "plot draws pairs between fixed limits, the missing one hatched" {
  pairs "$DIR/p.csv"
  plot "$DIR/p.csv" -o "$DIR/p" --figure pairs --limits 0:50 --format svg
  grep -q 'set cbrange \[0:50\]' "$DIR/p/pairs.gp"
  grep -q '^2 0 nan nan$' "$DIR/p/pairs.gp"
  run ! grep -qE '^1 1 ' "$DIR/p/pairs.gp"
  grep -q '>20.5<' "$DIR/p/pairs.svg"
  grep -q '<pattern' "$DIR/p/pairs.svg"
}
@test "plot tells samples by their columns, few ones as points" {
  { echo 'collective,type,op,root,in_place,size_bytes,cycle,batch,sample,time_us'
    for i in 1 2 3 4 5; do echo "allreduce,float,sum,,0,1024,0,1,$i,1$i.5"; done; } > "$DIR/s.csv"
  plot "$DIR/s.csv" -o "$DIR/p" --format svg
  [ "$output" = "$DIR/p/samples.svg" ]
  grep -q 'n = 5' "$DIR/p/samples.svg"
  grep -q '1:2 with points ' "$DIR/p/samples.gp"
}
samples_of_two_modes() {  # FILE: 60 samples about 10 us, 40 about 12 us, one far away
  { echo 'collective,type,op,root,in_place,size_bytes,cycle,batch,sample,time_us'
    awk 'BEGIN { for (i = 0; i < 101; ++i) {
      t = i < 60 ? 9.8 + 0.4 * ((i * 37) % 60) / 60 : i < 100 ? 11.8 + 0.4 * ((i * 17) % 40) / 40 : i
      printf "allreduce,float,sum,,0,1024,0,1,%d,%.6f\n", i, t } }'; } > "$1"
}
@test "plot shows two modes of samples as two in a histogram" {
  samples_of_two_modes "$DIR/s.csv"
  plot "$DIR/s.csv" -o "$DIR/p" --figure histogram
  grep -q 'with fillsteps' "$DIR/p/histogram.gp"
  grep -q 'n = 101, 1 of them above ' "$DIR/p/histogram.svg"
  # The bins' outline: high at 10 us, on the axis at 11 us, high at 12 us.
  awk '/^.curve1 << EOD/ { on = 1; next } /^EOD/ { on = 0 } on && NF == 4 { x[n] = $1; y[n++] = $2 }
    function at(t,  i) { for (i = 0; i + 1 < n; ++i) if (x[i] <= t && t < x[i + 1]) return y[i]; return -1 }
    END { exit !(at(10) > 5 && at(11) == 0 && at(12) > 3) }' "$DIR/p/histogram.gp"
}
@test "plot refuses too few samples, and a pipe of them, whose beginning tells what it is and is gone" {
  samples_of_two_modes "$DIR/s.csv"
  head -30 "$DIR/s.csv" > "$DIR/few.csv"
  refused "30 samples" "$DIR/few.csv" -o "$DIR/p" --figure histogram
  refused "give a file that --samples wrote" <(cat "$DIR/s.csv" "$DIR/s.csv" "$DIR/s.csv") -o "$DIR/p"
}
# timeline FILE STARTED: 150 s of 100 us, after 90 s of 108 us; after 30.2 s a tenth of a second is slow.
timeline() {
  {
    echo '# configuration: collective=allreduce backend=mpi ranks=2 nodes=2 sizes=65536-65536x2'
    echo "# started: $2"
    echo '# hosts: h0 h1'
    echo 'at_s,seconds,operations,median_us,p99_us,max_us,busbw_GBps,operations_per_s,slowest_part_per_s,checked_bytes,wrong,parts_per_s'
    awk 'BEGIN { for (s = 1; s <= 150; ++s) {
      t = (s <= 90 ? 100 : 108) * (1 + ((s * 37) % 11 - 5) / 1000); parts = ""
      for (p = 0; p < 10; ++p)
        parts = parts " " (s == 31 && p == 2 ? 2500 : 1e6 / t * (1 + ((s * 10 + p) * 29 % 13 - 6) / 1000))
      printf "%d,1,9000,%.4f,%.4f,%.4f,,9000,,0,0,%s\n", s, t, 1.3 * t, 2 * t, substr(parts, 2) } }'
  } > "$1"
}
# carriers FILE: two readings of h1, which the timeline has, and of h9, the later ones at 10:01:00.25.
carriers() {
  {
    echo 'at,host,fact,instance,value,reason'
    for reading in '09:59:59.500,h1 2' '09:59:59.500,h9 2' '10:01:00.250,h1 4' '10:01:00.250,h9 9'; do
      echo "2026-11-01 ${reading% *},net.carrier_changes,e0,${reading#* },"
    done
  } > "$1"
}
@test "plot tells a timeline and facts by their columns, and marks what happened" {
  timeline "$DIR/t.csv" '2026-11-01 10:00:00'
  carriers "$DIR/f.csv"
  plot "$DIR/t.csv" "$DIR/f.csv" -o "$DIR/p" --format svg
  [ "$output" = "$DIR/p/timeline.svg" ]
  for text in 'h0 h1, allreduce, 64 KiB, 2 ranks' '00:01:30 +8.0 %: 100 to 108 µs' 'h1: e0: carrier changes +2' 00:02:00; do
    grep -qF ">$text<" "$DIR/p/timeline.svg"
  done
  run ! grep -q h9 "$DIR/p/timeline.svg"
  grep -q '^set arrow from 60.25, graph 0' "$DIR/p/timeline.gp"
  grep -q '^30.2 400 ' "$DIR/p/timeline.gp"
}
@test "plot draws turns in the order of their start without the time between, and others beside them" {
  timeline "$DIR/2.csv" '2026-11-01 09:50:00'
  timeline "$DIR/1.csv" '2026-11-01 10:00:00'
  carriers "$DIR/f.csv"
  plot "$DIR/1.csv" "$DIR/2.csv" "else=$DIR/1.csv" "$DIR/f.csv" -o "$DIR/p" --figure timeline --format svg
  grep -q '^set xrange \[0:300\]' "$DIR/p/timeline.gp"
  grep -q '^set arrow from 210.25, graph 0' "$DIR/p/timeline.gp"
  grep -q '>else, allreduce, 64 KiB, 2 ranks<' "$DIR/p/timeline.svg"
}
@test "plot takes a placement, a size and labels" {
  sweep "$DIR/a.csv" '' 4 nccl
  sed 's/,sum,0,/,sum,1,/' "$DIR/a.csv" | grep ',sum,1,' > "$DIR/more.csv"
  cat "$DIR/more.csv" >> "$DIR/a.csv"
  plot "mine=$DIR/a.csv" -o "$DIR/p" --placement both --figure busbw --format svg
  grep -q 'mine, allreduce' "$DIR/p/busbw.svg"
  grep -q 'in place' "$DIR/p/busbw.svg"
  sweep "$DIR/b.csv" box 2 nccl
  sweep "$DIR/c.csv" box 4 nccl
  plot "$DIR/b.csv" "$DIR/c.csv" -o "$DIR/p" --figure scaling --size 2M --format svg
  grep -q 'Scaling at 2 MiB' "$DIR/p/scaling.svg"
}
@test "plot --log-y draws a logarithmic axis, and takes always, never and auto" {
  sweep "$DIR/a.csv" dgx-2 4 nccl
  plot "$DIR/a.csv" --log-y -o "$DIR/p" --figure busbw --format svg
  grep -q '^set logscale y' "$DIR/p/busbw.gp"
  for when in never auto; do
    plot "$DIR/a.csv" --log-y=$when -o "$DIR/p" --figure busbw --format svg
    run ! grep -q '^set logscale y' "$DIR/p/busbw.gp"
  done
  refused "always, never or auto" "$DIR/a.csv" -o "$DIR/p" --log-y=often
}
@test "plot warns of a file that was cut" {
  sweep "$DIR/a.csv" dgx-2 4 nccl
  printf 'allreduce,nc' >> "$DIR/a.csv"
  plot "$DIR/a.csv" -o "$DIR/p" --figure busbw --format svg
  [[ $stderr == "busbar: warning: a.csv: cut off"* ]]
}
@test "plot draws in the terminal and writes nothing" {
  sweep "$DIR/a.csv" dgx-2 4 nccl
  COLUMNS=90 plot "$DIR/a.csv" --terminal --figure busbw
  [[ $output == *"Bus bandwidth: dgx-2"* ]]
  for size in '1 MiB' '4 MiB' '16 MiB'; do [[ $output == *" $size "* ]]; done
  [ "$(awk '{ if (length > most) most = length } END { print most <= 90 }' <<<"$output")" = 1 ]
  [ -z "$(find "$DIR" -name "*.gp" -o -name "*.svg" -o -name "*.png")" ]
}
@test "the published rates are a row per rate, number of ranks and size, with a gap where there is no figure" {
  tools/published-rates results/reference/published.toml > "$DIR/p.csv"
  column system,collective,ranks,size,relation,busbw_GBps,time_us "$DIR/p.csv" > "$DIR/cells"
  [ "$(grep -c '^dgx-2|allreduce|' "$DIR/cells")" -eq 4 ]
  grep -qx 'dgx-1v|allreduce|4||about|80|' "$DIR/cells"
  grep -qx 'dgx-1v|allreduce|2||equal||' "$DIR/cells"
  grep -qx 'dgx-h100|allreduce|16|8B|equal||69.12' "$DIR/cells"
}
@test "plot without gnuplot says which package to install, and writes nothing" {
  sweep "$DIR/a.csv" dgx-2 4 nccl
  mkdir "$DIR/empty"
  run -3 --separate-stderr env PATH="$DIR/empty" "$ROOT/busbar" plot "$DIR/a.csv" -o "$DIR/p"
  [ "${#stderr_lines[@]}" -eq 1 ]
  [[ $stderr == *gnuplot-nox* ]]
  [ ! -e "$DIR/p" ]
}
@test "plot refuses what it cannot draw, in one line" {
  sweep "$DIR/a.csv" dgx-2 4 nccl
  refused "missing FILE" -o "$DIR/p"
  refused "-o DIR" "$DIR/a.csv"
  refused "two numbers of ranks" "$DIR/a.csv" -o "$DIR/p" --figure scaling
  refused "--timeline wrote" "$DIR/a.csv" -o "$DIR/p" --figure timeline
  refused "did you mean latency?" "$DIR/a.csv" -o "$DIR/p" --figure latenci
  refused "svg or png" "$DIR/a.csv" -o "$DIR/p" --format pdf
  refused "LOW:HIGH" "$DIR/a.csv" -o "$DIR/p" --limits 5
  refused "less than HIGH" "$DIR/a.csv" -o "$DIR/p" --limits 5:5
  refused "out, in or both" "$DIR/a.csv" -o "$DIR/p" --placement up
  refused "mutually exclusive" "$DIR/a.csv" -o "$DIR/p" --terminal
  refused "nothing to draw" "$DIR/a.csv" -o "$DIR/p" --placement in
  refused "unknown option --colour" "$DIR/a.csv" -o "$DIR/p" --colour
  refused "absent.csv" "$DIR/absent.csv" -o "$DIR/p"
  touch "$DIR/file"
  refused "cannot create the folder" "$DIR/a.csv" -o "$DIR/file"
  [ ! -e "$DIR/p" ]
}
