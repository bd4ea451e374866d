# SPDX-License-Identifier: BSD-3-Clause
# Bus bandwidth at one size over days, with a line where a version changed.
#   gnuplot -e "data='history.dat'; out='history.svg'" plots/common.gp plots/history.gp
set xdata time
set timefmt "%s"
wide = (x_high - x_low) / 86400.
set format x (wide > 3 ? "%Y-%m-%d" : "%m-%d\n%H:%M")
set xlabel ""
margin = (x_high - x_low) * 0.05 + 60
set xrange [x_low - margin : x_high + margin]
set xtics autofreq
set ylabel "bus bandwidth (GB/s)"
set yrange [0:y_high * 1.15]
apart = (x_high - x_low + 2 * margin) / (across == 1 ? 7. : 4.)
if (wide > 3) { set xtics ceil(apart / 86400.) * 86400 }
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
