# SPDX-License-Identifier: BSD-3-Clause
# Bus bandwidth at one size over days, with a line where a version changed.
#   gnuplot -e "data='history.dat'; out='history.svg'" plots/common.gp plots/history.gp
set xdata time
set timefmt "%s"
margin = (x_high - x_low) * 0.05 + 1
set xrange [x_low - margin : x_high + margin]
set xlabel ""
# At least a tick's name apart, in seconds, minutes, hours or days.
least = (x_high - x_low + 2 * margin) / (across == 1 ? 7. : 4.)
steps = "1 2 5 10 15 30 60 120 300 600 900 1800 3600 7200 10800 21600 43200 86400"
apart = ceil(least / 86400.) * 86400
do for [i = words(steps):1:-1] { if (real(word(steps, i)) >= least) { apart = real(word(steps, i)) } }
set xtics apart
set format x (apart < 60 ? "%H:%M:%S" : apart < 86400 ? "%m-%d\n%H:%M" : "%Y-%m-%d")
set ylabel "bus bandwidth (GB/s)"
top = y_high * 1.1
eval(rate_axis)
# The mark's own line comes first in the block: it has no x.
do for [m = 2:marks + 1] {
  x = real(Mark_x[m])
  set arrow from x, graph 0 to x, graph 1 nohead dt 2 lw 1.2 lc rgb "#444444"
  height = 0.97 - 0.07 * ((m - 2) % 5)
  if (x > (x_low + x_high) / 2) {
    set label Mark_text[m] at x, graph height right noenhanced front tc rgb "#222222" offset character -0.6, 0
  } else {
    set label Mark_text[m] at x, graph height left noenhanced front tc rgb "#222222" offset character 0.6, 0
  }
}
do for [p = 1:panels] {
  set title Panel[p] noenhanced
  if (terminal) { set title figure_title . ", " . Panel[p] noenhanced }
  eval(draw)
}
if (!terminal) { unset multiplot }
