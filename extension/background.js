// The toolbar button, and its key: whoever presses it asks about the tab that is shown, and gets the panel.
// The button also lets the extension see this one tab's address, until another page is loaded in it.

const browser = globalThis.browser ?? globalThis.chrome;

browser.action.onClicked.addListener((tab) => {
  // First the panel: a browser opens one only while it still counts the click.
  const opened = browser.sidePanel ? browser.sidePanel.open({ windowId: tab.windowId }) : browser.sidebarAction.open();
  opened?.catch((error) => console.warn("the panel was not opened:", error.message));
  const asked = { url: tab.url ?? "", title: tab.title ?? "", tab: tab.id, window: tab.windowId, at: Date.now() };
  browser.storage.session.set({ asked });
});

// The reading history, only while it is switched on: when the tab that is shown changes, the visit before has ended.
// The worker may sleep between events, so everything is in the browser's storage.

const MOST_VISITS = 500;
const LEAST_SECONDS = 2; // shorter visits are not reading
const LONGEST_SECONDS = 1800; // nobody reads on in a tab that was left open
let turn = Promise.resolve();

async function keepVisit() {
  const { history } = await browser.storage.local.get("history");
  const { visit } = await browser.storage.session.get("visit");
  const [tab] = history === true ? await browser.tabs.query({ active: true, lastFocusedWindow: true }) : [];
  const url = /^https?:/.test(tab?.url ?? "") ? tab.url : "";
  if (visit && visit.url === url) {
    if (tab.title) await browser.storage.session.set({ visit: { ...visit, title: tab.title } }); // it comes after the address
    return;
  }
  const now = Date.now();
  const seconds = visit ? (now - visit.since) / 1000 : 0;
  if (history === true && seconds >= LEAST_SECONDS) {
    const { read = [] } = await browser.storage.local.get("read");
    read.push({ url: visit.url, title: visit.title, date: new Date(visit.since).toISOString(), dwell: Math.min(seconds, LONGEST_SECONDS) });
    await browser.storage.local.set({ read: read.slice(-MOST_VISITS) });
  }
  if (url) await browser.storage.session.set({ visit: { url, title: tab.title ?? "", since: now } });
  else await browser.storage.session.remove("visit");
}

const changed = () => (turn = turn.then(keepVisit, keepVisit));
browser.tabs.onActivated.addListener(changed);
browser.tabs.onUpdated.addListener((_, change) => (change.url || change.title || change.status === "complete") && changed());
browser.windows.onFocusChanged.addListener(changed);
