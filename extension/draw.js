// What the panel shows. Titles and reasons are written by strangers: everything goes in as text, never as markup.

import { refusal, shown } from "./addresses.js";

const $ = (selector) => document.querySelector(selector);

/** An element with properties and children; texts are children, too. */
export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** Text on one line, without characters that steer what is around them; those that join letters stay. */
export function oneLine(text) {
  return String(text ?? "").replace(/[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu, " ").replace(/\s+/g, " ").trim();
}

/** How a page is called. */
export function nameOf(page) {
  return oneLine(page.title) || shown(page.url);
}

function heading(page) {
  const title = element("h1", { tabIndex: -1 }, page.words ? "Pages about " : page.read ? "After " : "Related to ", element("bdi", {}, nameOf(page)));
  if (page.words || page.read) return [title];
  return [title, ...(nameOf(page) === shown(page.url) ? [] : [element("bdi", { className: "address" }, shown(page.url))])];
}

/** The answers to a question; `walk` is called with the page from which somebody goes on. */
export function drawAnswers(page, found, walk) {
  const parts = heading(page);
  const used = (found.used ?? []).map(String);
  if (found.answers.length && found.note) parts.push(note("", element("p", {}, oneLine(found.note))));
  else if (!page.read && used.length && !used.some((each) => sameAddress(each, page.url))) {
    const of = found.method === "words" ? "the words of this page" : used.slice(0, 3).map(shown).join(", ") + (used.length > 3 ? " …" : "");
    parts.push(element("p", { className: "soft" }, "asked with: ", element("bdi", {}, of)));
  }
  if (found.answers.length) parts.push(element("ol", { className: "answers" }, ...found.answers.map((each) => answer(each, walk))));
  else parts.push(note("", element("p", {}, oneLine(found.note) || (page.words ? "No page has these words." : "Nothing related was found."))));
  put(parts, `${found.answers.length} ${page.words ? "" : "related "}pages`);
}

function answer(each, walk) {
  const made = $("#answer").content.firstElementChild.cloneNode(true);
  const part = (selector) => made.querySelector(selector);
  part(".rank").textContent = each.rank;
  part(".title").append(element("bdi", {}, nameOf(each)));
  if (!refusal(each.url)) part(".title").href = each.url;
  walking(part(".related"), { url: each.url, title: each.title }, walk);
  if (nameOf(each) === shown(each.url)) part(".address").remove();
  else part(".address").append(element("bdi", {}, shown(each.url)));
  part("summary").textContent = oneLine(each.why) || "Why";
  const reasons = each.reasons.map((reason) => oneLine(reason.says)).filter(Boolean);
  part("ul").append(...reasons.map((says) => element("li", {}, says)));
  if (!reasons.length) part(".why").remove();
  return made;
}

/** Something that went wrong, or cannot be: kindly, and with what to do next. */
export function drawNote(page, { kind = "", lines, actions = [], nearest = [], walk }) {
  const parts = page ? heading(page) : [];
  parts[0]?.firstChild.remove(); // its name alone
  const buttons = actions.map(([label, act]) => {
    const made = element("button", { type: "button" }, label);
    made.addEventListener("click", act);
    return made;
  });
  parts.push(note(kind, ...lines.map((line) => element("p", {}, ...[line].flat())), element("div", { className: "bar" }, ...buttons)));
  if (nearest.length) {
    parts.push(element("h2", {}, "Known pages that are near"), element("ul", { className: "plain" }, ...nearest.map((url) => near(url, walk))));
  }
  put(parts, lines.flat().map((each) => each.textContent ?? each).join(""));
}

function near(url, walk) {
  const made = element("button", { className: "related", type: "button", title: "Related to this" }, "→");
  walking(made, { url, title: "" }, walk);
  return element("li", {}, element("bdi", {}, shown(url)), made);
}

/** The arrow of a page: what is related to it. */
function walking(button, page, walk) {
  button.setAttribute("aria-label", `Related to ${nameOf(page)}`);
  button.addEventListener("click", () => walk(page));
}

function note(kind, ...children) {
  return element("div", { className: `note ${kind}` }, ...children.filter((each) => each.childNodes.length));
}

function put(parts, said) {
  $("#shown").replaceChildren(...parts);
  $("#status").textContent = said;
  scrollTo(0, 0);
}

function sameAddress(one, other) {
  const short = (address) => shown(/^https?:/i.test(address) ? address : `https://${address}`).toLowerCase();
  return short(one) === short(other);
}
