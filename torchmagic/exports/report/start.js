// This file is the start: what stands there as pictures and plain tables comes to life.

const figures = JSON.parse(document.getElementById("figures").textContent);
// A plot is a figure with its picture; differences and pictures of tensors are none.
document.querySelectorAll("main figure:has(> img:not(.tm-pixels))").forEach((figure, index) => {
  if (figures[index]) livePlot(figure, figures[index]);
});
document.querySelectorAll("main .tm-scroll").forEach(liveTable);

// Paper has no folds: what is closed is opened for the print and closed again.
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("main details:not([open])")];
  for (const fold of closed) fold.open = true;
});
addEventListener("afterprint", () => closed.forEach((fold) => (fold.open = false)));

const dark = () => getComputedStyle(document.documentElement).colorScheme === "dark" || (document.documentElement.style.colorScheme === "" && matchMedia("(prefers-color-scheme: dark)").matches);
const theme = button("", "switch between light and dark", () => {
  document.documentElement.style.colorScheme = dark() ? "light" : "dark";
  name();
});
const name = () => (theme.textContent = dark() ? "Light" : "Dark");
theme.classList.add("theme");
name();
document.querySelector("header").append(theme);
