// What is too wide for the page is scrolled by the keyboard too: it can be reached by Tab, as long as it is too wide.
const mark = () => {
  for (const box of document.querySelectorAll("pre, .table-wrapper")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
};
mark();
addEventListener("load", mark);
addEventListener("resize", mark);
