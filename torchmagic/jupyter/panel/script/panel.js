// This file is the panel: its head with state and Stop, and the tabs under it.

const STATE_WORDS = { running: "Running", ok: "Done", error: "Failed", interrupted: "Stopped" };
const SEVERITIES = [["error", "errors"], ["warning", "warnings"], ["info", "notes"]];

function headView(onStop) {
  const root = make("div", "tm-head");
  const [state, title, facts, counts] = [make("span", "tm-state"), make("span", "tm-name"), make("span", "tm-quiet"), make("span", "tm-counts")];
  const [word, stop] = [make("span"), make("button", "tm-stop", "Stop")];
  state.append(make("span", "tm-light"), word);
  state.setAttribute("role", "status");
  stop.type = "button";
  stop.disabled = true;
  stop.onclick = () => {
    stop.disabled = true;
    setText(stop, "Stopping…");
    onStop();
  };
  root.append(state, title, facts, counts, stop);

  function update(status, name) {
    root.dataset.state = status.state;
    setText(word, STATE_WORDS[status.state] ?? String(status.state));
    setText(title, name);
    setText(facts, headFacts(status).join(" · "));
    counts.replaceChildren(...headCounts(status.findings ?? {}));
    stop.hidden = status.state !== "running";
  }

  function answer(heard) {
    if (stop.textContent === "Stopping…") return;
    stop.disabled = !heard;
    setText(stop, heard ? "Stop" : "■ interrupt stops it");
    stop.title = heard ? "end the run after this step" : "this kernel hears the panel only after the cell; use the ■ button above";
  }

  function silence(seconds) {
    root.dataset.state = "silent";
    setText(word, `No news for ${asSeconds(Math.round(seconds))}`);
  }

  return { root, update, answer, silence };
}

function headFacts(status) {
  const facts = [`step ${asNumber(status.step ?? 0)}`];
  if (isFiniteNumber(status.elapsed)) facts.push(asSeconds(status.elapsed >= 10 ? Math.round(status.elapsed) : status.elapsed));
  if (isFiniteNumber(status.overhead)) facts.push(`overhead ${asShare(status.overhead)}`);
  return facts;
}

function headCounts(findings) {
  return SEVERITIES.filter(([severity]) => findings[severity]).map(([severity, many]) => {
    const element = make("span", `tm-badge tm-${severity}`);
    const sign = make("span", "tm-sign", SEVERITY_SIGNS[severity]);
    sign.setAttribute("aria-hidden", "true");
    const number = findings[severity];
    element.append(sign, `${number} ${number === 1 ? many.slice(0, -1) : many}`);
    return element;
  });
}

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
  .reduce((sum, finding) => sum + 1 + finding.consequences.length, 0);

function render({ model, el: root }) {
  root.classList.add("torchmagic-panel");
  let line = null;
  const head = headView(() => line.stop());
  const tabs = tabsView();
  line = connection(model, { onAnswer: head.answer, onSilence: head.silence });
  root.append(head.root, tabs.root);

  const show = () => {
    const pages = model.get("pages");
    head.update(model.get("status"), model.get("title"));
    tabs.update(pages, Object.fromEntries(Object.entries(pages).map(([name, page]) => [name, numFindings(page)])));
  };
  let waiting = false; // status and pages arrive in one message and as two events
  const soon = () => {
    if (waiting) return;
    waiting = true;
    queueMicrotask(() => {
      waiting = false;
      show();
    });
  };
  model.on("change:status change:pages change:title", soon);
  show();
  const undo = [keepKeys(root), hideCopy(model.get("uid"), root), line.close, tabs.remove];
  return () => {
    model.off("change:status change:pages change:title", soon);
    undo.forEach((step) => step());
  };
}

export default { render };
