// This file is the tables: sorted by their heads, filtered by words, in the rows that stand there without a script.

const LONG = 10;

function liveTable(scroll) {
  const [table, rows] = [scroll.querySelector("table"), [...scroll.querySelectorAll("tbody tr")]];
  const heads = [...table.querySelectorAll("thead th")];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const state = { column: null, descending: false, words: [], marked: false };
  heads.forEach((head, index) => liveHead(head, () => sortBy(index)));
  const bar = make("div", "bar");
  const count = make("span", "count");
  count.setAttribute("role", "status");
  bar.append(filterBox((words) => {
    state.words = words;
    show();
  }));
  const numMarked = rows.filter((row) => row.classList.contains("tm-marked")).length;
  const only = button(`${numMarked} need attention`, "show only rows that need attention", () => {
    state.marked = !state.marked;
    show();
  });
  if (numMarked) bar.append(only);
  bar.append(count);
  if (rows.length >= LONG) scroll.before(bar);

  // First click: numbers fall, words rise; second: the other way; third: as they came.
  function sortBy(index) {
    const first = kindOf(rows, index) === "numbers";
    if (state.column !== index) Object.assign(state, { column: index, descending: first });
    else if (state.descending === first) state.descending = !first;
    else state.column = null;
    show();
  }

  function show() {
    const shown = rows.filter((row, i) => state.words.every((word) => texts[i].includes(word)) && (!state.marked || row.classList.contains("tm-marked")));
    const order = state.column === null ? shown : ordered(shown, state.column, state.descending);
    table.tBodies[0].replaceChildren(...order);
    heads.forEach((head, i) => head.setAttribute("aria-sort", i !== state.column ? "none" : state.descending ? "descending" : "ascending"));
    only.setAttribute("aria-pressed", String(state.marked));
    count.textContent = shown.length === rows.length ? `${asNumber(rows.length)} rows` : `${asNumber(shown.length)} of ${asNumber(rows.length)} rows`;
  }

  show();
}

function liveHead(head, onClick) {
  const press = button(head.textContent, "sort by this column", onClick);
  press.className = "sort";
  head.replaceChildren(press);
}

function filterBox(onWords) {
  const box = make("input", "filter");
  box.type = "search";
  box.placeholder = "Filter";
  box.setAttribute("aria-label", "Filter rows by words");
  box.oninput = () => onWords(box.value.toLowerCase().split(/\s+/).filter(Boolean));
  return box;
}

const textOf = (row, column) => row.cells[column].textContent.replace(/^! /, "");

function kindOf(rows, column) {
  const read = rows.map((row) => readNumber(textOf(row, column)));
  return read.some((value) => typeof value === "number") && read.every((value) => value !== null) ? "numbers" : "words";
}

// Empty cells stay below; NaN stands above infinity, as who sorts by a statistic looks for what is out of hand.
function ordered(rows, column, descending) {
  const numbers = kindOf(rows, column) === "numbers";
  const sign = descending ? -1 : 1;
  const keyed = rows.map((row) => [numbers ? readNumber(textOf(row, column)) : textOf(row, column), row]);
  const rank = (value) => (Number.isNaN(value) ? 1 : 0);
  keyed.sort(([a], [b]) => {
    if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
    if (!numbers) return sign * a.localeCompare(b, undefined, { numeric: true });
    return sign * (rank(a) - rank(b) || (a < b ? -1 : a > b ? 1 : 0));
  });
  return keyed.map(([, row]) => row);
}
