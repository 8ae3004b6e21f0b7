// Asking a cocite server. This is the only file that sends anything anywhere, and always to the address in the settings.

export const DEFAULT_SERVER = "http://127.0.0.1:8000";
export const FOREIGN = "What answers there is not cocite.";
const PATIENCE = 20_000; // milliseconds

/** What goes wrong: `kind` is "off", "foreign", "unknown", "busy" or "refused". */
export class Trouble extends Error {
  constructor(kind, message, nearest = []) {
    super(message);
    this.kind = kind;
    this.nearest = nearest;
  }
}

/** The address of a server as it is kept, from what somebody typed; an Error says what is wrong with it. */
export function serverOf(text) {
  const typed = text.trim();
  const url = URL.parse(/^https?:\/\//i.test(typed) ? typed : `http://${typed}`);
  if (!typed || !url || !url.hostname) throw new Error(`This is no address of a server. The usual one is ${DEFAULT_SERVER}`);
  if (url.username || url.password) throw new Error("Leave out the name and password: they would be kept unprotected.");
  return (url.origin + url.pathname).replace(/\/+$/, "");
}

/** The pattern by which a browser is asked to let us reach a server. */
export function originOf(server) {
  const url = new URL(server);
  return `${url.protocol}//${url.hostname}/*`;
}

/** Whether what is sent to a server can be read on the way there. */
export function isOpen(server) {
  const url = new URL(server);
  return url.protocol === "http:" && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
}

/** The pages related to one that the server knows. */
export function related(settings, url, signal) {
  return ask(settings, "/api/related", { url, ...wishes(settings) }, { signal });
}

/** The pages related to one that is sent as a record: its links, its title, its words. */
export function relatedToRecord(settings, record, signal) {
  const body = JSON.stringify(record);
  return ask(settings, "/api/related", wishes(settings), { signal, method: "POST", body });
}

/** Pages for somebody who has read these, each { url, date, dwell }, the latest last. */
export function recommend(settings, visits, signal) {
  const read = visits.flatMap(({ url, date, dwell }) => [["url", url], ["date", date.slice(0, 19)], ["dwell", String(Math.round(dwell))]]);
  return ask(settings, "/api/recommend", [...read, ["decay", "0.9"], ...Object.entries(wishes(settings))], { signal });
}

/** The pages that have some words. */
export function search(settings, q, signal) {
  return ask(settings, "/api/search", { q, ...wishes(settings) }, { signal });
}

/** What the server's store holds. */
export function store(settings, signal) {
  return ask(settings, "/api/store", {}, { signal });
}

function wishes(settings) {
  return { k: String(settings.k), words: "true", ...(settings.elsewhere ? { not_own_site: "true" } : {}) };
}

async function ask(settings, path, parameters, { signal, ...how }) {
  const target = `${settings.server}${path}?${new URLSearchParams(parameters)}`;
  const patience = AbortSignal.timeout(PATIENCE);
  let response, found;
  try {
    response = await fetch(target, {
      ...how,
      headers: how.body ? { "content-type": "application/json" } : {},
      signal: AbortSignal.any(signal ? [signal, patience] : [patience]),
      credentials: "omit",
      referrerPolicy: "no-referrer",
      redirect: "error", // or the question would go elsewhere
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Trouble("off", patience.aborted ? "It took too long." : "Nobody is there.");
  }
  try {
    found = await response.json();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Trouble("foreign", FOREIGN);
  }
  if (response.ok && found !== null && typeof found === "object") return found;
  const { kind, message, nearest } = found?.error ?? {};
  if (!kind || (response.status === 404 && kind !== "UnknownPage")) throw new Trouble("foreign", FOREIGN);
  const kinds = { 404: "unknown", 503: "busy" };
  throw new Trouble(kinds[response.status] ?? "refused", String(message), (nearest ?? []).map(String));
}
