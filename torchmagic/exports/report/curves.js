// This file is the live plot in a picture's place: read values, hide lines, switch to a log axis, drag to zoom.

function livePlot(figure, plot) {
  const lines = plot.lines.map((line, index) => ({ ...line, index, values: line.values.map(asFloat), steps: line.steps.map(asFloat) }));
  const steps = [...new Set(lines.flatMap((line) => line.steps))].filter(isFiniteNumber).sort((a, b) => a - b);
  if (!steps.length) return;
  const whole = [steps[0], steps[steps.length - 1]];
  const state = { log: plot.log, hidden: new Set(), range: whole, step: null, drag: null };
  const [tools, legend, frame, spoken] = [make("span", "tools"), make("div", "legend"), make("div", "frame"), make("span", "spoken")];
  const svg = draw("svg", { role: "img", "aria-label": figure.querySelector("img")?.alt ?? "" });
  const [canvas, cursor, brush] = [draw("g"), draw("g"), draw("rect", { class: "brush", y: PLOT.top, height: PLOT.height - PLOT.top - PLOT.bottom })];
  const back = button("Whole run", "show all steps again", () => zoom(whole));
  const log = button("log", "logarithmic axis of values", () => {
    state.log = !state.log;
    show();
  });
  let place = null;

  log.hidden = plot.stacked || !lines.some((line) => line.values.some((value) => isFiniteNumber(value) && value > 0));
  tools.append(back, log);
  figure.querySelector("figcaption").append(tools);
  spoken.setAttribute("role", "status");
  frame.tabIndex = 0;
  frame.setAttribute("role", "group");
  frame.setAttribute("aria-label", "Left and right arrow keys read values");
  svg.append(canvas, brush, cursor);
  frame.append(svg);
  figure.append(legend, frame, spoken);
  figure.classList.add("live");
  const entries = lines.map((line) => legendEntry(line, plot.stacked ? `filled ${toneOf(line.index)}` : lineLook(line.index), () => {
    state.hidden.has(line.index) ? state.hidden.delete(line.index) : state.hidden.add(line.index);
    show();
  }));
  legend.append(...entries.map((entry) => entry.root));

  const pixel = (event) => event.clientX - svg.getBoundingClientRect().left;
  frame.onpointermove = (event) => {
    read(place?.toStep(pixel(event)) ?? null);
    if (state.drag !== null) showBrush(pixel(event));
  };
  frame.onpointerleave = () => read(null);
  frame.onblur = () => read(null);
  frame.onpointerdown = (event) => {
    if (event.pointerType !== "mouse" || event.button !== 0) return;
    state.drag = pixel(event);
    frame.setPointerCapture(event.pointerId);
  };
  frame.onpointerup = (event) => {
    const [start, end] = [state.drag, pixel(event)];
    state.drag = null;
    brush.removeAttribute("width");
    if (start === null || Math.abs(end - start) < 6) return;
    const [from, to] = [place.toStep(Math.min(start, end)), place.toStep(Math.max(start, end))];
    if (steps.filter((step) => step >= from && step <= to).length > 1) zoom([Math.max(whole[0], from), Math.min(whole[1], to)]);
  };
  frame.ondblclick = () => zoom(whole);
  frame.onkeydown = (event) => {
    if (event.key === "Escape") return zoom(whole);
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const seen = steps.filter((step) => step >= state.range[0] && step <= state.range[1]);
    const here = state.step === null ? (by > 0 ? -1 : seen.length) : nearest(seen, state.step);
    read(seen[Math.min(seen.length - 1, Math.max(0, here + by))]);
    spoken.textContent = `${plot.x} ${asNumber(state.step)}: ${lines.map((line) => `${line.name} ${valueAt(line, state.step)}`).join(", ")}`;
  };

  function zoom(range) {
    state.range = range;
    show();
  }

  function showBrush(at) {
    brush.setAttribute("x", Math.min(at, state.drag));
    brush.setAttribute("width", Math.abs(at - state.drag));
  }

  function show() {
    const width = frame.clientWidth;
    if (!width) return;
    const visible = lines.filter((line) => !state.hidden.has(line.index));
    const drawn = plot.stacked ? piled(visible) : visible;
    const [from, to] = state.range;
    place = axes(drawn, { log: state.log && !log.hidden, stacked: plot.stacked, from, to, width, xLabel: plot.x });
    const clipped = draw("svg", { x: PLOT.left, width: Math.max(0, place.right - PLOT.left), height: PLOT.height, viewBox: `${PLOT.left} 0 ${Math.max(1, place.right - PLOT.left)} ${PLOT.height}` });
    clipped.append(...drawn.flatMap((line) => (plot.stacked ? areaMarks : lineMarks)(line, place)));
    clipped.append(...plot.marks.filter(([step]) => step >= from && step <= to).flatMap((mark) => flagMarks(mark, place)));
    svg.setAttribute("viewBox", `0 0 ${width} ${PLOT.height}`);
    canvas.replaceChildren(...place.marks, clipped);
    back.hidden = from === whole[0] && to === whole[1];
    log.setAttribute("aria-pressed", String(state.log));
    entries.forEach((entry, i) => entry.press(!state.hidden.has(i)));
    read(state.step);
  }

  function read(step) {
    state.step = step === null ? null : steps[nearest(steps, step)];
    entries.forEach((entry, i) => entry.tell(valueAt(lines[i], state.step, plot.x === "step")));
    cursor.replaceChildren(...(state.step === null ? [] : cursorMarks()));
  }

  function cursorMarks() {
    const at = place.x(state.step);
    const left = at < (PLOT.left + place.right) / 2;
    const told = `${plot.x} ${asNumber(state.step)}`;
    const marks = [draw("line", { x1: at, x2: at, y1: PLOT.top, y2: place.floor, class: "cross" }),
      draw("text", { x: at + (left ? 6 : -6), y: PLOT.top + 8, class: "readout", "text-anchor": left ? "start" : "end" }, told)];
    for (const line of plot.stacked ? [] : lines.filter((each) => !state.hidden.has(each.index))) {
      const i = nearest(line.steps, state.step);
      if (place.kept(line.values[i]) && line.steps[i] >= state.range[0] && line.steps[i] <= state.range[1]) marks.push(draw("circle", { cx: place.x(line.steps[i]), cy: place.y(line.values[i]), r: 3.5, class: `dot ${toneOf(line.index)}` }));
    }
    return marks;
  }

  new ResizeObserver(show).observe(frame);
  show();
}

function legendEntry(line, look, onClick) {
  const root = button("", "show or hide this line", onClick);
  const value = make("span", "value");
  root.className = `entry ${look}`;
  root.append(make("span", "swatch"), make("span", "name", line.name), value);
  return { root, press: (on) => root.setAttribute("aria-pressed", String(on)), tell: (text) => (value.textContent = text) };
}

// At rest the newest value says much of a curve over steps, and nothing of one over values.
function valueAt(line, step, overSteps = true) {
  if (!line.steps.length || (step === null && !overSteps)) return "";
  return asNumber(line.values[step === null ? line.steps.length - 1 : nearest(line.steps, step)]);
}
