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

function button(text, hint, onClick) {
  const element = make("button", "tool", text);
  element.type = "button";
  element.title = hint;
  element.onclick = onClick;
  return element;
}
