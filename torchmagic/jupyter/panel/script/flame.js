// This file is the icicle: boxes below the box of which they are parts, read and entered by pointer or by keys.

const FLAME = { row: 23, least: 0.003, levels: 12, faint: 12, strong: 46 };

function flameView() {
  const root = make("div", "tm-block tm-flame");
  const [head, title, back] = [make("div", "tm-bar"), make("span", "tm-figuretitle"), make("button", "tm-toggle tm-right", "show all")];
  const [frame, told] = [make("div", "tm-boxes"), make("div", "tm-quiet tm-told")];
  const state = { block: { boxes: [], unit: "s" }, entered: [], focus: "" };
  back.type = "button";
  back.onclick = () => enter([]);
  told.setAttribute("role", "status");
  frame.setAttribute("role", "group");
  frame.onkeydown = onKey;
  frame.onpointerleave = () => tellBox(null);
  head.append(title, back);
  root.append(head, frame, told);

  function update(block) {
    if (JSON.stringify(block) === JSON.stringify(state.block)) return;
    state.block = block;
    setText(title, block.title);
    frame.setAttribute("aria-label", `${block.title}: arrow keys move between boxes, Enter looks closer, Escape shows all`);
    show();
  }

  function enter(path) {
    state.focus = (path.length ? path : state.entered).join("/"); // who comes back stands where he went in
    state.entered = path;
    show();
    frame.querySelector('[tabindex="0"]')?.focus();
  }

  function show() {
    const whole = sizeOf(state.block.boxes);
    const inside = boxAt(state.block.boxes, state.entered);
    if (!inside) state.entered = [];
    const tops = inside ? [{ box: inside, path: state.entered }] : state.block.boxes.map((box, i) => ({ box, path: [i] }));
    const laid = laidOut(tops, sizeOf(tops.map((top) => top.box)));
    back.hidden = !state.entered.length;
    frame.style.height = `${FLAME.row * laid.reduce((most, item) => Math.max(most, item.level + 1), 1)}px`;
    frame.replaceChildren(...laid.map((item) => boxMark(item, whole)));
    const focused = [...frame.children].find((mark) => mark.dataset.path === state.focus) ?? frame.firstElementChild;
    if (focused) focused.tabIndex = 0;
    tellBox(null);
  }

  function boxMark(item, whole) {
    const mark = make("button", "tm-box");
    const words = boxWords(item.box, whole, state.block.unit);
    mark.type = "button";
    mark.tabIndex = -1;
    mark.dataset.path = item.path.join("/");
    mark.style.cssText = `left:${100 * item.left}%;width:${100 * item.width}%;top:${FLAME.row * item.level}px;--tm-heat:${FLAME.faint + FLAME.strong * item.own}%`;
    mark.setAttribute("aria-label", `${item.box.name}: ${words}`);
    mark.append(make("span", "tm-boxname", item.box.name), make("span", "tm-boxamount", asAmount(amountOf(item.box), state.block.unit)));
    mark.onpointerenter = () => tellBox(item.box, words);
    mark.onfocus = () => {
      state.focus = mark.dataset.path;
      [...frame.children].forEach((each) => (each.tabIndex = each === mark ? 0 : -1));
      tellBox(item.box, words);
    };
    mark.onclick = () => enter(mark.dataset.path === state.entered.join("/") ? item.path.slice(0, -1) : item.path);
    return mark;
  }

  function tellBox(box, words) {
    setText(told, box ? `${box.name}: ${words}` : "A stronger colour: more of the box is its own. Click a box to look closer.");
  }

  function onKey(event) {
    if (event.key === "Escape" && state.entered.length) return enter([]);
    const marks = [...frame.children];
    const here = document.activeElement?.dataset?.path;
    const target = nextPath(marks.map((mark) => mark.dataset.path), here, event.key);
    if (target === undefined) return;
    event.preventDefault();
    marks.find((mark) => mark.dataset.path === target)?.focus();
  }

  return { root, update };
}

const amountOf = (box) => Math.max(0, asFloat(box.amount) || 0);
const sizeOf = (boxes) => boxes.reduce((sum, box) => sum + amountOf(box), 0);
const boxAt = (boxes, path) => path.reduce((box, index, depth) => (depth ? box?.parts : boxes)?.[index], null);

function boxWords(box, whole, unit) {
  const said = `${asAmount(amountOf(box), unit)}, ${asShare(whole ? amountOf(box) / whole : 0)}`;
  return box.told ? `${said}, ${box.told}` : said;
}

// Each box with its place, as shares of the room; parts that amount to more than the whole share its width.
function laidOut(items, room, left = 0, width = 1, level = 0) {
  const found = [];
  for (const { box, path } of items) {
    const share = room ? (width * amountOf(box)) / room : 0;
    if (share >= FLAME.least && level < FLAME.levels) {
      const inside = sizeOf(box.parts);
      found.push({ box, path, left, width: share, level, own: Math.max(0, 1 - inside / amountOf(box)) });
      const parts = box.parts.map((part, index) => ({ box: part, path: [...path, index] }));
      found.push(...laidOut(parts, Math.max(inside, amountOf(box)), left, share, level + 1));
    }
    left += share;
  }
  return found;
}

// Where an arrow key leads: to the neighbour of the same level, the box around, or the first part.
function nextPath(paths, here, key) {
  const level = (path) => path.split("/").length;
  if (here === undefined) return undefined;
  if (key === "ArrowUp") return paths.find((path) => here.startsWith(`${path}/`) && level(path) === level(here) - 1);
  if (key === "ArrowDown") return paths.find((path) => path.startsWith(`${here}/`) && level(path) === level(here) + 1);
  const by = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (!by) return undefined;
  const row = paths.filter((path) => level(path) === level(here));
  return row[row.indexOf(here) + by];
}
