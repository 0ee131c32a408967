// This file is the marks of a plot: its axes, lines, areas, and the read-out at one step.

const PLOT = { height: 230, left: 58, right: 14, top: 12, bottom: 30 };
const NUM_COLOURS = 8;
const NUM_DASHES = 4; // a second sign of which line is which, for who cannot tell the colours
const toneOf = (index) => `c${index % NUM_COLOURS}`;
const lineLook = (index) => `${toneOf(index)} d${(index + Math.floor(index / NUM_COLOURS)) % NUM_DASHES}`;

// Scales and grid for lines between two steps; null where nothing can be drawn.
function axes(lines, { log, stacked, from, to, width, xLabel }) {
  const inside = (step) => step >= from && step <= to;
  const kept = (value) => isFiniteNumber(value) && (!log || value > 0);
  const values = lines.flatMap((line) => line.values.filter((value, i) => kept(value) && inside(line.steps[i])));
  const [low, high] = bounds(values, log, stacked);
  const [right, floor] = [width - PLOT.right, PLOT.height - PLOT.bottom];
  const x = linear(from, to, PLOT.left, right);
  const bend = log ? Math.log10 : (value) => value;
  const bent = linear(bend(low), bend(high), floor, PLOT.top);
  const y = (value) => bent(bend(value));
  const toStep = (pixel) => from + ((to - from) * (pixel - PLOT.left)) / (right - PLOT.left);
  const marks = (log ? logTicks : roundTicks)(low, high, 4).flatMap((tick) => [
    draw("line", { x1: PLOT.left, x2: right, y1: y(tick), y2: y(tick), class: "grid" }),
    draw("text", { x: PLOT.left - 8, y: y(tick) + 4, class: "tick", "text-anchor": "end" }, asNumber(tick)),
  ]);
  const whole = roundTicks(from, to, Math.max(2, Math.floor(width / 110))).filter((tick) => Number.isInteger(tick) || to - from < 4);
  for (const tick of whole) marks.push(draw("text", { x: x(tick), y: floor + 17, class: "tick", "text-anchor": "middle" }, asNumber(tick)));
  marks.push(draw("line", { x1: PLOT.left, x2: right, y1: floor, y2: floor, class: "axis" }));
  marks.push(draw("text", { x: PLOT.left - 8, y: floor + 17, class: "tick", "text-anchor": "end" }, xLabel));
  return { x, y, kept, toStep, floor, right, marks };
}

function lineMarks(line, { x, y, kept, floor }) {
  const marks = lostRuns(line).map(([first, last]) =>
    draw("rect", { x: x(first), y: PLOT.top, width: Math.max(2, x(last) - x(first)), height: floor - PLOT.top, class: "lost" }));
  let path = "";
  line.values.forEach((value, i) => {
    if (!kept(value)) return;
    const joined = i > 0 && kept(line.values[i - 1]);
    const point = `${x(line.steps[i]).toFixed(1)} ${y(value).toFixed(1)}`;
    path += (joined ? "L" : "M") + point;
    if (!joined && !kept(line.values[i + 1])) marks.push(draw("circle", { cx: x(line.steps[i]), cy: y(value), r: 2.5, class: `dot ${toneOf(line.index)}` }));
  });
  if (path) marks.push(draw("path", { d: path, class: `line ${lineLook(line.index)}` }));
  return marks;
}

// An edge in the colour of the ground would hide what lasts for few pixels.
function areaMarks(line, { x, y, floor }) {
  const fine = line.steps.length > 60 ? "fine " : "";
  const at = (step, pixel) => `${x(step).toFixed(1)} ${pixel.toFixed(1)}`;
  const upper = line.steps.map((step, i) => at(step, y(line.values[i])));
  const lower = line.steps.map((step, i) => at(step, line.below.length ? y(line.below[i]) : floor)).reverse();
  return upper.length ? [draw("path", { d: `M${[...upper, ...lower].join("L")}Z`, class: `area ${fine}${toneOf(line.index)}` })] : [];
}

// What a reader should look at: a line across the axis, and a word at its upper end.
function flagMarks([step, word], { x, floor, right }) {
  const ending = x(step) > right - 90;
  return [
    draw("line", { x1: x(step), x2: x(step), y1: PLOT.top, y2: floor, class: "flag" }),
    draw("text", { x: x(step) + (ending ? -5 : 5), y: PLOT.top + 8, class: "readout", "text-anchor": ending ? "end" : "start" }, word),
  ];
}

// Each line on top of those before it; what is not finite counts nothing.
function piled(lines) {
  let below = [];
  return lines.map((line) => {
    const values = line.values.map((value, i) => (below[i] ?? 0) + (isFiniteNumber(value) ? value : 0));
    const top = { ...line, values, below };
    below = values;
    return top;
  });
}

function lostRuns(line) {
  const runs = [];
  line.values.forEach((value, i) => {
    if (isFiniteNumber(value)) return;
    if (i && runs.length && !isFiniteNumber(line.values[i - 1])) runs[runs.length - 1][1] = line.steps[i];
    else runs.push([line.steps[i], line.steps[i]]);
  });
  return runs;
}
