// The settings, kept in this browser (not in anybody's account), and the form for them.

import { drawHistory } from "./history.js";
import { DEFAULT_SERVER, FOREIGN, isOpen, originOf, serverOf, store, Trouble } from "./server.js";

const browser = globalThis.browser ?? globalThis.chrome;
const $ = (selector) => document.querySelector(selector);
let changed = () => {};

export const settings = {
  server: DEFAULT_SERVER,
  follow: false,
  elsewhere: false,
  history: false,
  k: 10,
  async keep(some) {
    Object.assign(this, some);
    await browser.storage.local.set(some);
  },
};

/** Whether the browser lets us reach a server. */
export function allowed(server) {
  return browser.permissions.contains({ origins: [originOf(server)] });
}

/** Ask the browser to let us reach the host of an address; only in answer to a click. */
export function allowHost(address) {
  return browser.permissions.request({ origins: [originOf(address)] }).catch(() => false);
}

/** What to do when other answers are wanted. */
export function whenChanged(act) {
  changed = act;
}

/** Read what is kept, and make the form work. */
export async function load() {
  const kept = await browser.storage.local.get(["server", "follow", "elsewhere", "history", "k"]);
  for (const [name, value] of Object.entries(kept)) if (typeof value === typeof settings[name]) settings[name] = value;
  if (!(await browser.permissions.contains({ permissions: ["tabs"] }))) settings.follow = settings.history = false;
  $("#gear").addEventListener("click", () => open($("#settings").hidden));
  $("#cancel").addEventListener("click", () => open(false));
  $("#setting").addEventListener("submit", save);
}

function open(on) {
  $("#settings").hidden = !on;
  $("#gear").setAttribute("aria-expanded", on);
  if (!on) return $("#gear").focus();
  $("#server").value = settings.server;
  $("#elsewhere").checked = settings.elsewhere;
  $("#k").value = settings.k;
  drawHistory($("#read"));
  say("");
  $("#server").focus();
}

async function save(event) {
  event.preventDefault();
  let server;
  try {
    server = serverOf($("#server").value);
  } catch (error) {
    return say(error.message, true);
  }
  // The permission first: a browser asks for it only while it still counts the click.
  const may = await allowHost(server);
  await settings.keep({ server, elsewhere: $("#elsewhere").checked, k: Number($("#k").value) });
  $("#server").value = server;
  if (may) await look();
  else say("The browser does not let cocite reach this server.", true);
  changed();
}

/** Say what the server holds. */
async function look() {
  say("Looking …");
  try {
    const found = await store(settings);
    if (!(found.pages >= 0)) throw new Trouble("foreign", FOREIGN);
    const holds = `It knows ${Number(found.pages).toLocaleString("en")} pages and ${Number(found.links).toLocaleString("en")} links.`;
    const open = isOpen(settings.server);
    say(open ? `${holds} Others on the way there can read what you ask: https would be better.` : holds, open);
  } catch (error) {
    say(error.message, true);
  }
}

function say(text, wrong = false) {
  $("#server-is").textContent = text;
  $("#server-is").classList.toggle("wrong", wrong);
}
