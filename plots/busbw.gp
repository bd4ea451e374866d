# SPDX-License-Identifier: BSD-3-Clause
# Bus bandwidth against size, with the median's 95 % interval, out of place and in place.
#   gnuplot -e "csv='results/x.csv'; out='plots/x.svg'" plots/busbw.gp     (or out='x.png')
# Reads the CSV of one *_perf run and nothing else. Rows without a value leave a gap.
if (!exists("csv") || !exists("out")) {
  print "usage: gnuplot -e \"csv='FILE.csv'; out='FILE.svg'\" plots/busbw.gp"
  exit status 2
}
set datafile separator comma
set datafile commentschars "#"
set datafile missing ""

if (out[strlen(out)-3:] eq ".png") {
  set terminal pngcairo size 900,560 font "DejaVu Sans,11"
} else {
  set terminal svg size 900,560 font "DejaVu Sans,14" background rgb "white"
}
set output out

# Context for the title, from the "# key: value" lines.
fact(key) = system(sprintf("sed -n 's/^# %s: //p' '%s' | head -n 1", key, csv))
setting(key) = system(sprintf("sed -n 's/^# configuration:.* %s=\\([^ ]*\\).*/\\1/p' '%s' | head -n 1", key, csv))
plural(n, noun) = sprintf("%s %s%s", n, noun, n eq "1" ? "" : "s")
set title sprintf("%s: %s on %s, %s, %s", setting("collective"), plural(setting("ranks"), "rank"), \
  plural(setting("nodes"), "node"), fact("library"), fact("processor")) noenhanced

set logscale x 2
set xlabel "size (MiB)"
set ylabel "bus bandwidth (GB/s)"
set yrange [0:*]
set grid ytics lc rgb "#dddddd"
set border 3
set tics nomirror out
set key top left reverse Left samplen 2
set xtics nomirror
set format x "%g"

# One table per placement, so that lines join neighbours and a skipped size leaves a gap.
set datafile columnheaders
do for [p = 0:1] {
  if (p == 0) { set table $out_of_place separator comma } else { set table $in_place separator comma }
  plot csv using (column("size_bytes") / 1048576.0):(strcol("busbw_GBps")):(strcol("time_median_us")): \
    (strcol("time_ci_low_us")):(strcol("time_ci_high_us")) with table if (column("in_place") == p)
  unset table
}
unset datafile columnheaders

# Okabe and Ito's blue and vermilion, told apart by shape as well. The interval of the time becomes
# one of the bandwidth: busbw * median / bound.
set style line 1 lc rgb "#0072B2" pt 7 ps 0.9 lw 1.5
set style line 2 lc rgb "#D55E00" pt 9 ps 1.1 lw 1.5
plot $out_of_place using 1:2:($2 * $3 / $5):($2 * $3 / $4) with yerrorbars ls 1 notitle, \
     $out_of_place using 1:2 with linespoints ls 1 title "out of place", \
     $in_place using 1:2:($2 * $3 / $5):($2 * $3 / $4) with yerrorbars ls 2 notitle, \
     $in_place using 1:2 with linespoints ls 2 title "in place"
