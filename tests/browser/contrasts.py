"""This file is the check of contrasts that tests run in the page."""

# Every text in the panel with its own colour against what lies behind it, after WCAG 2.2.
CONTRASTS = """
() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const over = (colours) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const weak = [];
  for (const element of document.querySelectorAll(".torchmagic-panel *, .torchmagic-page *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    // a name too long for its box is there for screen readers alone; its title tells it to the pointer
    if (!own || !element.checkVisibility() || element.closest(".tm-none")) continue;
    const grounds = [];
    for (let up = element; up; up = up.parentElement) grounds.unshift(getComputedStyle(up).backgroundColor);
    const style = getComputedStyle(element);
    const colour = element.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const [a, b] = [light(over([...grounds, colour])), light(over(grounds))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const name = element.className.baseVal ?? element.className;
    if (ratio < 4.5) weak.push(`${name} "${element.textContent}" ${ratio.toFixed(2)}`);
  }
  return [...new Set(weak)].slice(0, 12);
}
"""
