// The panel: one page after another is asked about, the tab's first, then those that somebody walks on to.

import { plain, refusal } from "./addresses.js";
import { drawAnswers, drawNote, element } from "./draw.js";
import { forget, latest, visits } from "./history.js";
import { recommend, related, relatedToRecord, search, Trouble } from "./server.js";
import { allowed, allowHost, load, settings, whenChanged } from "./settings.js";

const browser = globalThis.browser ?? globalThis.chrome;
const $ = (selector) => document.querySelector(selector);
const QUIET = 300; // milliseconds for which a tab has to stay before it is followed
const MOST_LINKS = 600;

const trail = []; // pages asked about: the last is shown
let asking = new AbortController();
let ours; // the number of this window
let followed = ""; // the address that the tab had when it was last followed

/** Ask about a page, as the next of the trail or as a new beginning. */
function walk(page, { anew = false, quietly = false } = {}) {
  if (anew) trail.length = 0;
  trail.push(page);
  return show({ quietly });
}

async function show({ quietly = false } = {}) {
  const page = trail.at(-1);
  $("#back").disabled = trail.length < 2;
  const refused = page.words || page.read ? "" : refusal(page.url);
  if (page.read) await answered(page, (signal) => recommend(settings, page.read, signal));
  else if (page.words) await answered(page, (signal) => search(settings, page.words, signal));
  else if (refused) {
    asking.abort();
    document.body.classList.remove("busy");
    drawNote({ url: page.url, title: page.title }, { lines: [refused, "Go to a page of the web and ask again."], walk });
  } else await answered(page, (signal) => related(settings, plain(page.url), signal));
  if (!quietly) $("h1")?.focus();
}

/** Show what comes of a question, unless another is asked meanwhile. */
async function answered(page, question) {
  asking.abort();
  const mine = (asking = new AbortController());
  document.body.classList.add("busy");
  $("#status").textContent = "Asking …";
  try {
    const found = await question(mine.signal);
    if (!mine.signal.aborted) drawAnswers(page, found, walk);
  } catch (error) {
    if (!mine.signal.aborted) await explain(page, error, question);
  } finally {
    if (asking === mine) document.body.classList.remove("busy");
  }
}

async function explain(page, error, question) {
  if (!(error instanceof Trouble)) throw error;
  const again = ["Try again", () => answered(page, question)];
  const where = element("b", {}, settings.server);
  if (error.kind === "off" && !(await allowed(settings.server))) {
    offer(page, ["The browser does not let cocite reach ", where, " yet."], () => allowHost(settings.server), () => answered(page, question));
  } else if (error.kind === "off") {
    const start = ["Start a server with ", element("code", {}, "cocite serve -i web.cocite"), ", or give its address in the settings."];
    drawNote(page, { lines: [["No answer from ", where, ". ", error.message], start], actions: [again], kind: "wrong" });
  } else if (error.kind === "foreign") {
    drawNote(page, { lines: [["At ", where, ": ", error.message], "See the address in the settings."], actions: [again], kind: "wrong" });
  } else if (error.kind === "unknown") {
    const actions = "tab" in page ? [["Ask with its links", () => askWithLinks(page)]] : [];
    const more = actions.length ? ["Its title and links can be sent to your server instead: pages that it links to may be known."] : [];
    drawNote(page, { lines: ["The server does not know this page.", ...more], actions, nearest: error.nearest, walk });
  } else {
    drawNote(page, { lines: [error.message], actions: error.kind === "busy" ? [again] : [], nearest: error.nearest, walk, kind: "wrong" });
  }
}

/** Read the page in its tab, and ask with what it links to. */
async function askWithLinks(page) {
  const read = () => browser.scripting.executeScript({ target: { tabId: page.tab }, func: readPage, args: [MOST_LINKS] });
  let done;
  try {
    done = await read();
  } catch {
    const allow = () => allowHost(page.url);
    if (!(await allow())) return offer(page, "The browser does not let cocite read this page yet.", allow, () => askWithLinks(page));
    done = await read().catch(() => []);
  }
  const found = done[0]?.result;
  if (!found || plain(found.url) !== plain(page.url)) {
    drawNote(page, { lines: ["The page could not be read, or the tab shows another one by now."], kind: "wrong" });
    return;
  }
  const links = found.links.filter((link) => !refusal(link.url)).map((link) => ({ url: plain(link.url), text: link.text }));
  const record = { url: plain(page.url), title: found.title, links };
  await answered(page, async (signal) => {
    try {
      return await relatedToRecord(settings, record, signal);
    } catch (error) {
      if (error.kind !== "unknown") throw error;
      throw new Trouble("refused", "Nothing that this page links to is known to the server.", error.nearest);
    }
  });
}

/** Runs in the page: its title, and where it leads to. */
function readPage(most) {
  const links = [...document.links].filter((each) => each.protocol.startsWith("http") && each.href.length < 1000);
  const told = links.slice(0, most).map((each) => ({ url: each.href, text: each.textContent.trim().slice(0, 100) }));
  return { url: location.href, title: document.title.slice(0, 300), links: told };
}

// The reading history

async function forYou() {
  const read = latest(await visits());
  if (read.length) return walk({ url: "", title: "what you read", read }, { anew: true });
  drawNote(null, { lines: ["Your reading history is empty.", "Read some pages, and ask again."], walk });
}

async function switchHistory(on) {
  const may = !on || (await allowTabs()); // the permission first, as above
  $("#history").checked = on && may;
  await settings.keep({ history: on && may });
  if (!settings.history) await forget();
  $("#foryou").hidden = !settings.history;
}

// The tab

async function currentTab() {
  const [tab] = await browser.tabs.query({ active: true, windowId: ours });
  return tab;
}

function allowTabs() {
  return browser.permissions.request({ permissions: ["tabs"] }).catch(() => false);
}

/** Say what is not allowed, with a button to allow it: Firefox asks for nothing after a click that had to wait for something. */
function offer(page, line, allow, then) {
  drawNote(page, { lines: [line], actions: [["Allow it", async () => (await allow()) && then()]], kind: "wrong" });
}

async function askAboutTab() {
  let tab = await currentTab();
  if (tab && !tab.url) {
    const line = "The browser does not say which page this tab shows. Its cocite button does: press that, or allow it here.";
    if (!(await allowTabs())) return offer(null, line, allowTabs, askAboutTab);
    tab = await currentTab();
  }
  if (tab) await walk({ url: tab.url ?? "", title: tab.title, tab: tab.id }, { anew: true });
}

let soon;
function follow() {
  clearTimeout(soon);
  if (settings.follow) soon = setTimeout(followNow, QUIET);
}

async function followNow() {
  const tab = await currentTab();
  if (!settings.follow || document.hidden || !tab?.url || tab.url === followed || tab.url.startsWith(location.origin)) return;
  const moved = followed === "" || refusal(tab.url) || refusal(followed) || plain(tab.url) !== plain(followed);
  followed = tab.url;
  if (moved) await walk({ url: tab.url, title: tab.title, tab: tab.id }, { anew: true, quietly: true });
}

async function switchFollowing(on) {
  // The permission first: a browser asks for it only while it still counts the click.
  const may = !on || (await allowTabs());
  $("#follow").checked = on && may;
  followed = "";
  await settings.keep({ follow: on && may });
  follow();
}

/** What the toolbar button left for this window, if it is new. */
async function asked(found) {
  if (!found || found.window !== ours) return;
  await browser.storage.session.remove("asked");
  followed = found.url;
  await walk({ url: found.url, title: found.title, tab: found.tab }, { anew: true, quietly: true });
}

// The keyboard

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  b: () => $("#back").click(),
  t: () => $("#ask").click(),
  "/": () => $("#address").focus(),
  e: () => here()?.querySelector("summary")?.click(),
  r: () => here()?.querySelector(".related")?.click(),
};

function here() {
  return document.activeElement.closest(".answers > li");
}

function step(by) {
  const all = [...document.querySelectorAll(".answers > li")];
  const at = all.indexOf(here());
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, at + by))];
  next?.querySelector(".title").focus();
  next?.scrollIntoView({ block: "nearest" });
}

function key(event) {
  const typing = event.target.matches("input[type=text], select");
  if (event.key === "Escape" && typing) event.target.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
}

function typed(event) {
  event.preventDefault();
  const text = $("#address").value.trim();
  if (!text) return;
  $("#address").value = "";
  if (!/[.:/]/.test(text)) return walk({ url: "", title: text, words: text }, { anew: true }); // no address has neither
  const url = /^[a-z][a-z0-9+.-]*:/i.test(text) && !/^[^/]*:\d/.test(text) ? text : `https://${text}`;
  walk({ url, title: "" }, { anew: true });
}

async function begin() {
  ours = (await browser.windows.getCurrent()).id;
  await load();
  $("#follow").checked = settings.follow;
  $("#follow").addEventListener("change", (event) => switchFollowing(event.target.checked));
  $("#ask").addEventListener("click", askAboutTab);
  $("#history").checked = settings.history;
  $("#history").addEventListener("change", (event) => switchHistory(event.target.checked));
  $("#foryou").hidden = !settings.history;
  $("#foryou").addEventListener("click", forYou);
  $("#back").addEventListener("click", () => (trail.pop(), show()));
  $("#typed").addEventListener("submit", typed);
  document.addEventListener("keydown", key);
  document.addEventListener("visibilitychange", follow);
  whenChanged(() => trail.length && show({ quietly: true }));
  browser.tabs.onActivated.addListener(follow);
  browser.tabs.onUpdated.addListener((_, change) => (change.url || change.status === "complete") && follow());
  browser.storage.session.onChanged.addListener((changed) => asked(changed.asked?.newValue));
  document.body.classList.remove("busy");
  await asked((await browser.storage.session.get("asked")).asked);
  if (!trail.length) follow();
}

begin();
