// A panel of Obsidian: notes related to the open one, as `cocite serve` answers. Titles and reasons are shown as text.
const { ItemView, Plugin, PluginSettingTab, Setting, requestUrl } = require("obsidian");

const VIEW = "cocite-related";
const DEFAULTS = { server: "http://127.0.0.1:8000", base: "https://notes.example/", results: 10, unlinked: false };

const withSlash = (text) => (text.endsWith("/") ? text : `${text}/`);

/** The address that `cocite build FOLDER --base BASE` gave to a note. */
const addressOf = (settings, path) => withSlash(settings.base) + path.split("/").map(encodeURIComponent).join("/");

/** The path of the note at an address, or "" for other pages. */
function pathOf(settings, url) {
  const base = withSlash(settings.base);
  try {
    return url.startsWith(base) ? decodeURIComponent(url.slice(base.length)) : "";
  } catch {
    return "";
  }
}

function question(settings, path) {
  const asked = new URLSearchParams({ url: addressOf(settings, path), words: "true", k: String(settings.results) });
  if (settings.unlinked) asked.set("unlinked", "true");
  return `${settings.server.replace(/\/+$/, "")}/api/related?${asked}`;
}

/** What the panel shows: rows, or one message. */
async function related(settings, path, ask = requestUrl) {
  try {
    const reply = await ask({ url: question(settings, path), throw: false });
    const found = reply.json;
    if (reply.status !== 200) return { message: found?.error?.message ?? `The server answered ${reply.status}`, rows: [] };
    const rows = found.answers.map(({ url, title, why }) => ({ url, path: pathOf(settings, url), title: title || url, why: why ?? "" }));
    return { message: rows.length ? found.note ?? "" : "Nothing related to this note", rows };
  } catch {
    return { message: `No answer from ${settings.server}: start cocite serve`, rows: [] };
  }
}

class RelatedView extends ItemView {
  constructor(leaf, plugin) {
    super(leaf);
    this.plugin = plugin;
    this.asked = 0;
  }

  getViewType() {
    return VIEW;
  }

  getDisplayText() {
    return "Related notes";
  }

  getIcon() {
    return "links-coming-in";
  }

  async onOpen() {
    this.registerEvent(this.app.workspace.on("file-open", (file) => this.show(file)));
    await this.show(this.app.workspace.getActiveFile());
  }

  async show(file) {
    if (!file || file.extension !== "md") return;
    const mine = ++this.asked; // a slow answer for a note that is no longer open is dropped
    const { message, rows } = await related(this.plugin.settings, file.path);
    if (mine !== this.asked) return;
    this.contentEl.empty();
    if (message) this.contentEl.createEl("p", { text: message });
    for (const { url, path, title, why } of rows) {
      const item = this.contentEl.createEl("div", { cls: "cocite-related" });
      const link = item.createEl("a", { text: title, href: path ? "#" : url });
      if (path) {
        link.addEventListener("click", (event) => {
          event.preventDefault();
          this.app.workspace.openLinkText(path, file.path);
        });
      }
      item.createEl("div", { text: why, cls: "setting-item-description" });
    }
  }
}

class Settings extends PluginSettingTab {
  constructor(app, plugin) {
    super(app, plugin);
    this.plugin = plugin;
  }

  display() {
    const { containerEl, plugin } = this;
    containerEl.empty();
    for (const [name, label, about] of [
      ["server", "Server", "The address that cocite serve prints"],
      ["base", "Base", "What you gave to cocite build as --base"],
    ]) {
      new Setting(containerEl).setName(label).setDesc(about).addText((field) =>
        field.setValue(plugin.settings[name]).onChange((value) => plugin.keep({ [name]: value.trim() || DEFAULTS[name] })),
      );
    }
    new Setting(containerEl).setName("Only notes without a link").addToggle((field) =>
      field.setValue(plugin.settings.unlinked).onChange((value) => plugin.keep({ unlinked: value })),
    );
  }
}

module.exports = class Cocite extends Plugin {
  async onload() {
    this.settings = { ...DEFAULTS, ...(await this.loadData()) };
    this.registerView(VIEW, (leaf) => new RelatedView(leaf, this));
    this.addSettingTab(new Settings(this.app, this));
    this.addCommand({ id: "show", name: "Show related notes", callback: () => this.open() });
    this.addRibbonIcon("links-coming-in", "Related notes", () => this.open());
  }

  async keep(changed) {
    this.settings = { ...this.settings, ...changed };
    await this.saveData(this.settings);
  }

  async open() {
    const { workspace } = this.app;
    const leaf = workspace.getLeavesOfType(VIEW)[0] ?? workspace.getRightLeaf(false);
    await leaf.setViewState({ type: VIEW, active: true });
    workspace.revealLeaf(leaf);
  }
};
