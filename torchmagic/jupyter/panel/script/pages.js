// This file is a page: one view a block, kept over updates as long as the blocks stay of the same kinds.

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
  let [shape, views] = ["", []];

  function update(page) {
    const blocks = page.blocks.filter((block) => block.kind in VIEWS);
    const now = JSON.stringify(blocks.map((block) => [block.kind, block.title ?? ""]));
    if (now !== shape) {
      remove();
      shape = now;
      views = blocks.map((block) => VIEWS[block.kind]());
      root.replaceChildren(...views.map((view) => view.root));
    }
    blocks.forEach((block, index) => views[index].update(block));
  }

  const remove = () => views.forEach((view) => view.remove?.());
  const reveal = (name) => views.some((view) => view.reveal?.(name));
  return { root, update, remove, reveal };
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
