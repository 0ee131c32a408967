// This file is the talk with the kernel: whether it hears us while a cell runs, and what to do when it falls silent.

const HELLO = { first: 300, every: 1000, times: 5 };
const SILENT_AFTER = 5000;

// The kernel answers "hello" at once only where comm messages are handled beside the running cell. JupyterLab opens the
// way for them after the widget is drawn, so the first hello may still wait behind the cell: it is said a few times.
function connection(model, { onAnswer, onSilence, onRow }) {
  let [answered, numAsked, lastNews, patience] = [false, 0, Date.now(), SILENT_AFTER];

  const send = (type, more = {}) => {
    try {
      model.send({ type, ...more });
    } catch {
      // the kernel is gone; the silence notice says so
    }
  };
  const onMessage = (message) => {
    if (message.type === "row") return onRow(message);
    if (message.type !== "hello-ack") return;
    answered = true;
    onAnswer(true);
  };
  const onNews = () => {
    [lastNews, patience] = [Date.now(), SILENT_AFTER];
  };
  const tick = () => {
    if (model.get("status").state !== "running") return rest();
    if (!answered && numAsked++ < HELLO.times) send("hello");
    else if (!answered) onAnswer(false);
    const silence = Date.now() - lastNews;
    if (silence < SILENT_AFTER) return;
    onSilence(silence / 1000);
    if (silence < patience) return;
    patience *= 2; // where nobody answers until the cell ends, requests must not pile up
    send("resync"); // the server drops messages above its rate limit: ask for the whole state again
  };

  model.on("msg:custom", onMessage);
  model.on("change:status change:pages", onNews);
  const timers = [setTimeout(tick, HELLO.first), setInterval(tick, HELLO.every)];
  const rest = () => timers.forEach(clearInterval); // which clears timeouts as well; a run that has ended needs neither
  return {
    send,
    hears: () => answered,
    close: () => {
      rest();
      model.off("msg:custom", onMessage);
      model.off("change:status change:pages", onNews);
    },
  };
}

// The saved copy is for those who open the notebook without a kernel; beside a living panel it would say all twice.
function hideCopy(uid, root) {
  const copies = () => (uid ? document.querySelectorAll(`[data-torchmagic-static="${CSS.escape(uid)}"]`) : []);
  const holder = (copy) => copy.closest(".jp-OutputArea-child, .output_area, .cell-output, .output") ?? copy;
  const hide = () => copies().forEach((copy) => holder(copy).style.setProperty("display", "none"));
  const watcher = new MutationObserver(hide);
  hide();
  requestAnimationFrame(() => watcher.observe(root.closest(".jp-OutputArea") ?? document.body, { childList: true, subtree: true }));
  return () => {
    watcher.disconnect();
    copies().forEach((copy) => holder(copy).style.removeProperty("display"));
  };
}
