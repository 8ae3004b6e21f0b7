// Which addresses are asked about, and how they are spelled: nothing that is not a web page ever leaves the browser.

const KINDS = {
  "file:": "This is a file of yours. Files are never asked about.",
  "about:": "This is a page of the browser itself.",
  "chrome:": "This is a page of the browser itself.",
  "edge:": "This is a page of the browser itself.",
  "brave:": "This is a page of the browser itself.",
  "devtools:": "This is a page of the browser itself.",
  "chrome-extension:": "This is a page of an extension.",
  "moz-extension:": "This is a page of an extension.",
  "view-source:": "This is the source of a page. Go to the page itself.",
};

/** Why an address is not asked about, in words; nothing if it may be. */
export function refusal(address) {
  let url;
  try {
    url = new URL(address);
  } catch {
    return "This tab shows no page.";
  }
  if (url.protocol === "http:" || url.protocol === "https:") return "";
  return KINDS[url.protocol] ?? "This is no page of the web.";
}

/** An address without what is nobody else's business: names and passwords in it, and the place on the page. */
export function plain(address) {
  const url = new URL(address);
  url.username = url.password = url.hash = "";
  return url.href;
}

/** An address as people read it. */
export function shown(address) {
  try {
    const url = new URL(address);
    if (!url.protocol.startsWith("http")) return address;
    return (url.host.replace(/^www\./, "") + decoded(url.pathname) + url.search).replace(/\/$/, "");
  } catch {
    return address;
  }
}

function decoded(path) {
  try {
    const text = decodeURIComponent(path);
    return /[\p{C}\p{Z}]/u.test(text) ? path : text; // nothing unseen
  } catch {
    return path;
  }
}
