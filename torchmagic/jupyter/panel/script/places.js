// This file is the ways from a finding to its place: the line in its cell, and the row of its parameter.

const LINES = ".jp-InputArea .cm-line";

// The line where it was said to be, if it still reads so; else the first that reads so, in this cell and then in others,
// or, of one that is said to be in another cell, the other way round.
function findLine(root, { line: number, file }, source) {
  const wanted = source.trim();
  const reads = (line) => line.textContent.trim() === wanted;
  const own = root.closest(".jp-Cell");
  const notebook = root.closest(".jp-Notebook") ?? document;
  const all = [...notebook.querySelectorAll(".jp-CodeCell")];
  const cells = (file ? [...all.filter((cell) => cell !== own), own] : [own, ...all]).filter(Boolean);
  for (const cell of cells) {
    const lines = [...cell.querySelectorAll(LINES)];
    const said = number === null ? null : lines[number - 1];
    const found = said && reads(said) ? said : lines.find(reads);
    if (found) return found;
  }
  return null;
}

function placeLabel({ line, file }) {
  return [file, line === null ? null : `line ${asNumber(line)}`].filter(Boolean).join(", ") || "source";
}

function linkToLine(finding, source) {
  const label = placeLabel(finding);
  const button = make("button", "tm-link", label);
  button.type = "button";
  button.title = "show this line in its cell";
  button.onclick = () => {
    const line = findLine(button, finding, source);
    if (!line) return setText(button, `${label} (not in this notebook)`);
    line.scrollIntoView({ block: "center", behavior: "smooth" });
    flash(line);
  };
  return button;
}

function linkToRow(name) {
  const button = make("button", "tm-link tm-name", name);
  button.type = "button";
  button.title = "show this parameter in the table";
  button.onclick = () => tell(button, "tm-parameter", { name });
  return button;
}
