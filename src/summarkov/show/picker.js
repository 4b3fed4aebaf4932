// A box to type in that offers labels: arrow keys and Enter, or a click, take one.
const mostOffered = 30;

function matches(text, among) {
  const wanted = text.trim().toLowerCase();
  const found = among.filter((code) => names[code].toLowerCase().includes(wanted));
  const order = (code) => (names[code].toLowerCase().startsWith(wanted) ? 0 : 1);
  return found.sort((a, b) => order(a) - order(b) || model.n[b] - model.n[a] || a - b).slice(0, mostOffered);
}

function picker(input, take, among = everyone) {
  const id = `${input.id}-list`;
  const list = make("ul", { id, role: "listbox", "aria-label": "Labels" });
  list.hidden = true;
  input.after(list);
  for (const [attribute, value] of Object.entries({ role: "combobox", "aria-expanded": "false", "aria-controls": id, "aria-autocomplete": "list" })) input.setAttribute(attribute, value);
  let offered = [], at = -1;

  function mark(where) {
    at = where;
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", i === at));
    if (at >= 0 && list.children[at]) {
      input.setAttribute("aria-activedescendant", list.children[at].id);
      list.children[at].scrollIntoView({ block: "nearest" });
    } else input.removeAttribute("aria-activedescendant");
  }
  function close() {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    mark(-1);
  }
  function open() {
    offered = matches(input.value, among);
    list.replaceChildren(...offered.map((code, i) =>
      make("li", { role: "option", id: `${id}-${i}`, onpointerdown: (event) => { event.preventDefault(); chosen(i); } }, make("bdi", { dir: "auto" }, names[code]))));
    if (!offered.length) list.append(make("li", { class: "quiet" }, "no such label"));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    mark(input.value && offered.length ? 0 : -1);
  }
  function chosen(i) {
    const code = offered[i];
    input.value = "";
    close();
    take(code);
  }
  input.addEventListener("input", open);
  input.addEventListener("focus", open);
  input.addEventListener("click", open);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (list.hidden) open();
      const step = event.key === "ArrowDown" ? 1 : -1;
      if (offered.length) mark((at + step + offered.length) % offered.length);
    } else if (event.key === "Enter" && !list.hidden && at >= 0) chosen(at);
    else if (event.key === "Escape" && !list.hidden) { close(); event.stopPropagation(); }
    else return;
    event.preventDefault();
  });
}
