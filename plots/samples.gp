# SPDX-License-Identifier: BSD-3-Clause
# Distribution of samples: each as a point where they are few, else the share up to a time.
#   gnuplot -e "data='samples.dat'; out='samples.svg'" plots/common.gp plots/samples.gp
set xlabel "time (µs)" offset 0, 0.3
set ylabel "samples up to this time (%)"
set yrange [0:100]
do for [p = 1:panels] {
  set title Panel[p] noenhanced
  if (terminal) { set title figure_title . ", " . Panel[p] noenhanced }
  low = X_low[p] / 1.2; high = X_high[p] * 1.2
  eval(log_axis("x"))
  eval(draw)
}
if (!terminal) { unset multiplot }
