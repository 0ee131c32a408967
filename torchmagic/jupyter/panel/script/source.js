// This file is the source with costs: a bar and columns beside each line, which can be found in its cell.

const COSTLY = 3; // lines with costs from which on it pays to sort them

function sourceView() {
  const root = make("div", "tm-block tm-source");
  const [bar, title, scroll, table] = [make("div", "tm-bar"), make("span", "tm-figuretitle"), make("div", "tm-scroll"), make("table", "tm-lines")];
  const [head, body] = [make("thead"), make("tbody")];
  const state = { block: null, byHeat: false };
  const dearest = toggle("dearest first", "show only lines with costs, the dearest first", false, (on) => {
    state.byHeat = on;
    show();
  });
  dearest.classList.add("tm-right");
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "group");
  bar.append(title, dearest);
  table.append(head, body);
  scroll.append(table);
  root.append(bar, scroll);

  function update(block) {
    if (JSON.stringify(block) === JSON.stringify(state.block)) return;
    state.block = block;
    setText(title, block.title);
    scroll.setAttribute("aria-label", `${block.title}, source with costs`);
    dearest.hidden = block.lines.filter((line) => line.cells.length).length < COSTLY;
    show();
  }

  function show() {
    const { columns, lines } = state.block;
    const row = make("tr");
    row.append(headCell("line", "tm-number"), hidden(make("td", "tm-heat")), ...columns.map((name) => headCell(name, "tm-number")), headCell("source"));
    head.replaceChildren(row);
    const costly = lines.filter((line) => line.cells.length).sort((a, b) => asFloat(b.heat) - asFloat(a.heat));
    body.replaceChildren(...(state.byHeat ? costly : lines).map((line) => sourceRow(line, columns.length)));
  }

  return { root, update };
}

function sourceRow(line, count) {
  const row = make("tr", line.number === null ? "tm-quiet" : line.cells.length ? "" : "tm-idle");
  const [number, heat, code] = [make("th", "tm-number"), hidden(make("td", "tm-heat")), make("td")];
  number.scope = "row";
  number.append(line.cells.length ? lineButton(line) : line.number === null ? "⋯" : String(line.number));
  const warm = Math.min(1, Math.max(0, asFloat(line.heat) || 0));
  if (warm) heat.append(Object.assign(make("div", "tm-warmth"), { style: `width:${(100 * warm).toFixed(1)}%` }));
  code.append(line.number === null ? line.text : make("code", "", line.text));
  const cells = Array.from({ length: count }, (_, index) => make("td", "tm-number", line.cells[index] ?? ""));
  row.append(number, heat, ...cells, code);
  return row;
}

function lineButton({ number, text }) {
  const button = make("button", "tm-link", String(number));
  button.type = "button";
  button.title = "show this line in its cell";
  button.setAttribute("aria-label", `line ${number}: show it in its cell`);
  button.onclick = () => {
    const line = findLine(button, number, text);
    if (!line) return (button.title = "not in this notebook");
    line.scrollIntoView({ block: "center", behavior: "smooth" });
    flash(line);
  };
  return button;
}

function headCell(name, classes = "") {
  const cell = make("th", classes, name);
  cell.scope = "col";
  return cell;
}

function hidden(element) {
  element.setAttribute("aria-hidden", "true");
  return element;
}
