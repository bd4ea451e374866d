# SPDX-License-Identifier: BSD-3-Clause
# Figure 2 of Ren, Yoo and Hoisie (arXiv 1905.08764), from the simulation: make figures
#   gnuplot -e "folder='plots/paper-figure2'; published='plots/paper-figure2/published.csv'; out='x.svg'" plots/paper-figure2.gp
# published: what `tools/published-rates results/reference/published.toml ren` prints.
# A panel per collective and number of GPUs; lines are simulated, large open points what the paper says in words.
if (!exists("folder") || !exists("published") || !exists("out")) {
  print "usage: gnuplot -e \"folder='FOLDER'; published='FILE.csv'; out='FILE.svg'\" paper-figure2.gp"
  exit status 2
}
set encoding utf8
if (out[strlen(out) - 3:] eq ".png") {
  set terminal pngcairo noenhanced size 1280, 660 font "DejaVu Sans,10" background rgb "white"
} else {
  set terminal svg noenhanced size 1280, 660 font "DejaVu Sans,13" background rgb "white"
}
set output out
set datafile separator comma
set datafile commentschars "#"
set datafile missing ""
set datafile columnheaders

# As in the paper: red circle, blue square, orange triangle, green diamond.
keys = "rtx ac922 p3 dgx-2"
# What is drawn as one of them goes by these names in the published rates.
array Systems[4] = [" exxact-ts4 ", " ac922 ac922-x4 ", " dgx-1v p3dn-x2 ", " dgx-2 "]
array Name[4] = ["RTX box (8x 2080 Ti)", "IBM AC922", "AWS P3", "DGX-2"]
array Colour[4] = [0xCC0000, 0x1F4E9E, 0xE67E00, 0x2E8B2E]
array Full[4] = [7, 5, 9, 13]
array Wide[4] = [1.6, 1.6, 1.6, 4]  # what lies below shows where curves coincide
array Open[4] = [6, 4, 8, 12]
array Collective[2] = ["allreduce", "broadcast"]
array Words[2] = ["all-reduce", "broadcast"]
file(c, n, k) = sprintf("%s/%s-%d-%s.csv", folder, Collective[c], n, word(keys, k))
# "above" is a limit, no point.
is_point(k, c, n) = strstrt(Systems[k], " " . strcol("system") . " ") > 0 && strcol("collective") eq Collective[c] && \
  column("ranks") == n && strcol("relation") ne "above"
is_there(path) = int(system(sprintf("test -e '%s' && echo 1 || echo 0", path)))

set logscale x 2
set logscale y 10
set xrange [0.8:1500]
set yrange [0.5:400]
set xtics nomirror out (1, 4, 16, 64, 256, 1024)
set ytics nomirror out (0.1, 1, 10, 100)
set mytics 10
set format y "%g"
set border 3
set tics nomirror out
set grid xtics ytics lc rgb "#e4e4e4" lw 1 lt 1 dt 1
unset key

left(i) = 0.065 + 0.235 * i
top(c) = c == 1 ? 0.87 : 0.455
set multiplot
set label 1 "simulated: bus bandwidth of 2 to 16 GPUs (Ren, Yoo and Hoisie, arXiv 1905.08764, figure 2)" at screen 0.5, 0.972 center font ",16"

# The legend: one panel without axes.
set lmargin at screen 0.03
set rmargin at screen 0.99
set tmargin at screen 0.955
set bmargin at screen 0.90
set key at screen 0.5, 0.93 center center horizontal Left reverse samplen 2.5 width 1
unset border; unset tics; unset grid
plot for [k = 4:1:-1] NaN with linespoints lc rgb Colour[k] pt Full[k] ps 1 lw Wide[k] title Name[k], \
     NaN with points lc rgb "#444444" pt 6 ps 2.2 lw 1.8 title "published"
unset key; unset label 1
set border 3
set tics nomirror out
set xtics nomirror out (1, 4, 16, 64, 256, 1024)
set ytics nomirror out (0.1, 1, 10, 100)
set grid xtics ytics lc rgb "#e4e4e4" lw 1 lt 1 dt 1

do for [c = 1:2] { do for [i = 0:3] {
  n = 2 ** (i + 1)
  set lmargin at screen left(i)
  set rmargin at screen left(i) + 0.205
  set tmargin at screen top(c)
  set bmargin at screen top(c) - 0.345
  set label 2 sprintf("%s, %d GPUs", Words[c], n) at graph 0.03, 0.955 left front
  if (c == 2) { set xlabel "size (MiB)" } else { unset xlabel }
  if (i == 0) { set ylabel "bus bandwidth (GB/s)" } else { unset ylabel }
  set format x (c == 2 ? "%g" : "")
  set format y (i == 0 ? "%g" : "")
  list = ""
  do for [k = 4:1:-1] { if (is_there(file(c, n, k))) { list = list . sprintf(" %d", k) } }
  plot for [w in list] file(c, n, int(w)) using (column("size_bytes") / 1048576.):(column("busbw_GBps")) \
         with linespoints lc rgb Colour[int(w)] pt Full[int(w)] ps 0.8 lw Wide[int(w)], \
       for [k = 1:4] published using (is_point(k, c, n) ? 1024 : NaN):(column("busbw_GBps")) with points lc rgb Colour[k] pt Open[k] \
         ps 2.8 lw 2
} }
unset multiplot
