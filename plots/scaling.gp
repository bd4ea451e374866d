# SPDX-License-Identifier: BSD-3-Clause
# Bus bandwidth and time over the number of ranks at one size; the ideal keeps the bus bandwidth.
#   gnuplot -e "data='scaling.dat'; out='scaling.svg'" plots/common.gp plots/scaling.gp
set logscale x 2
set format x "%g"
set xlabel "ranks" offset 0, 0.3
set xrange [x_low / 1.15 : x_high * 1.15]
do for [p = 1:panels] {
  set title Panel[p] noenhanced
  if (terminal) { set title figure_title . ", " . Panel[p] noenhanced }
  set ylabel Panel[p] noenhanced
  if (p == 1) { top = Y_high[1] * 1.05; eval(rate_axis) }
  if (p == 2) { low = Y_low[2] / 1.5; high = Y_high[2] * 1.5; eval(log_axis("y")) }
  eval(draw)
}
if (!terminal) { unset multiplot }
