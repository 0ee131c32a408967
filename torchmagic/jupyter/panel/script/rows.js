// This file is the rows of a long table: only those in sight are drawn, and one may be open with what is known of it.

const DRAW_ALL = 120; // rows; a table of fewer is drawn whole
const SPARE_ROWS = 12; // drawn above and below what is in sight, so that scrolling shows no gap
const USUAL_HEIGHT = 26;
const NARROW = 0.86; // of a digit's width, which is what "ch" counts: how wide a letter is on average
const SHORT = 12; // letters, on which no average is to be had: a number is as wide as its digits
const ANSWER_WITHIN = 2000;

// Which rows are in sight, and how much room those above and below take. `open` is the place of the open row or -1.
function rowWindow({ total, height, open, openHeight, top, room }) {
  const below = (place) => place * height + (open >= 0 && place > open ? openHeight : 0);
  const at = (pixel) => Math.floor((open >= 0 && pixel > (open + 1) * height ? Math.max((open + 1) * height, pixel - openHeight) : pixel) / height);
  const first = Math.max(0, Math.min(at(top), total - 1) - SPARE_ROWS);
  const last = Math.min(total, at(top + room) + 1 + SPARE_ROWS);
  return { first, last, above: below(first), under: Math.max(0, below(total) - below(last)) };
}

function spacer() {
  const row = make("tr", "tm-spacer");
  row.setAttribute("aria-hidden", "true");
  row.append(make("td"));
  return row;
}

// The widths of columns by their longest text: they must not move while rows come and go.
function columnWidths(columns, texts) {
  return columns.map((name, index) => {
    const longest = texts.reduce((most, row) => Math.max(most, row[index].length), 0);
    const opener = index ? 0 : 3; // its sign, and the mark of a row that needs attention
    return Math.max(Math.min(SHORT, longest) + opener, NARROW * Math.min(44, longest) + opener, NARROW * name.length + 2.2) + 2;
  });
}

// What is known of one row, asked of the kernel when it is opened.
function rowDetails() {
  const root = make("tr", "tm-details");
  const cell = make("td");
  const view = pageView();
  const said = make("p", "tm-quiet");
  let name = null;
  said.setAttribute("role", "status");
  root.append(cell);
  cell.append(said, view.root);

  function show(page) {
    said.hidden = page.blocks.length > 0;
    setText(said, "Nothing more is known of it.");
    view.update(page);
  }

  function open(next, numColumns) {
    cell.colSpan = numColumns;
    if (name === next) return;
    name = next;
    view.update({ blocks: [] });
    said.hidden = false;
    setText(said, "Asking…");
    tell(root, "tm-row", { name, show: (page) => name === next && show(page) });
    setTimeout(() => {
      if (name === next && said.textContent === "Asking…") setText(said, "The kernel answers when it is free.");
    }, ANSWER_WITHIN);
  }

  return { root, open, close: () => (name = null), remove: () => view.remove() };
}
