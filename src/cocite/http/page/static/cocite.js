// What the web page does beyond links and forms. Everything works without it, but for what is hidden until it runs.
"use strict";
(() => {
  const root = document.documentElement;
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // The theme, before anything is painted.
  const THEMES = { "": "auto", light: "light", dark: "dark" };
  let theme = "";
  try { theme = localStorage.getItem("cocite-theme") || ""; } catch { /* not kept, then */ }
  function show(chosen) {
    theme = chosen in THEMES ? chosen : "";
    if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
    try { localStorage.setItem("cocite-theme", theme); } catch { /* not kept, then */ }
    const button = one("#theme");
    if (button) { button.textContent = `Theme: ${THEMES[theme]}`; }
  }
  function nextTheme() {
    const names = Object.keys(THEMES);
    show(names[(names.indexOf(theme) + 1) % names.length]);
  }
  show(theme);

  function tools() {
    for (const button of all("#theme, #keys")) button.hidden = false;
    show(theme);
    one("#theme").addEventListener("click", nextTheme);
    one("#keys").addEventListener("click", () => one("#help").showModal());
  }

  // Addresses stay short: fields that say nothing are not sent. Lines that are pasted become one line.
  function forms() {
    for (const form of all("form.ask, .options form"))
      form.addEventListener("submit", () => {
        for (const field of form.elements)
          if (field.name && !field.value) field.disabled = true;
        setTimeout(() => { for (const field of form.elements) field.disabled = false; });
      });
    const field = one("#url");
    if (!field) return;
    field.addEventListener("paste", event => {
      const text = event.clipboardData.getData("text");
      if (!/[\r\n]/.test(text)) return;
      event.preventDefault();
      field.setRangeText(text.trim().split(/\s+/).join(" "), field.selectionStart, field.selectionEnd, "end");
    });
  }

  // Pages whose titles or addresses have the words, while they are typed.
  function suggestions() {
    const field = one("#url");
    if (!field || field.dataset.words) return;
    const list = document.createElement("ul");
    let asked = "", timer = 0, at = -1, pages = [];
    list.className = "suggestions"; list.id = "suggestions"; list.hidden = true;
    list.setAttribute("role", "listbox"); list.setAttribute("aria-label", "Pages");
    field.setAttribute("role", "combobox"); field.setAttribute("aria-expanded", "false");
    field.setAttribute("aria-controls", list.id); field.setAttribute("aria-autocomplete", "list");
    field.after(list);
    const close = () => { list.hidden = true; at = -1; field.setAttribute("aria-expanded", "false"); field.removeAttribute("aria-activedescendant"); };
    const go = page => { location.href = "/?" + new URLSearchParams({ url: page.url }); };
    function mark(number) {
      at = number;
      all("li", list).forEach((item, place) => item.setAttribute("aria-selected", String(place === at)));
      if (at >= 0) field.setAttribute("aria-activedescendant", `suggestion-${at}`); else field.removeAttribute("aria-activedescendant");
    }
    function fill(found) {
      pages = found;
      list.replaceChildren(...pages.map((page, place) => {
        const item = document.createElement("li"), name = document.createElement("bdi"), where = document.createElement("span");
        item.id = `suggestion-${place}`; item.setAttribute("role", "option"); item.setAttribute("aria-selected", "false");
        name.textContent = (page.title || page.url).slice(0, 90); where.textContent = page.url.replace(/^https?:\/\/(www\.)?/, "").slice(0, 60);
        where.className = "address"; item.append(name, where);
        item.addEventListener("mousedown", event => { event.preventDefault(); go(page); });
        return item;
      }));
      list.hidden = !pages.length; at = -1;
      field.setAttribute("aria-expanded", String(!list.hidden));
    }
    async function ask() {
      const words = field.value.trim();
      if (words === asked) return;
      asked = words;
      if (words.length < 2 || words.length > 200) return close();
      try {
        const reply = await fetch("/api/search?" + new URLSearchParams({ q: words, k: 7, prefix: true }));
        const found = reply.ok ? (await reply.json()).answers : [];
        if (words === field.value.trim() && document.activeElement === field) fill(found);
      } catch { close(); }
    }
    field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, 60); });
    field.addEventListener("blur", close);
    field.addEventListener("keydown", event => {
      if (list.hidden) return;
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        const step = event.key === "ArrowDown" ? 1 : -1;
        mark((at + 1 + step + pages.length + 1) % (pages.length + 1) - 1);
      } else if (event.key === "Enter" && at >= 0) { event.preventDefault(); go(pages[at]); }
      else if (event.key === "Escape") { event.preventDefault(); close(); }
    });
  }

  // A slider of dates, in the place of the choice among them.
  function dates() {
    const choice = one("#as_of");
    if (!choice) return;
    const slider = document.createElement("input"), ticks = document.createElement("datalist"), shown = document.createElement("output");
    Object.assign(slider, { type: "range", min: 0, max: choice.options.length - 1, value: choice.selectedIndex, id: "date" });
    ticks.id = "dates";
    ticks.append(...[...choice.options].map((option, place) => new Option(option.text, place)));
    slider.setAttribute("list", ticks.id);
    const show = () => {
      choice.selectedIndex = slider.value;
      shown.textContent = choice.options[slider.value].text;
      slider.setAttribute("aria-valuetext", shown.textContent);
    };
    slider.addEventListener("input", show);
    slider.addEventListener("change", () => choice.form.requestSubmit());
    one(".date label").htmlFor = slider.id;
    choice.hidden = one(".date button").hidden = true;
    choice.after(slider, ticks, shown);
    show();
  }

  // Answers by the keyboard.
  const items = () => all(".answers > li, .pages li, .columns li, .found li, .rate");
  const current = () => items().find(item => item.contains(document.activeElement));
  function step(by) {
    const list = items(), here = list.indexOf(current());
    const next = list[here < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(list.length - 1, Math.max(0, here + by))];
    if (!next) return;
    (one(".title a", next) || one("a, button, summary", next)).focus();
    next.scrollIntoView({ block: "nearest" });
  }
  function press(selector) {
    const found = current() && one(selector, current());
    if (found) found.click();
  }
  const KEYS = {
    "/": () => { one("#url")?.focus(); one("#url")?.select(); },
    "?": () => one("#help").showModal(),
    j: () => step(1), k: () => step(-1),
    e: () => press("summary"), r: () => press(".related"), a: () => press(".add"),
    x: () => press(".not, [type=radio][value=x]"), 1: () => press("[type=radio][value='1']"), 0: () => press("[type=radio][value='0']"),
    t: nextTheme,
  };
  function keyboard() {
    document.addEventListener("keydown", event => {
      if (event.ctrlKey || event.metaKey || event.altKey || one("dialog[open]")) return;
      if (event.target.closest("input:not([type=radio], [type=checkbox]), textarea, select")) { if (event.key === "Escape") event.target.blur(); return; }
      const tab = /^[1-9]$/.test(event.key) && all(".tabs a")[event.key - 1];
      const does = tab ? () => tab.click() : KEYS[event.key];
      if (does) { event.preventDefault(); does(); }
    });
  }

  // Reasons that are open are part of the address.
  function reasons() {
    for (const why of all("details.why"))
      why.addEventListener("toggle", () => {
        const name = "#" + one("ul", why).id;
        if (why.open) history.replaceState(null, "", name);
        else if (location.hash === name) history.replaceState(null, "", location.pathname + location.search);
      });
    const named = /^#why-\d+$/.test(location.hash) && one(location.hash);
    if (named) { named.closest("details").open = true; named.closest("li").scrollIntoView({ block: "center" }); }
  }

  // What is linked stands out: in the picture, among communities, among columns.
  function picture() {
    const marks = all(".picture [data-at]"), kinds = new Map(marks.map(mark => [mark.dataset.at, mark.dataset.kind]));
    const lines = all(".picture [data-ends]").map(line => [line, line.dataset.ends.split(" ")]);
    function light(at) {  // the path from the page asked about through a list to a related page
      const near = new Set([at]), own = kinds.get(at);
      const across = { asked: "related", related: "asked" }[own];
      for (const [, ends] of lines) if (ends.includes(at)) ends.forEach(end => near.add(end));
      for (const [, ends] of lines)
        if (across && ends.some(end => kinds.get(end) === across) && ends.some(end => end !== at && kinds.get(end) !== across && near.has(end)))
          ends.forEach(end => near.add(end));
      for (const [line, ends] of lines)
        line.classList.toggle("on", at !== null && ends.every(end => near.has(end)) && (across ? true : ends.includes(at)));
      for (const mark of marks) mark.classList.toggle("on", near.has(mark.dataset.at));
      one(".picture").classList.toggle("lit", at !== null);
    }
    for (const mark of marks) {
      for (const name of ["pointerenter", "focusin"]) mark.addEventListener(name, () => light(mark.dataset.at));
      for (const name of ["pointerleave", "focusout"]) mark.addEventListener(name, () => light(null));
    }
  }
  function communities() {
    for (const drawn of all(".drawn"))
      for (const item of all("[data-place]", drawn)) {
        const light = on => {
          drawn.classList.toggle("lit", on);
          for (const line of all("path", drawn)) line.classList.toggle("on", on && line.classList.contains(item.dataset.place));
        };
        for (const name of ["pointerenter", "focusin"]) item.addEventListener(name, () => light(true));
        for (const name of ["pointerleave", "focusout"]) item.addEventListener(name, () => light(false));
      }
  }
  function columns() {
    const cells = all(".columns [data-page]");
    for (const cell of cells) {
      const light = on => { for (const other of cells) other.classList.toggle("same", on && other.dataset.page === cell.dataset.page); };
      for (const name of ["pointerenter", "focusin"]) cell.addEventListener(name, () => light(true));
      for (const name of ["pointerleave", "focusout"]) cell.addEventListener(name, () => light(false));
    }
  }

  // Where the server records clicks, it hears which result was opened, from which page.
  function clicks() {
    const from = document.body.dataset.clickedFrom;
    if (!from) return;
    for (const name of ["click", "auxclick"])
      document.addEventListener(name, event => {
        const link = event.target.closest("main .title a");
        if (link) navigator.sendBeacon("/clicked?" + new URLSearchParams({ from, to: link.href }));
      });
  }

  document.addEventListener("DOMContentLoaded", () => {
    if (one("#theme")) tools();
    if (one("#help")) keyboard();
    for (const part of [forms, suggestions, dates, reasons, picture, communities, columns, clicks]) part();
  });
})();
