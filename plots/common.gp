# SPDX-License-Identifier: BSD-3-Clause
# What every figure shares. To draw a figure by hand from the data that busbar plot left beside the picture:
#   gnuplot -e "data='busbw.dat'; out='busbw.svg'" plots/common.gp plots/busbw.gp
# `out` ends in .svg or .png; without `out` the figure is drawn as text, `columns` by `lines` characters.
# The data are blocks: facts, panels, marks, curves, and then the points of each curve (x y low high).
if (!exists("data")) {
  print "usage: gnuplot -e \"data='NAME.dat'; out='NAME.svg'\" plots/common.gp plots/NAME.gp"
  exit status 2
}
terminal = !exists("out")
if (terminal) { out = "" }
if (!exists("columns")) { columns = 100 }
if (!exists("lines")) { lines = 32 }
set encoding utf8
set datafile missing "nan"

# --- facts, panels, marks, curves -----------------------------------------------------------------
figure_title = ""; panels = 0; curves = 0; marks = 0
x_low = 1.; x_high = 1.; y_low = 0.; y_high = 1.; limits_low = 0.; limits_high = 1.; ranks = 0; log_low = 0.
number(text) = real(text)
set table $ignored
plot data index 0 using (strcol(1) eq "title" ? figure_title = strcol(2) : \
  strcol(1) eq "panels" ? panels = int(number(strcol(2))) : strcol(1) eq "curves" ? curves = int(number(strcol(2))) : \
  strcol(1) eq "marks" ? marks = int(number(strcol(2))) : strcol(1) eq "ranks" ? ranks = int(number(strcol(2))) : \
  strcol(1) eq "x_low" ? x_low = number(strcol(2)) : strcol(1) eq "x_high" ? x_high = number(strcol(2)) : \
  strcol(1) eq "y_low" ? y_low = number(strcol(2)) : strcol(1) eq "y_high" ? y_high = number(strcol(2)) : \
  strcol(1) eq "log_low" ? log_low = number(strcol(2)) : strcol(1) eq "limits_low" ? limits_low = number(strcol(2)) : \
  strcol(1) eq "limits_high" ? limits_high = number(strcol(2)) : 0, 0) with table
array Panel[panels + 1]
array X_low[panels + 1]
array X_high[panels + 1]
array Y_low[panels + 1]
array Y_high[panels + 1]
plot data index 1 using (i = int(column(1)), Panel[i] = strcol(2), X_low[i] = column(3), X_high[i] = column(4), \
  Y_low[i] = column(5), Y_high[i] = column(6), 0) with table
array Mark_x[marks + 1]
array Mark_text[marks + 1]
array Mark_panel[marks + 1]
array Mark_place[marks + 1]
array Mark_colour[marks + 1]
plot data index 2 using (i = int(column(0)) + 1, Mark_x[i] = strcol(1), Mark_text[i] = strcol(2), \
  Mark_panel[i] = int(number(strcol(3))), Mark_place[i] = strcol(4), Mark_colour[i] = int(number(strcol(5))), 0) with table
array In[curves + 1]
array Kind[curves + 1]
array Colour[curves + 1]
array Point[curves + 1]
array Dash[curves + 1]
array Title[curves + 1]
plot data index 3 using (i = int(column(0)) + 1, In[i] = int(column(1)), Kind[i] = strcol(2), Colour[i] = int(column(3)), \
  Point[i] = int(column(4)), Dash[i] = int(column(5)), Title[i] = strcol(6), 0) with table
unset table
block(curve) = curve + 3  # of the data, where the curve's points are

# --- the sheet ------------------------------------------------------------------------------------
across = panels <= 3 ? panels : panels == 4 ? 2 : 3
if (across < 1) { across = 1 }
down = (panels + across - 1) / across
panel_width = across == 1 ? 900 : across == 2 ? 560 : 480
legend = 0  # entries of the fullest panel's legend
do for [p = 1:panels] {
  entries = 0
  do for [c = 1:curves] { if (In[c] == p && Title[c] ne "") { entries = entries + 1 } }
  if (entries > legend) { legend = entries }
}
matrix = curves < 1 ? 0 : Kind[1] eq "cells"
if (matrix) { panel_width = across == 1 ? 760 : 600 }
if (!exists("panel_height")) { panel_height = matrix ? (across == 1 ? 620 : 500) : (across == 1 ? 430 : 330) + 19 * (legend + 1) }
sheet_width = panel_width * across
sheet_height = panel_height * down + 40
if (terminal) {
  set terminal dumb mono size columns, lines
} else {
  if (out[strlen(out) - 3:] eq ".png") {
    set terminal pngcairo noenhanced size sheet_width, sheet_height font "DejaVu Sans,10" background rgb "white"
  } else {
    set terminal svg noenhanced size sheet_width, sheet_height font "DejaVu Sans,13" background rgb "white"
  }
  set output out
}

mark = terminal || out[strlen(out) - 3:] eq ".png" ? 1.3 : 0.75  # the size of a point, which SVG draws larger

# --- axes -----------------------------------------------------------------------------------------
set border 3
set tics nomirror out
set grid xtics ytics lc rgb "#e4e4e4" lw 1 lt 1 dt 1
if (terminal) { unset grid } else { set style fill transparent solid 0.18 noborder }
set key below center vertical maxcols 1 reverse Left samplen 4 spacing 1.1
if (!terminal) { set key title " " }  # room above it; text would lose the middle of the axis's names

bytes(x) = x < 2**10 ? sprintf("%g B", x) : x < 2**20 ? sprintf("%g KiB", x / 2**10) : \
  x < 2**30 ? sprintf("%g MiB", x / 2**20) : x < 2**40 ? sprintf("%g GiB", x / 2**30) : sprintf("%g TiB", x / 2**40)

# At most `most` names of sizes, powers of two a whole power apart.
size_axis = 'set logscale x 2; set xlabel "size" offset 0, 0.3; first_power = int(floor(log(x_low) / log(2) + 1e-9)); last_power = int(ceil(log(x_high) / log(2) - 1e-9)); apart = int(ceil((last_power - first_power + 1.) / most)); unset xtics; set xtics out nomirror (); do for [power = first_power:last_power] { if (power % apart == 0) { set xtics add (bytes(2. ** power) 2. ** power) } else { set xtics add ("" 2. ** power 1) } }; set xrange [x_low / 1.25 : x_high * 1.25]'
most = across == 1 ? 11 : across == 2 ? 7 : 6
if (terminal) { most = 6 }

# A logarithmic axis from `low` to `high`: eval(log_axis("x")). Decades, or 1, 2 and 5 where they are few.
plain(x) = x < 1 ? sprintf("%g", x) : sprintf("%.0f", x)
few_decades(low, high) = log10(high / low) < 2.2
log_axis(axis) = sprintf("set logscale %s 10; set %srange [low:high]; unset %stics; set %stics out nomirror (); ", axis, axis, axis, axis) . \
  sprintf("do for [power = int(floor(log10(low))) - 1 : int(ceil(log10(high)))] { do for [digit = 1:9] { tic = digit * 10. ** power; ") . \
  sprintf("if (tic >= low * 0.999 && tic <= high * 1.001) { if (digit == 1 || (few_decades(low, high) && (digit == 2 || digit == 5))) { set %stics add (plain(tic) tic) } else { set %stics add ('' tic 1) } } } }", axis, axis)

# The axis of bandwidths up to `top`: logarithmic from log_low on where the data say so.
rate_axis = 'if (log_low > 0) { low = log_low / 1.2; high = top * 1.3; eval(log_axis("y")) } else { set yrange [0:top * 1.05] }'

# --- curves ---------------------------------------------------------------------------------------
# What of a plot command draws curve c; text has neither colours nor bands.
style(c) = sprintf("lc rgb Colour[%d] title Title[%d]", c, c)
how(c) = Kind[c] eq "density" ? sprintf("steps dt %d lw 1.6", terminal ? 1 : Dash[c]) : terminal ? (Kind[c] eq "bound" || Kind[c] eq "ideal" || Kind[c] eq "steps" ? "lines" : "linespoints") : \
  Kind[c] eq "bound" ? "lines dt 3 lw 2" : Kind[c] eq "ideal" ? "lines dt 2 lw 1.5" : \
  Kind[c] eq "second" ? sprintf("linespoints dt 3 lw 1.2 pt %d ps 0.5 * mark", Point[c]) : \
  Kind[c] eq "raw" ? sprintf("points pt %d ps 0.9 * mark", Point[c]) : \
  Kind[c] eq "steps" ? sprintf("steps dt %d lw 1.8", Dash[c]) : \
  sprintf("linespoints dt %d lw 1.8 pt %d ps mark", Dash[c], Point[c])
# The shape with the number below is the hollow one.
hollow(c) = terminal ? sprintf(", data index %d using 1:2 with points title Title[%d]", block(c), c) : \
  sprintf(", data index %d using 1:2 with points pt %d ps 1.2 * mark lc rgb 'white' notitle", block(c), Point[c]) . \
  sprintf(", data index %d using 1:2 with points pt %d ps 1.3 * mark lw 1.8 %s", block(c), Point[c] - 1, style(c))
line(c) = Kind[c] eq "hollow" ? hollow(c) : sprintf(", data index %d using 1:2 with %s %s", block(c), how(c), terminal ? sprintf("title Title[%d]", c) : style(c))
band(c) = !terminal && Kind[c] eq "density" ? \
  sprintf(", data index %d using 1:2 with fillsteps lc rgb Colour[%d] notitle", block(c), c) : \
  terminal || Kind[c] ne "measured" ? "" : \
  sprintf(", data index %d using 1:3:4 with filledcurves lc rgb Colour[%d] notitle", block(c), c) . \
  sprintf(", data index %d using 1:2:3:4 with yerrorbars pt -1 dt 1 lw 1 lc rgb Colour[%d] notitle", block(c), c)
# All curves of panel p, bands below; an empty line of the data is a gap.
draw = 'plan = ""; do for [c = 1:curves] { if (In[c] == p) { plan = plan . band(c) } }; do for [c = 1:curves] { if (In[c] == p) { plan = plan . line(c) } }; eval("plot " . plan[3:])'

# The marks of panel p: thin lines, and words along them where no curve is. In text there is no room for them.
label_at = 'set label Mark_text[m] at x, graph %s rotate by 90 %s noenhanced front font ",9" tc rgb Mark_colour[m] offset character (side eq "right" ? 1.1 : -1.1), 0; '
draw_marks = 'unset arrow; unset label; do for [m = 2:marks + 1] { if (!terminal && Mark_panel[m] == p) { x = real(Mark_x[m]); side = substr(Mark_place[m], 7, 11); ' . \
  'set arrow from x, graph 0 to x, graph 1 nohead back dt 3 lw 1 lc rgb Mark_colour[m]; ' . \
  'if (substr(Mark_place[m], 1, 5) eq "above") { ' . sprintf(label_at, "0.98", "right") . '} else { ' . sprintf(label_at, "0.02", "left") . '} } }'

# A sheet of several panels, or pages of text.
if (!terminal) { set multiplot layout down, across title figure_title font ",15" noenhanced }
