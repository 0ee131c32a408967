// This file is the table: sorted by its heads, filtered by words, updated in place.

const NUM_TABLE_ROWS = 400; // more rows than that make typing in the filter slow; the rest is a filter away

function tableView() {
  const root = make("div", "tm-block tm-tableview");
  const bar = make("div", "tm-bar");
  const filter = make("input", "tm-filter");
  const count = make("span", "tm-quiet");
  const scroll = make("div", "tm-scroll");
  const table = make("table", "tm-table");
  const [head, body] = [make("thead"), make("tbody")];
  const state = { column: null, descending: false, words: [], markedOnly: false };
  let block = { columns: [], rows: [], marked: [] };

  const marked = toggle("", "show only rows that need attention", false, (on) => {
    state.markedOnly = on;
    show();
  });
  filter.type = "search";
  filter.placeholder = "Filter";
  filter.setAttribute("aria-label", "Filter rows by words");
  filter.oninput = () => {
    state.words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    show();
  };
  count.setAttribute("role", "status");
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", "Table");
  bar.append(filter, marked, count);
  table.append(head, body);
  scroll.append(table);
  root.append(bar, scroll);

  function update(next) {
    const sameHead = JSON.stringify(block.columns) === JSON.stringify(next.columns);
    block = next;
    if (!sameHead) buildHead();
    show();
  }

  function buildHead() {
    state.column = null;
    const row = make("tr");
    block.columns.forEach((name, index) => {
      const cell = make("th");
      const button = make("button", "tm-sort", name);
      button.type = "button";
      button.onclick = () => sortBy(index);
      cell.scope = "col";
      cell.dataset.column = name;
      cell.append(button);
      row.append(cell);
    });
    head.replaceChildren(row);
  }

  // First click: numbers fall, words rise; second: the other way; third: as they came.
  function sortBy(index) {
    const first = numeric(index);
    if (state.column !== index) [state.column, state.descending] = [index, first];
    else if (state.descending === first) state.descending = !first;
    else state.column = null;
    show();
  }

  const numeric = (index) => block.rows.every((row) => isNumeric(row[index])) && block.rows.some((row) => row[index] !== null);

  function show() {
    const numbers = block.columns.map((_, index) => numeric(index));
    const isMarked = new Set(block.marked);
    const order = ordered(chosen(isMarked), numbers);
    const shown = order.slice(0, NUM_TABLE_ROWS);
    [...head.querySelectorAll("th")].forEach((cell, index) => {
      const direction = index !== state.column ? "none" : state.descending ? "descending" : "ascending";
      cell.setAttribute("aria-sort", direction);
      cell.classList.toggle("tm-number", numbers[index]);
    });
    while (body.rows.length > shown.length) body.lastChild.remove();
    shown.forEach((index, place) => fill(body.rows[place] ?? addRow(), block.rows[index], numbers, isMarked.has(index)));
    marked.hidden = !block.marked.length && !state.markedOnly;
    setText(marked, `${block.marked.length} need attention`);
    bar.hidden = block.rows.length < 8 && !block.marked.length && !state.words.length;
    const total = block.rows.length;
    const told = shown.length < order.length ? `first ${shown.length} of ${order.length} rows` : `${shown.length} of ${total} rows`;
    setText(count, shown.length === total ? `${total} rows` : told);
  }

  function chosen(isMarked) {
    const all = block.rows.map((_, index) => index);
    return all.filter((index) => {
      if (state.markedOnly && !isMarked.has(index)) return false;
      const text = block.rows[index].map(asWords).join(" ").toLowerCase();
      return state.words.every((word) => text.includes(word));
    });
  }

  function ordered(indices, numbers) {
    if (state.column === null) return indices;
    const sign = state.descending ? -1 : 1;
    const value = (index) => block.rows[index][state.column];
    return indices.sort((a, b) => {
      if (value(a) === null || value(b) === null) return (value(a) === null) - (value(b) === null);
      return sign * (numbers[state.column] ? compareNumbers(asFloat(value(a)), asFloat(value(b))) : compareWords(asWords(value(a)), asWords(value(b))));
    });
  }

  function addRow() {
    const row = make("tr");
    body.append(row);
    return row;
  }

  function fill(row, values, numbers, needsAttention) {
    row.className = needsAttention ? "tm-marked" : "";
    values.forEach((value, index) => {
      const cell = row.cells[index] ?? row.appendChild(make(index ? "td" : "th"));
      if (!index) cell.scope = "row";
      if (value?.trend !== undefined) return trendIn(cell, value);
      const text = asNumber(value);
      setText(cell, !index && needsAttention ? `! ${text}` : text);
      cell.title = text.length > 40 ? text : "";
      cell.className = numbers[index] ? (NOT_FINITE.has(value) ? "tm-number tm-lostvalue" : "tm-number") : "";
    });
    while (row.cells.length > values.length) row.lastChild.remove();
  }

  return { root, update };
}

// A curve in small characters; who cannot see it hears its words.
function trendIn(cell, { trend, told }) {
  if (!cell.firstElementChild) cell.replaceChildren(make("span", "tm-spark"));
  const mark = cell.firstElementChild;
  setText(mark, trend);
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", told);
  [cell.title, cell.className] = [told, ""];
}

// NaN stands above infinity: who sorts by a statistic looks for what is out of hand.
function compareNumbers(a, b) {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
  return a < b ? -1 : a > b ? 1 : 0;
}

const asWords = (value) => (value?.trend === undefined ? asNumber(value) : value.trend);
const compareWords = (a, b) => String(a).localeCompare(String(b), undefined, { numeric: true });
