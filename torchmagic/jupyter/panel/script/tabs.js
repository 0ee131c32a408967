// This file is the tabs: one a page, moved through by click and arrow keys; only the open page is drawn.

const NOT_YET = { blocks: [{ kind: "text", text: "Drawn in a moment, or, where the kernel cannot hear while it works, when the cell ends.", strong: false }] };

let numTabs = 0;

function tabsView() {
  const root = make("div", "tm-body");
  const list = make("div", "tm-tabs");
  const tabs = new Map();
  let [pages, current, chosen] = [{}, null, false]; // chosen: by the reader, and then left alone
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Pages");
  list.onkeydown = (event) => {
    const names = [...tabs.keys()];
    const here = names.indexOf(current);
    const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: names.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    choose(names[(to + names.length) % names.length]);
    tabs.get(current).button.focus();
  };
  root.append(list);

  // `first` is the tab that is open as long as the reader has opened none.
  function update(next, { names, numbers, first }) {
    pages = next;
    if (names.join("\n") !== [...tabs.keys()].join("\n")) arrange(names);
    for (const [name, tab] of tabs) setText(tab.number, numbers[name] ? String(numbers[name]) : "");
    const wanted = chosen ? current : first;
    if (names.length) select(names.includes(wanted) ? wanted : names[0]);
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
    button.onclick = () => choose(name);
    panel.id = `${id}-page`;
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", id);
    panel.append(view.root);
    root.append(panel);
    return { button, panel, view, number };
  }

  function choose(name) {
    if (!tabs.has(name)) return false;
    chosen = true;
    select(name);
    tell(root, "tm-tab", { name });
    return true;
  }

  function select(name) {
    current = name;
    for (const [other, tab] of tabs) {
      tab.panel.hidden = other !== name;
      tab.button.setAttribute("aria-selected", String(other === name));
      tab.button.tabIndex = other === name ? 0 : -1;
    }
    tabs.get(name).view.update(pages[name] ?? NOT_YET);
  }

  const reveal = (tab, row) => choose(tab) && tabs.get(tab).view.reveal(row);
  return { root, update, choose, reveal, current: () => current, remove: () => tabs.forEach((tab) => tab.view.remove()) };
}
