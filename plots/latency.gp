# SPDX-License-Identifier: BSD-3-Clause
# Time against size, both logarithmic: median with its interval, and the 99th percentile.
#   gnuplot -e "data='latency.dat'; out='latency.svg'" plots/common.gp plots/latency.gp
eval(size_axis)
set ylabel "time (µs)"
low = y_low / 1.5; high = y_high * 1.5
eval(log_axis("y"))
do for [p = 1:panels] {
  set title Panel[p] noenhanced
  if (terminal) { set title figure_title . ", " . Panel[p] noenhanced }
  eval(draw_marks)
  eval(draw)
}
if (!terminal) { unset multiplot }
