// This file is how elements are made; all text goes through textContent, so no name can become markup.

function make(tag, classes = "", text = null) {
  const element = document.createElement(tag);
  if (classes) element.className = classes;
  if (text !== null) element.textContent = text;
  return element;
}

function draw(tag, attributes = {}, text = null) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== null) element.textContent = text;
  return element;
}

// Writing only what changed keeps selections, scroll positions and the screen reader's place during live updates.
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// `code` between backticks in a sentence becomes <code>.
function sentence(tag, classes, text) {
  const element = make(tag, classes);
  text.split(/`([^`]+)`/).forEach((part, index) => {
    if (part) element.append(index % 2 ? make("code", "", part) : part);
  });
  return element;
}

function toggle(text, hint, pressed, onChange) {
  const button = make("button", "tm-toggle", text);
  button.type = "button";
  button.title = hint;
  button.setAttribute("aria-pressed", String(pressed));
  button.onclick = () => {
    const now = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(now));
    onChange(now);
  };
  return button;
}

// What one part of the panel wants of another goes up as an event, so that neither has to know the other.
function tell(element, type, detail) {
  element.dispatchEvent(new CustomEvent(type, { bubbles: true, detail }));
}

// A moment's colour on an element that is not ours: an animation changes nothing in its document.
function flash(element) {
  element.animate([{ backgroundColor: "rgba(224, 161, 0, 0.45)" }, { backgroundColor: "rgba(224, 161, 0, 0)" }], { duration: 2200, easing: "ease-in" });
}
