// This file is the panel: its head, the tabs under it, and what goes between them and the kernel.

// Letters typed in the panel must not reach JupyterLab's cell commands ("dd" deletes a cell), but Ctrl+S must still save.
// Its shortcuts ask the focused element itself, so the attribute must stand there and not on the panel around it.
function keepKeys(root) {
  const attribute = "data-lm-suppress-shortcuts";
  const before = (event) => {
    if (root.contains(event.target)) event.target.toggleAttribute(attribute, !(event.ctrlKey || event.metaKey));
  };
  window.addEventListener("keydown", before, true);
  return () => window.removeEventListener("keydown", before, true);
}

const numFindings = (page) => page.blocks
  .flatMap((block) => (block.kind === "findings" ? block.findings : []))
  .reduce((sum, finding) => sum + 1 + finding.alike.length + finding.consequences.length, 0);

// What parts of the panel want of each other or of the kernel.
function wire(root, { tabs, line }) {
  const asked = new Map();
  const listeners = {
    "tm-tab": ({ detail }) => line.send("tab", detail),
    "tm-parameter": ({ detail }) => {
      if (!tabs.reveal("Parameters", detail.name)) tabs.choose("Parameters");
    },
    "tm-row": ({ detail }) => {
      asked.set(detail.name, detail.show);
      line.send("row", { name: detail.name });
    },
  };
  for (const [type, listener] of Object.entries(listeners)) root.addEventListener(type, listener);
  return ({ name, page }) => asked.get(name)?.(page);
}

function render({ model, el: root }) {
  root.classList.add("torchmagic-panel");
  let [line, showRow] = [null, () => {}];
  const tabs = tabsView();
  const head = headView({
    onStop: () => line.send("stop"),
    onChange: (change) => line.send("change", change),
    onFinding: () => tabs.choose("Findings"),
  });
  const onAnswer = (heard) => {
    head.answer(heard);
    if (heard && tabs.current()) line.send("tab", { name: tabs.current() });
  };
  line = connection(model, { onAnswer, onSilence: head.silence, onRow: (message) => showRow(message) });
  showRow = wire(root, { tabs, line });
  root.append(head.root, tabs.root);

  const show = () => {
    const [status, pages] = [model.get("status"), { ...model.get("opened"), ...model.get("pages") }];
    const numbers = Object.fromEntries(Object.entries(pages).map(([name, page]) => [name, numFindings(page)]));
    const names = model.get("names").length ? model.get("names") : Object.keys(pages);
    const sheet = status.state === "sheet"; // pages of no run
    root.classList.toggle("tm-sheet", sheet);
    head.root.hidden = sheet;
    head.update(status, model.get("title"));
    tabs.update(pages, { names, numbers, first: status.state === "running" ? "Curves" : names[0] });
  };
  let waiting = false; // what belongs together arrives in one message and as several events
  const soon = () => {
    if (waiting) return;
    waiting = true;
    queueMicrotask(() => {
      waiting = false;
      show();
    });
  };
  model.on(CHANGES, soon);
  show();
  const undo = [keepKeys(root), hideCopy(model.get("uid"), root), line.close, tabs.remove];
  return () => {
    model.off(CHANGES, soon);
    undo.forEach((step) => step());
  };
}

const CHANGES = "change:status change:names change:pages change:opened change:title";

export default { render };
