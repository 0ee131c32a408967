// This file is the table: sorted by its heads, filtered by words, updated in place, its long form drawn where it is seen.

const FEW = 12; // rows that are found without a filter
const OPENED_BY = "parameter"; // rows under a first column of this name have more to tell

function tableView() {
  const root = make("div", "tm-block tm-tableview");
  const title = make("div", "tm-figuretitle");
  const bar = make("div", "tm-bar");
  const filter = make("input", "tm-filter");
  const count = make("span", "tm-quiet");
  const scroll = make("div", "tm-scroll");
  const table = make("table", "tm-table");
  const [group, head, body] = [make("colgroup"), make("thead"), make("tbody")];
  const [above, under, details] = [spacer(), spacer(), rowDetails()];
  const state = { column: null, descending: false, words: [], markedOnly: false, open: null };
  let [block, shown] = [{ columns: [], rows: [], marked: [] }, { order: [], numbers: [], marked: new Set() }];
  let [texts, haystacks, height, openHeight, pool] = [[], [], USUAL_HEIGHT, 0, []];

  const marked = toggle("", "show only rows that need attention", false, (on) => {
    state.markedOnly = on;
    show();
  });
  filter.type = "search";
  filter.placeholder = "Filter";
  filter.setAttribute("aria-label", "Filter rows by words");
  filter.oninput = () => {
    state.words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    scroll.scrollTop = 0;
    show();
  };
  count.setAttribute("role", "status");
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "group"); // a landmark each would drown those of the notebook
  scroll.addEventListener("scroll", () => requestAnimationFrame(drawRows), { passive: true });
  bar.append(filter, marked, count);
  table.append(group, head, body);
  scroll.append(table);
  root.append(title, bar, scroll);

  function update(next) {
    const sameHead = JSON.stringify(block.columns) === JSON.stringify(next.columns);
    const sortedBy = next.columns.indexOf(block.columns[state.column]); // a column that comes moves the others
    block = next;
    [texts, haystacks] = [block.rows.map((row) => row.map(asWords)), []];
    setText(title, block.title ?? "");
    title.hidden = !block.title;
    scroll.setAttribute("aria-label", block.title || "Table");
    state.column = sortedBy < 0 ? null : sortedBy;
    if (!sameHead) buildHead();
    show();
  }

  function buildHead() {
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
    const first = shown.numbers[index];
    if (state.column !== index) [state.column, state.descending] = [index, first];
    else if (state.descending === first) state.descending = !first;
    else state.column = null;
    show();
  }

  const numeric = (index) => block.rows.every((row) => isNumeric(row[index])) && block.rows.some((row) => row[index] !== null);
  const haystack = (index) => (haystacks[index] ??= texts[index].join(" ").toLowerCase());

  function show() {
    const numbers = block.columns.map((_, index) => numeric(index));
    const isMarked = new Set(block.marked);
    const chosen = block.rows.map((_, index) => index)
      .filter((index) => (!state.markedOnly || isMarked.has(index)) && state.words.every((word) => haystack(index).includes(word)));
    shown = { order: state.column === null ? chosen : sorted(chosen, block.rows, state, numbers), numbers, marked: isMarked };
    [...head.querySelectorAll("th")].forEach((cell, index) => {
      const direction = index !== state.column ? "none" : state.descending ? "descending" : "ascending";
      cell.setAttribute("aria-sort", direction);
      cell.classList.toggle("tm-number", numbers[index]);
    });
    setWidths();
    drawRows();
    marked.hidden = !block.marked.length && !state.markedOnly;
    setText(marked, `${asNumber(block.marked.length)} need attention`);
    bar.hidden = block.rows.length < FEW && !block.marked.length && !state.words.length;
    const [total, kept] = [block.rows.length, shown.order.length];
    setText(count, kept === total ? `${asNumber(total)} rows` : `${asNumber(kept)} of ${asNumber(total)} rows`);
  }

  function setWidths() {
    const long = block.rows.length > DRAW_ALL;
    table.classList.toggle("tm-long", long);
    table.setAttribute("aria-rowcount", String(shown.order.length + 1));
    if (!long) return group.replaceChildren();
    const widths = columnWidths(block.columns, texts);
    table.style.minWidth = `${widths.reduce((sum, width) => sum + width, 0)}ch`;
    group.replaceChildren(...widths.map((width) => Object.assign(make("col"), { style: `width:${width}ch` })));
  }

  function drawRows() {
    const order = shown.order;
    const open = state.open === null ? -1 : order.findIndex((index) => block.rows[index][0] === state.open);
    const whole = order.length <= DRAW_ALL;
    if (open < 0) openHeight = 0;
    else if (details.root.isConnected) openHeight = details.root.offsetHeight; // and remembered where it is out of sight
    const where = { total: order.length, height, open, openHeight, top: scroll.scrollTop, room: scroll.clientHeight };
    const { first, last, above: before, under: after } = whole ? { first: 0, last: order.length, above: 0, under: 0 } : rowWindow(where);
    while (pool.length > last - first) pool.pop().remove();
    while (pool.length < last - first) pool.push(pool.length ? added(pool[pool.length - 1]) : body.insertRow(0));
    pool.forEach((row, place) => fill(row, order[first + place], first + place));
    above.firstChild.style.height = `${before}px`;
    under.firstChild.style.height = `${after}px`;
    whole ? [above, under].forEach((row) => row.remove()) : (body.firstChild !== above && body.prepend(above), body.lastChild !== under && body.append(under));
    placeDetails(open, first, last);
    const measured = (!whole && pool[0]?.offsetHeight) || height;
    if (measured === height) return;
    height = measured; // as the reader's fonts make it
    drawRows();
  }

  function added(before) {
    const row = make("tr");
    before.after(row);
    return row;
  }

  function placeDetails(open, first, last) {
    if (open < 0 && state.open !== null) state.open = null;
    if (open < 0) details.close();
    if (open < first || open >= last) return details.root.remove();
    if (pool[open - first].nextSibling !== details.root) pool[open - first].after(details.root);
    details.open(state.open, block.columns.length);
  }

  function fill(row, index, place) {
    const needsAttention = shown.marked.has(index);
    row.className = needsAttention ? "tm-marked" : "";
    row.setAttribute("aria-rowindex", String(place + 2));
    block.rows[index].forEach((value, column) => {
      const cell = row.cells[column] ?? row.appendChild(make(column ? "td" : "th"));
      if (value?.trend !== undefined) return trendIn(cell, value);
      const text = texts[index][column];
      if (!column) return nameIn(cell, text, needsAttention);
      setText(cell, text);
      cell.title = text.length > 40 ? text : "";
      cell.className = shown.numbers[column] ? (NOT_FINITE.has(value) ? "tm-number tm-lostvalue" : "tm-number") : "";
    });
    while (row.cells.length > block.rows[index].length) row.lastChild.remove();
  }

  function nameIn(cell, text, needsAttention) {
    cell.scope = "row";
    cell.className = shown.numbers[0] ? "tm-number" : "";
    const said = needsAttention ? `! ${text}` : text;
    cell.title = text.length > 40 ? text : "";
    if (block.columns[0] !== OPENED_BY || root.closest(".tm-sheet")) return setText(cell, said);
    const button = cell.querySelector("button") ?? cell.appendChild(make("button", "tm-opener"));
    if (cell.childNodes.length > 1) cell.replaceChildren(button);
    button.type = "button";
    button.setAttribute("aria-expanded", String(state.open === text));
    button.onclick = () => {
      state.open = state.open === text ? null : text;
      drawRows();
    };
    setText(button, said);
  }

  // Bring a row into sight and open it, whatever the filter hides.
  function reveal(name) {
    if (block.columns[0] !== OPENED_BY || !block.rows.some((row) => row[0] === name)) return false;
    [filter.value, state.words, state.markedOnly, state.open] = ["", [], false, name];
    marked.setAttribute("aria-pressed", "false");
    show();
    scroll.scrollTop = Math.max(0, shown.order.findIndex((index) => block.rows[index][0] === name) * height - height);
    drawRows();
    const row = details.root.previousElementSibling;
    row?.scrollIntoView({ block: "nearest" });
    if (row) [...row.cells].forEach(flash);
    row?.querySelector("button")?.focus({ preventScroll: true });
    return true;
  }

  return { root, update, reveal, remove: details.remove };
}

function sorted(indices, rows, { column, descending }, numbers) {
  const sign = descending ? -1 : 1;
  const keys = rows.map((row) => (row[column] === null ? null : numbers[column] ? asFloat(row[column]) : asWords(row[column])));
  const compare = numbers[column] ? compareNumbers : compareWords;
  return indices.sort((a, b) => {
    if (keys[a] === null || keys[b] === null) return (keys[a] === null) - (keys[b] === null);
    return sign * compare(keys[a], keys[b]);
  });
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
const IN_WORDS = new Intl.Collator(undefined, { numeric: true }); // one for all: localeCompare makes its own at each call
const compareWords = (a, b) => IN_WORDS.compare(a, b);
