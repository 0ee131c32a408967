// This file is the histogram and the bars of shares.

function barsView() {
  const root = make("figure", "tm-block tm-figure");
  const head = make("figcaption", "tm-bar");
  const [title, told] = [make("span", "tm-figuretitle"), make("span", "tm-quiet tm-right")];
  const frame = make("div", "tm-frame");
  const svg = draw("svg", { role: "img" });
  let [block, width] = [{ edges: [], counts: [] }, 0];
  head.append(title, told);
  frame.append(svg);
  root.append(head, frame);
  const watcher = new ResizeObserver(() => {
    if (Math.abs(frame.clientWidth - width) > 1) show();
  });
  watcher.observe(frame);

  const total = () => block.counts.reduce((sum, count) => sum + count, 0);
  const rest = () => setText(told, `${asCount(total())} values`);

  function update(next) {
    block = next;
    setText(title, next.title);
    svg.setAttribute("aria-label", `${next.title}: ${asCount(total())} values from ${asNumber(next.edges[0])} to ${asNumber(next.edges[next.edges.length - 1])}`);
    rest();
    show();
  }

  function show() {
    width = frame.clientWidth;
    const edges = block.edges;
    if (!width) return;
    svg.setAttribute("viewBox", `0 0 ${width} ${PLOT.height}`);
    svg.setAttribute("height", PLOT.height);
    if (!total() || !edges.every(isFiniteNumber)) return svg.replaceChildren(emptyMark(width));
    const [right, floor] = [width - PLOT.right, PLOT.height - PLOT.bottom];
    const x = linearScale(edges[0], edges[edges.length - 1], PLOT.left, right);
    const most = 1.05 * block.counts.reduce((a, b) => Math.max(a, b), 1);
    const y = linearScale(0, most, floor, PLOT.top);
    const marks = roundTicks(0, most, 4).flatMap((tick) => [
      draw("line", { x1: PLOT.left, x2: right, y1: y(tick), y2: y(tick), class: "tm-grid" }),
      draw("text", { x: PLOT.left - 7, y: y(tick) + 3.5, class: "tm-tick", "text-anchor": "end" }, asCount(tick)),
    ]);
    block.counts.forEach((count, index) => marks.push(bar(count, edges[index], edges[index + 1], x, y, floor)));
    const whole = areWhole(edges);
    roundTicks(edges[0], edges[edges.length - 1], Math.max(2, Math.floor(width / 90))).filter((tick) => !whole || Number.isInteger(tick)).forEach((tick) =>
      marks.push(draw("text", { x: x(tick), y: floor + 16, class: "tm-tick", "text-anchor": "middle" }, asNumber(tick))));
    marks.push(draw("line", { x1: PLOT.left, x2: right, y1: floor, y2: floor, class: "tm-axis" }));
    svg.replaceChildren(...marks);
  }

  function bar(count, from, to, x, y, floor) {
    const mark = draw("rect", { x: x(from) + 0.5, y: y(count), width: Math.max(0.5, x(to) - x(from) - 1), height: floor - y(count), class: "tm-column" });
    mark.onpointerenter = () => setText(told, `${asNumber(count)} ${areWhole(block.edges) ? `at ${asNumber(Math.round(from + 0.5))}` : `from ${asNumber(from)} to ${asNumber(to)}`}`);
    mark.onpointerleave = rest;
    return mark;
  }

  return { root, update, remove: () => watcher.disconnect() };
}

// Whether each bin is that of one whole number, at its middle.
function areWhole(edges) {
  return Number.isInteger(edges[0] + 0.5) && edges.every((edge, index) => !index || Math.abs(edge - edges[index - 1] - 1) < 1e-9);
}

function sharesView() {
  const root = make("div", "tm-block tm-sharesview");
  const title = make("div", "tm-figuretitle");
  const table = make("table", "tm-shares");
  const body = make("tbody");
  table.append(body);
  root.append(title, table);

  function update(block) {
    const amounts = block.parts.map(([, amount]) => asFloat(amount) || 0);
    const total = amounts.reduce((sum, amount) => sum + amount, 0);
    setText(title, block.title);
    table.setAttribute("aria-label", block.title);
    while (body.rows.length > block.parts.length) body.lastChild.remove();
    block.parts.forEach(([name, amount], index) => {
      const row = body.rows[index] ?? body.appendChild(shareRow());
      const share = total ? amounts[index] / total : 0;
      setText(row.cells[0], name);
      row.cells[1].firstChild.style.width = `${(100 * share).toFixed(1)}%`;
      setText(row.cells[2], asShare(share));
      setText(row.cells[3], asAmount(asFloat(amount), block.unit));
    });
  }

  return { root, update };
}

function shareRow() {
  const row = make("tr");
  const [name, track] = [make("th"), make("td", "tm-track")];
  name.scope = "row";
  track.setAttribute("aria-hidden", "true");
  track.append(make("div", "tm-share"));
  row.append(name, track, make("td", "tm-number"), make("td", "tm-number tm-quiet"));
  return row;
}
