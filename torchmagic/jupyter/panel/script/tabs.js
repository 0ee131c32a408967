// This file is the tabs: one a page, moved through by click and arrow keys; only the open page is drawn.

let numTabs = 0;

function tabsView() {
  const root = make("div", "tm-body");
  const list = make("div", "tm-tabs");
  const tabs = new Map();
  let [pages, current] = [{}, null];
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Pages");
  list.onkeydown = (event) => {
    const names = [...tabs.keys()];
    const here = names.indexOf(current);
    const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: names.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    select(names[(to + names.length) % names.length]);
    tabs.get(current).button.focus();
  };
  root.append(list);

  function update(next, numbers = {}) {
    pages = next;
    const names = Object.keys(pages);
    if (names.join("\n") !== [...tabs.keys()].join("\n")) arrange(names);
    for (const [name, tab] of tabs) setText(tab.number, numbers[name] ? String(numbers[name]) : "");
    if (names.length) select(names.includes(current) ? current : names[0]);
  }

  function arrange(names) {
    for (const [name, tab] of tabs) {
      if (names.includes(name)) continue;
      tab.view.remove();
      tab.panel.remove();
      tabs.delete(name);
    }
    const kept = new Map(tabs);
    tabs.clear();
    names.forEach((name) => tabs.set(name, kept.get(name) ?? build(name)));
    list.replaceChildren(...[...tabs.values()].map((tab) => tab.button));
  }

  function build(name) {
    const id = `torchmagic-tab-${++numTabs}`;
    const [button, panel, view] = [make("button", "tm-tab"), make("div", "tm-panel"), pageView()];
    const number = make("span", "tm-tabnumber");
    button.type = "button";
    button.id = id;
    button.append(name, number);
    button.setAttribute("role", "tab");
    button.setAttribute("aria-controls", `${id}-page`);
    button.onclick = () => select(name);
    panel.id = `${id}-page`;
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", id);
    panel.append(view.root);
    root.append(panel);
    return { button, panel, view, number };
  }

  function select(chosen) {
    current = chosen;
    for (const [name, tab] of tabs) {
      tab.panel.hidden = name !== chosen;
      tab.button.setAttribute("aria-selected", String(name === chosen));
      tab.button.tabIndex = name === chosen ? 0 : -1;
    }
    tabs.get(chosen).view.update(pages[chosen]);
  }

  return { root, update, remove: () => tabs.forEach((tab) => tab.view.remove()) };
}
