# SPDX-License-Identifier: BSD-3-Clause
# Bus bandwidth against size with its 95 % interval and the bound, a panel per number of ranks.
#   gnuplot -e "data='busbw.dat'; out='busbw.svg'" plots/common.gp plots/busbw.gp
eval(size_axis)
set ylabel "bus bandwidth (GB/s)"
top = y_high
eval(rate_axis)
do for [p = 1:panels] {
  set title Panel[p] noenhanced
  if (terminal) { set title figure_title . ", " . Panel[p] noenhanced }
  eval(draw_marks)
  eval(draw)
}
if (!terminal) { unset multiplot }
