// This file is a page: one view a block, kept over updates whatever comes or goes beside it.

const VIEWS = {
  text: textView,
  code: codeView,
  facts: factsView,
  table: tableView,
  plot: plotView,
  bars: barsView,
  shares: sharesView,
  findings: findingsView,
  fold: foldView,
  diff: diffView,
  flame: flameView,
  source: sourceView,
};

function pageView() {
  const root = make("div", "tm-page");
  let views = new Map();

  function update(page) {
    const blocks = page.blocks.filter((block) => block.kind in VIEWS);
    const before = views;
    views = new Map(blockKeys(blocks).map((key, place) => [key, before.get(key) ?? VIEWS[blocks[place].kind]()]));
    before.forEach((view, key) => views.has(key) || (view.remove?.(), view.root.remove()));
    [...views.values()].forEach((view, place) => {
      // what stands in its place is not touched: a moved element loses its focus and its scroll position
      if (root.children[place] !== view.root) root.insertBefore(view.root, root.children[place] ?? null);
      view.update(blocks[place]);
    });
  }

  const remove = () => views.forEach((view) => view.remove?.());
  const reveal = (name) => [...views.values()].some((view) => view.reveal?.(name));
  return { root, update, remove, reveal };
}

// A block is the same over updates by its kind, its title, and how many like it stand before it.
function blockKeys(blocks) {
  const seen = new Map();
  return blocks.map(({ kind, title }) => {
    const name = JSON.stringify([kind, title ?? ""]);
    seen.set(name, (seen.get(name) ?? 0) + 1);
    return `${name} ${seen.get(name)}`;
  });
}

// What is folded is drawn only once it is opened.
function foldView() {
  const root = make("details", "tm-block tm-fold");
  const title = make("summary");
  const inner = pageView();
  let held = null;
  root.append(title, inner.root);
  root.ontoggle = () => {
    if (root.open && held) inner.update(held);
  };
  function update(block) {
    held = block;
    setText(title, block.title);
    if (root.open) inner.update(block);
  }
  return { root, update, remove: inner.remove };
}

function textView() {
  const root = make("p", "tm-block");
  return {
    root,
    update: (block) => {
      root.classList.toggle("tm-strong", block.strong);
      setText(root, block.text);
    },
  };
}

function codeView() {
  const root = make("pre", "tm-block tm-code");
  return { root, update: (block) => setText(root, block.text) };
}

function factsView() {
  const root = make("dl", "tm-block tm-facts");
  function update(block) {
    while (root.children.length > block.rows.length) root.lastChild.remove();
    block.rows.forEach(([name, value], index) => {
      const pair = root.children[index] ?? root.appendChild(make("div"));
      if (!pair.children.length) pair.append(make("dt"), make("dd"));
      setText(pair.children[0], name);
      setText(pair.children[1], value);
    });
  }
  return { root, update };
}

const DIFF_WORDS = { "+": ["tm-added", "+"], "-": ["tm-gone", "-"], "@": ["tm-quiet", "⋯"] };

// A sign at the head of each line says what its colour says.
function diffView() {
  const root = make("figure", "tm-block tm-diff");
  const [head, title, names, lines] = [make("figcaption", "tm-bar"), make("span", "tm-figuretitle"), make("span", "tm-quiet tm-right"), make("pre", "tm-code")];
  lines.tabIndex = 0;
  head.append(title, names);
  root.append(head, lines);

  function update(block) {
    setText(title, block.title ?? "");
    setText(names, block.old && block.new ? `- ${block.old}   + ${block.new}` : "");
    lines.replaceChildren(...block.lines.map(([sign, text]) => {
      const [classes, mark] = DIFF_WORDS[sign] ?? ["", " "];
      const line = make("div", `tm-diffline ${classes}`);
      line.append(make("span", "tm-sign", mark), text);
      return line;
    }));
  }

  return { root, update };
}
