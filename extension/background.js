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
