// This file is the head: state, numbers, progress, the first finding, and Stop.

const STATE_WORDS = { running: "Running", ok: "Done", error: "Failed", interrupted: "Stopped", lost: "Lost" };
const SEVERITIES = [["error", "errors"], ["warning", "warnings"], ["info", "info"]];
const STOP = { ready: "Stop after this step", asked: "Stopping…", deaf: "Stop with ■ above" };

function headView({ onStop, onChange, onFinding }) {
  const root = make("header", "tm-top");
  const [row, line] = [make("div", "tm-head"), make("div", "tm-headline")];
  const [state, title, facts, counts] = [make("span", "tm-state"), make("span", "tm-name"), make("span", "tm-quiet"), make("span", "tm-counts")];
  const [word, stop, spoken] = [make("span"), make("button", "tm-stop", STOP.ready), make("span", "tm-spoken")];
  const first = make("button", "tm-first");
  const [progress, controls] = [progressView(), controlsView(onChange)];
  let told = null;
  state.append(make("span", "tm-light"), word);
  spoken.setAttribute("role", "status"); // said when the state changes or a finding comes, never at each step
  stop.type = first.type = "button";
  stop.disabled = true;
  stop.onclick = () => {
    stop.disabled = true;
    setText(stop, STOP.asked);
    onStop();
  };
  first.title = "show all findings";
  facts.title = "cost: the share of the time that watching takes";
  first.onclick = onFinding;
  line.append(state, title, facts, counts);
  row.append(line, stop);
  root.append(row, progress.root, first, controls.root, spoken);

  function update(status, name) {
    root.dataset.state = status.state;
    setText(word, STATE_WORDS[status.state] ?? String(status.state));
    setText(title, name);
    setText(facts, headFacts(status).join(" · "));
    tellNews(status);
    first.hidden = !status.first;
    first.className = `tm-first tm-${worst(status.findings ?? {})}`;
    setText(first, status.first ? `${SEVERITY_SIGNS[worst(status.findings)] ?? ""} ${status.first}` : "");
    stop.hidden = status.state !== "running";
    progress.update(status.progress ?? null);
    controls.update(status.watching ?? null);
  }

  function tellNews({ state: now, findings = {} }) {
    const news = JSON.stringify([now, findings]);
    if (news === told) return;
    told = news;
    const badges = headCounts(findings);
    counts.replaceChildren(...badges);
    const numbers = badges.map((badge) => badge.lastChild.textContent).join(", ");
    setText(spoken, [STATE_WORDS[now] ?? now, numbers].filter(Boolean).join(": "));
  }

  function answer(heard) {
    controls.answer(heard);
    if (stop.textContent === STOP.asked) return;
    stop.disabled = !heard;
    setText(stop, heard ? STOP.ready : STOP.deaf);
    stop.title = heard ? "the step that runs is finished, then the cell ends as if interrupted" : "this kernel hears the panel only after the cell; its interrupt button always works";
  }

  function silence(seconds) {
    root.dataset.state = "silent";
    setText(word, `No news for ${asSeconds(Math.round(seconds))}`);
  }

  return { root, update, answer, silence };
}

const worst = (findings) => SEVERITIES.map(([severity]) => severity).find((severity) => findings[severity]);

function headFacts(status) {
  const steps = status.step ?? 0;
  const facts = [`${asNumber(steps)} ${steps === 1 ? "step" : "steps"}`];
  if (status.doing) facts.push(status.doing);
  const pace = status.progress?.seconds_per_step;
  if (pace > 0) facts.push(pace < 1 ? `${asNumber(Number((1 / pace).toPrecision(3)))} steps/s` : `${asSeconds(Number(pace.toPrecision(3)))} per step`);
  if (isFiniteNumber(status.elapsed)) facts.push(asSeconds(status.state === "running" ? calm(status.elapsed) : status.elapsed));
  if (isFiniteNumber(status.overhead)) facts.push(`cost ${asShare(status.overhead)}`);
  return facts;
}

// while it runs, digits that change faster than they are read are left out; in the end it says the same as the pages
const calm = (seconds) => (seconds >= 10 ? Math.round(seconds) : Number(seconds.toFixed(1)));

function headCounts(findings) {
  return SEVERITIES.filter(([severity]) => findings[severity]).map(([severity, many]) => {
    const element = make("span", `tm-badge tm-${severity}`);
    const sign = make("span", "tm-sign", SEVERITY_SIGNS[severity]);
    sign.setAttribute("aria-hidden", "true");
    const number = findings[severity];
    element.append(sign, `${asNumber(number)} ${number === 1 ? severity : many}`);
    return element;
  });
}
