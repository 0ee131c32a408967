// This file is the line plot: a read-out that follows the pointer or the arrow keys, a legend that hides lines, a log axis.

const NUM_COLOURS = 8;
const NUM_DASHES = 4; // a second sign of which line is which, for who cannot tell the colours
const FEW_STEPS = 60;
const PLOT = { height: 190, left: 50, right: 12, top: 10, bottom: 26 };

function plotView() {
  const root = make("figure", "tm-block tm-figure");
  const head = make("figcaption", "tm-bar");
  const title = make("span", "tm-figuretitle");
  const legend = make("div", "tm-legend");
  const frame = make("div", "tm-frame");
  const spoken = make("span", "tm-spoken");
  const svg = draw("svg", { role: "img" });
  const state = { log: null, hidden: new Set(), step: null };
  let [block, place, width] = [{ lines: [] }, null, 0];

  const log = toggle("log", "logarithmic value axis", false, (on) => {
    state.log = on;
    show();
  });
  spoken.setAttribute("role", "status");
  frame.tabIndex = 0;
  frame.setAttribute("role", "group");
  head.append(title, log);
  frame.append(svg);
  root.append(head, legend, frame, spoken);
  const watcher = new ResizeObserver(() => {
    if (Math.abs(frame.clientWidth - width) > 1) show();
  });
  watcher.observe(frame);
  frame.onpointermove = (event) => read(place && place.toStep(event.clientX - svg.getBoundingClientRect().left));
  frame.onpointerleave = () => read(null);
  frame.onblur = () => read(null);
  frame.onkeydown = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || !place) return;
    event.preventDefault();
    const steps = place.steps;
    const here = state.step === null ? (by > 0 ? -1 : steps.length) : nearestIndex(steps, state.step);
    read(steps[Math.min(steps.length - 1, Math.max(0, here + by))], true);
  };

  function update(next) {
    block = next;
    if (state.log === null) {
      state.log = next.log;
      log.setAttribute("aria-pressed", String(next.log));
    }
    setText(title, next.title);
    frame.setAttribute("aria-label", `${next.title}: left and right arrow keys read values`);
    svg.setAttribute("aria-label", summary());
    show();
  }

  const summary = () => block.lines.map((line) => {
    const finite = line.values.filter(isFiniteNumber);
    if (!finite.length) return `${line.name}: no finite values`;
    const range = `min ${asNumber(Math.min(...finite))}, max ${asNumber(Math.max(...finite))}`;
    return `${line.name}: from ${asNumber(finite[0])} to ${asNumber(finite[finite.length - 1])}, ${range}`;
  }).join("; ") || "no values yet";

  function show() {
    width = frame.clientWidth;
    if (!width) return;
    const shown = block.lines.map((line, index) => ({ ...line, index })).filter((line) => !state.hidden.has(line.name));
    const visible = block.stacked ? piled(shown) : shown;
    const positive = block.lines.some((line) => line.values.some((value) => isFiniteNumber(value) && value > 0));
    log.hidden = !positive || block.stacked;
    svg.setAttribute("viewBox", `0 0 ${width} ${PLOT.height}`);
    svg.setAttribute("height", PLOT.height);
    place = axes(visible, state.log && positive && !block.stacked, width, block);
    svg.replaceChildren(...(place ? place.marks : [emptyMark(width)]), ...(place ? visible.flatMap((line) => lineMarks(line, place)) : []), ...(place?.flags ?? []));
    svg.append(draw("g", { class: "tm-cursor" }));
    read(state.step);
  }

  function read(step, aloud = false) {
    state.step = place && step !== null ? place.steps[nearestIndex(place.steps, step)] : null;
    const cursor = svg.querySelector(".tm-cursor");
    cursor?.replaceChildren(...(state.step === null ? [] : cursorMarks(block, state, place)));
    showLegend();
    if (aloud) setText(spoken, `${block.x_label} ${asNumber(state.step)}: ${block.lines.map((line) => `${line.name} ${valueAt(line, state.step)}`).join(", ")}`);
  }

  function showLegend() {
    while (legend.children.length > block.lines.length) legend.lastChild.remove();
    block.lines.forEach((line, index) => {
      const entry = legend.children[index] ?? legend.appendChild(legendEntry());
      entry.onclick = () => {
        state.hidden.has(line.name) ? state.hidden.delete(line.name) : state.hidden.add(line.name);
        show();
      };
      entry.className = `tm-entry ${block.stacked ? `tm-filled ${toneOf(index)}` : lineLook(index)}`;
      entry.setAttribute("aria-pressed", String(!state.hidden.has(line.name)));
      setText(entry.children[1], line.name);
      // the newest value says much of a curve over steps, the last of one over values nothing
      const idle = state.step === null && block.x_label !== "step";
      setText(entry.children[2], idle ? "" : valueAt(line, state.step));
    });
  }

  return { root, update, remove: () => watcher.disconnect() };
}

const toneOf = (index) => `tm-c${index % NUM_COLOURS}`;
const lineLook = (index) => `${toneOf(index)} tm-d${(index + Math.floor(index / NUM_COLOURS)) % NUM_DASHES}`;

function legendEntry() {
  const entry = make("button", "tm-entry");
  entry.type = "button";
  entry.title = "show or hide this line";
  entry.append(make("span", "tm-swatch"), make("span"), make("span", "tm-value"));
  return entry;
}

function valueAt(line, step) {
  if (!line.steps.length) return "";
  const index = step === null ? line.steps.length - 1 : nearestIndex(line.steps, step);
  return asNumber(line.values[index]);
}

const emptyMark = (width) =>
  draw("text", { x: width / 2, y: PLOT.height / 2, class: "tm-tick", "text-anchor": "middle" }, "no values yet");

// Axes that hold the lines: their scales, and the marks of grid, ticks and labels; null where there is nothing to hold.
function axes(lines, log, width, block) {
  const steps = [...new Set(lines.flatMap((line) => line.steps).filter(isFiniteNumber))].sort((a, b) => a - b);
  if (!steps.length) return null;
  const kept = (value) => isFiniteNumber(value) && (!log || value > 0);
  const values = lines.flatMap((line) => line.values).filter(kept);
  let low = block.stacked ? 0 : values.reduce((a, b) => Math.min(a, b), Infinity);
  let high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  if (!values.length) [low, high] = log ? [0.1, 1] : [0, 1];
  [low, high] = grown(low, high, log);
  if (!log) [low, high] = [low >= 0 ? Math.max(0, low - (high - low) * 0.06) : low - (high - low) * 0.06, high + (high - low) * 0.06];
  const bend = log ? Math.log10 : (value) => value;
  const [first, last] = [steps[0], steps[steps.length - 1]];
  const [right, floor] = [width - PLOT.right, PLOT.height - PLOT.bottom];
  const x = linearScale(first, last, PLOT.left, right);
  const bent = linearScale(bend(low), bend(high), floor, PLOT.top);
  const y = (value) => bent(bend(value));
  const toStep = (pixel) => first + ((last - first) * (pixel - PLOT.left)) / (right - PLOT.left);
  const ticks = values.length ? (log ? logTicks : roundTicks)(low, high, 4) : []; // nothing is told by an axis of no values
  const marks = ticks.flatMap((tick) => [
    draw("line", { x1: PLOT.left, x2: right, y1: y(tick), y2: y(tick), class: "tm-grid" }),
    draw("text", { x: PLOT.left - 7, y: y(tick) + 3.5, class: "tm-tick", "text-anchor": "end" }, asNumber(tick)),
  ]);
  const whole = roundTicks(first, last, Math.max(2, Math.floor(width / 85))).filter((tick) => Number.isInteger(tick) || last - first < 2);
  whole.forEach((tick) => marks.push(draw("text", { x: x(tick), y: floor + 16, class: "tm-tick", "text-anchor": "middle" }, asNumber(tick))));
  marks.push(draw("line", { x1: PLOT.left, x2: right, y1: floor, y2: floor, class: "tm-axis" }));
  marks.push(draw("text", { x: PLOT.left - 16, y: floor + 16, class: "tm-tick", "text-anchor": "end" }, block.x_label));
  const flags = (block.marks ?? []).filter(([step]) => step >= first && step <= last).flatMap(([step, word]) => flagMarks(x(step), word, floor, right));
  return { steps, x, y, kept, toStep, floor, right, marks, flags, unit: block.x_label };
}

// What a reader should look at: a line across the axis, and a word at its upper end.
function flagMarks(at, word, floor, right) {
  const ending = at > right - 70;
  return [
    draw("line", { x1: at, x2: at, y1: PLOT.top, y2: floor, class: "tm-flag" }),
    draw("text", { x: at + (ending ? -4 : 4), y: PLOT.top + 8, class: "tm-lostlabel", "text-anchor": ending ? "end" : "start" }, word),
  ];
}

// Each line on top of those before it; what is not finite counts nothing.
function piled(lines) {
  let below = [];
  return lines.map((line) => {
    const values = line.values.map((value, index) => (below[index] ?? 0) + (isFiniteNumber(value) ? value : 0));
    const top = { ...line, values, below };
    below = values;
    return top;
  });
}

// An edge in the colour of the ground would hide what lasts for few pixels.
function areaMark(line, { x, y, floor }) {
  const fine = line.steps.length > FEW_STEPS ? "tm-fine " : "";
  const point = (step, pixel) => `${x(step).toFixed(1)} ${pixel.toFixed(1)}`;
  const upper = line.steps.map((step, index) => point(step, y(line.values[index])));
  const lower = line.steps.map((step, index) => point(step, line.below.length ? y(line.below[index]) : floor)).reverse();
  return draw("path", { d: `M${[...upper, ...lower].join("L")}Z`, class: `tm-area ${fine}${toneOf(line.index)}`, "data-line": line.name });
}

function lineMarks(line, { x, y, kept, floor, right, unit }) {
  if (line.below && line.steps.length) return [areaMark(line, { x, y, floor })];
  const runs = lostRuns(line);
  const marks = runs.map(([from, to]) =>
    draw("rect", { x: x(from), y: PLOT.top, width: Math.max(2, x(to) - x(from)), height: floor - PLOT.top, class: "tm-lost" }));
  if (runs.length) marks.push(lostLabel(line, x(runs[0][0]), right, unit));
  let path = "";
  line.values.forEach((value, index) => {
    if (!kept(value)) return;
    const joined = index > 0 && kept(line.values[index - 1]);
    const alone = !joined && !kept(line.values[index + 1]);
    const [px, py] = [x(line.steps[index]).toFixed(1), y(value).toFixed(1)];
    path += `${joined ? "L" : "M"}${px} ${py}`;
    if (alone) marks.push(draw("circle", { cx: px, cy: py, r: 2.5, class: `tm-dot ${toneOf(line.index)}` }));
  });
  if (path) marks.push(draw("path", { d: path, class: `tm-line ${lineLook(line.index)}`, "data-line": line.name }));
  return marks;
}

function lostLabel(line, left, right, unit) {
  const roomy = right - left > 170;
  const where = { x: roomy ? left + 5 : left - 5, y: PLOT.top + 11 + 13 * line.index, "text-anchor": roomy ? "start" : "end" };
  return draw("text", { ...where, class: "tm-lostlabel" }, `${line.name} not finite from ${unit} ${asNumber(lostRuns(line)[0][0])}`);
}

function cursorMarks(block, state, { x, y, kept, floor, steps }) {
  const at = x(state.step);
  const marks = [draw("line", { x1: at, x2: at, y1: PLOT.top, y2: floor, class: "tm-crosshair" })];
  const anchor = state.step > (steps[0] + steps[steps.length - 1]) / 2 ? ["end", -5] : ["start", 5];
  const label = `${block.x_label} ${asNumber(state.step)}`;
  marks.push(draw("text", { x: at + anchor[1], y: PLOT.top + 8, class: "tm-readout", "text-anchor": anchor[0] }, label));
  block.lines.forEach((line, index) => {
    if (block.stacked || state.hidden.has(line.name) || !line.steps.length) return;
    const value = line.values[nearestIndex(line.steps, state.step)];
    if (kept(value)) marks.push(draw("circle", { cx: x(line.steps[nearestIndex(line.steps, state.step)]), cy: y(value), r: 3, class: `tm-dot ${toneOf(index)}` }));
  });
  return marks;
}
