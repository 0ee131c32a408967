// This file is the progress of a run: how far the present pass is, and where recent steps spend their time.

const PHASE_WORDS = { data: "data", forward: "forward", backward: "backward", optimizer: "optimizer", other: "other", torchmagic: "watching" };
const LEAST_SAID = 0.005; // smaller shares have no room for their name
const LEAST_LEFT = 1; // seconds; what is sooner over than read only flickers

function progressView() {
  const root = make("div", "tm-progress");
  const [pass, split] = [make("div", "tm-pass"), make("div", "tm-split")];
  const [where, left, track, bar] = [make("span"), make("span", "tm-quiet tm-right"), make("div", "tm-track"), make("div", "tm-done")];
  const [whole, said] = [make("div", "tm-track"), make("div", "tm-splitwords")];
  const line = make("div", "tm-passline");
  track.setAttribute("role", "progressbar");
  track.setAttribute("aria-valuemin", "0");
  whole.setAttribute("aria-hidden", "true");
  said.setAttribute("role", "group");
  said.setAttribute("aria-label", "where recent steps spend their time");
  track.append(bar);
  line.append(where, left);
  pass.append(line, track);
  split.append(said, whole);
  root.append(pass, split);

  function update(progress) {
    root.hidden = !progress || (!progress.batches && !Object.keys(progress.shares).length);
    if (root.hidden) return;
    updatePass(progress);
    updateSplit(Object.entries(progress.shares).filter(([, share]) => share > 0));
  }

  function updatePass({ batch, batches, epoch, seconds_left: seconds }) {
    pass.hidden = !batches;
    if (pass.hidden) return;
    const told = `Pass ${asNumber(epoch)}, batch ${asNumber(batch)} of ${asNumber(batches)}`;
    setText(where, told);
    setText(left, isFiniteNumber(seconds) && seconds >= LEAST_LEFT ? `about ${asSeconds(seconds < 10 ? Number(seconds.toPrecision(2)) : Math.round(seconds))} left` : "");
    const width = 100 * Math.min(1, batch / batches);
    bar.classList.toggle("tm-back", width < parseFloat(bar.style.width || 0)); // a new pass begins: nothing slides back
    bar.style.width = `${width.toFixed(1)}%`;
    track.setAttribute("aria-label", told);
    track.setAttribute("aria-valuemax", String(batches));
    track.setAttribute("aria-valuenow", String(batch));
  }

  function updateSplit(parts) {
    split.hidden = !parts.length;
    const total = parts.reduce((sum, [, share]) => sum + share, 0);
    keepChildren(whole, parts.length, () => make("div"));
    keepChildren(said, parts.length, splitWord);
    parts.forEach(([name, share], index) => {
      const colour = `tm-c${Object.keys(PHASE_WORDS).indexOf(name) % NUM_COLOURS}`;
      whole.children[index].className = `tm-part ${colour}`;
      whole.children[index].style.width = `${((100 * share) / total).toFixed(2)}%`;
      said.children[index].className = `tm-entry ${colour}`;
      said.children[index].hidden = share / total < LEAST_SAID;
      setText(said.children[index].lastChild, `${PHASE_WORDS[name] ?? name} ${asPercent(share / total)}`);
    });
  }

  return { root, update };
}

const asPercent = (share) => (share < 0.01 ? "<1%" : `${Math.round(100 * share)}%`);

function splitWord() {
  const entry = make("span");
  entry.append(make("span", "tm-swatch"), make("span"));
  return entry;
}

function keepChildren(parent, number, build) {
  while (parent.children.length > number) parent.lastChild.remove();
  while (parent.children.length < number) parent.append(build());
}
