# SPDX-License-Identifier: BSD-3-Clause
# Distribution of samples: each as a point where they are few, else the share up to a time.
#   gnuplot -e "data='samples.dat'; out='samples.svg'" plots/common.gp plots/samples.gp
set xlabel "time (µs)"
set format x "%g"
set ylabel "samples up to this time (%)"
set yrange [0:100]
set logscale x 10
do for [p = 1:panels] {
  set title Panel[p] noenhanced
  if (terminal) { set title figure_title . ", " . Panel[p] noenhanced }
  plot for [c in of_kind(p, "steps")] data index block(c) using 1:2 with steps dt Dash[c] lw 1.8 lc rgb Colour[c] title Title[c], \
    for [c in of_kind(p, "raw")] data index block(c) using 1:2 with points pt Point[c] ps 0.9 lc rgb Colour[c] title Title[c]
}
if (!terminal) { unset multiplot }
