// This file is the findings: a card each, with its place, numbers, cause and fix; doubtful ones, those alike and consequences fold.

const SEVERITY_SIGNS = { error: "✕", warning: "!", info: "i" };

function findingsView() {
  const root = make("div", "tm-block tm-findings");
  const open = new Set();
  let seen = null;

  function update(block) {
    const now = JSON.stringify(block);
    if (now === seen) return; // cards stay as they are, with what the reader selected or opened in them
    seen = now;
    root.replaceChildren(...block.findings.map((finding) => card(finding, open)));
    if (block.findings.length) return;
    const calm = make("div", "tm-calm");
    calm.append(make("strong", "", "No findings"), make("div", "tm-quiet", "Nothing that the rules know is wrong here so far."));
    root.append(calm);
  }

  return { root, update };
}

const findingKey = (finding) =>
  JSON.stringify([finding.rule, finding.module, finding.parameter, finding.optimizer, finding.line, finding.step]);

function card(finding, open) {
  const element = make("article", `tm-card tm-${finding.severity}`);
  const headline = [badge(finding), sentence("span", "tm-title", finding.title)];
  if (!finding.doubtful) {
    const line = make("div", "tm-headline");
    line.append(...headline);
    element.append(line, ...cardBody(finding, open));
    return element;
  }
  const folded = fold("", `doubt ${findingKey(finding)}`, open, cardBody(finding, open));
  folded.firstChild.className = "tm-headline";
  folded.firstChild.append(...headline, make("span", "tm-quiet", "uncertain"));
  element.append(folded);
  return element;
}

function badge(finding) {
  const element = make("span", "tm-badge");
  const sign = make("span", "tm-sign", SEVERITY_SIGNS[finding.severity] ?? "");
  sign.setAttribute("aria-hidden", "true");
  element.append(sign, finding.severity);
  return element;
}

function cardBody(finding, open) {
  const parts = [placeLine(finding)];
  if (finding.evidence.length) parts.push(evidenceLine(finding.evidence));
  if (finding.why) parts.push(sentence("p", "tm-why", finding.why));
  if (finding.fix || finding.code) parts.push(fixBox(finding));
  const said = `Rule ${finding.rule}, confidence ${asShare(finding.confidence)}`;
  const follows = finding.causes.length ? `; follows from ${finding.causes.join(", ")}` : "";
  parts.push(fold("Details", `details ${findingKey(finding)}`, open, [make("div", "tm-quiet", `${said}${follows}.`)]));
  const [alike, after] = [finding.alike ?? [], finding.consequences ?? []];
  const inner = (findings) => findings.map((one) => card({ ...one, doubtful: false }, open));
  if (alike.length) parts.push(fold(finding.alike_words, `alike ${findingKey(finding)}`, open, inner(alike)));
  if (after.length) {
    parts.push(fold(`${after.length} more ${after.length === 1 ? "follows" : "follow"} from this`, `after ${findingKey(finding)}`, open, inner(after)));
  }
  return parts;
}

function placeLine(finding) {
  const line = make("div", "tm-place");
  const source = (finding.source ?? "").trim();
  if (finding.line !== null || source) {
    line.append(source ? linkToLine(finding, source) : make("span", "", placeLabel(finding)));
    if (source) line.append(make("code", "", source));
  }
  if (finding.parameter) line.append(linkToRow(finding.parameter));
  else if (finding.module) line.append(make("span", "tm-name", finding.module));
  if (finding.optimizer) line.append(make("span", "", /optimizer/i.test(finding.optimizer) ? finding.optimizer : `optimizer ${finding.optimizer}`));
  if (finding.step !== null) line.append(make("span", "", `step ${asNumber(finding.step)}`));
  return line;
}

function evidenceLine(evidence) {
  const list = make("dl", "tm-evidence");
  for (const [name, value] of evidence) {
    const pair = make("div");
    pair.append(make("dt", "", name.replaceAll("_", " ")), make("dd", "", asNumber(value)));
    list.append(pair);
  }
  return list;
}

function fixBox(finding) {
  const box = make("div", finding.code ? "tm-fix" : "tm-fix tm-short");
  const line = make("div", "tm-fixline");
  line.append(make("span", "tm-fixword", "Fix"), sentence("span", "", finding.fix));
  box.append(line);
  if (finding.code) box.append(make("pre", "tm-code", finding.code));
  if (finding.copy) box.append(copyButton(finding.copy));
  return box;
}

function copyButton(text) {
  const button = make("button", "tm-copy", "Copy");
  button.type = "button";
  button.setAttribute("aria-label", "Copy the code of the fix");
  button.onclick = async () => {
    const done = await copied(text);
    button.textContent = done ? "Copied" : "Press Ctrl+C";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  };
  return button;
}

// The clipboard interface exists only on https and localhost; hubs on plain http need the older way.
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = make("textarea", "tm-spoken");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

function fold(title, key, open, content) {
  const element = make("details", "tm-fold");
  element.open = open.has(key);
  element.ontoggle = () => (element.open ? open.add(key) : open.delete(key));
  element.append(make("summary", "", title), ...content);
  return element;
}
