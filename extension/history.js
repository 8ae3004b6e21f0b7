// The reading history: kept in this browser only where somebody has switched it on, shown in full, deleted by a press.

import { plain } from "./addresses.js";
import { element, nameOf } from "./draw.js";

const browser = globalThis.browser ?? globalThis.chrome;
const MOST_SENT = 50;
const LONGEST_QUESTION = 6000; // characters

/** All visits, the latest last: { url, title, date, dwell }. */
export async function visits() {
  return (await browser.storage.local.get("read")).read ?? [];
}

/** Delete one visit, or all. */
export async function forget(visit) {
  const left = visit ? (await visits()).filter((each) => each.date !== visit.date || each.url !== visit.url) : [];
  await browser.storage.local.set({ read: left });
}

/** The latest visits that fit into one question, the latest last; each page once. */
export function latest(all) {
  const found = new Map();
  let length = 0;
  for (const each of all.toReversed()) {
    const url = plain(each.url);
    const before = found.get(url);
    if (before) before.dwell += each.dwell;
    else if (found.size < MOST_SENT && (length += encodeURIComponent(url).length + 60) <= LONGEST_QUESTION) found.set(url, { ...each, url });
  }
  return [...found.values()].toReversed();
}

/** Show what is kept, with a button for each visit and one for all. */
export async function drawHistory(place) {
  const all = (await visits()).toReversed();
  const again = async (visit) => (await forget(visit), drawHistory(place));
  const rows = all.map((each) => {
    const remove = element("button", { className: "quiet", type: "button", title: "Delete" }, "×");
    remove.setAttribute("aria-label", `Delete ${nameOf(each)}`);
    remove.addEventListener("click", () => again(each));
    return element("li", {}, element("bdi", {}, nameOf(each)), " ", element("small", {}, `${each.date.slice(0, 10)}, ${Math.round(each.dwell)} s `), remove);
  });
  const every = element("button", { className: "quiet", type: "button", id: "forget" }, "Delete all");
  every.addEventListener("click", () => again());
  place.replaceChildren(element("p", { className: "soft" }, `Pages in your reading history: ${all.length}. It is in this browser only.`));
  if (all.length) place.append(every, element("ol", { className: "read" }, ...rows));
}
