// This file is the controls: the level, and each probe on or off, while the cell runs.

const LEVELS = ["basic", "intermediate", "advanced", "expert"];

function controlsView(onChange) {
  const root = make("details", "tm-controls");
  const summary = make("summary", "", "What is watched");
  const box = make("div", "tm-controlbox");
  const label = make("label", "tm-level", "Level ");
  const level = make("select");
  const probes = make("div", "tm-probes");
  const note = make("div", "tm-quiet");
  const boxes = new Map();
  level.append(...LEVELS.map((name) => Object.assign(make("option", "", name), { value: name })));
  level.onchange = () => wish({ level: level.value });
  label.append(level);
  probes.setAttribute("role", "group");
  probes.setAttribute("aria-label", "Probes");
  note.setAttribute("role", "status");
  box.append(label, probes, note);
  root.append(summary, box);

  function wish(change) {
    setText(note, "Takes effect after this step.");
    onChange(change);
  }

  function update(watching) {
    root.hidden = !watching;
    if (!watching) return;
    const now = JSON.stringify(watching);
    if (root.dataset.shown === now) return; // what the reader has just moved stays so until the kernel has answered
    root.dataset.shown = now;
    setText(note, "");
    level.value = watching.level;
    for (const [name, on] of Object.entries(watching.probes)) (boxes.get(name) ?? build(name)).checked = on;
  }

  function build(name) {
    const [line, input] = [make("label", "tm-probe"), make("input")];
    input.type = "checkbox";
    input.onchange = () => wish({ probe: name, on: input.checked });
    line.append(input, name);
    probes.append(line);
    boxes.set(name, input);
    return input;
  }

  function answer(heard) {
    [level, ...boxes.values()].forEach((input) => (input.disabled = !heard));
    root.title = heard ? "" : "this kernel hears the panel only after the cell";
  }

  return { root, update, answer };
}
