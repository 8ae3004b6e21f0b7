// Pages that are opened from a disk may not start workers. There, run a worker's script in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = (this.frame = frame.contentWindow);
      inside.postMessageToPage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      };
      const page = frame.contentDocument;
      page.open();
      page.write(
        `<script>postMessage = postMessageToPage; importScripts = (...all) => all.reduce((before, from) => before.then(() =>` +
          ` new Promise((done, fail) => document.body.append(Object.assign(document.createElement("script"),` +
          ` { src: from, onload: done, onerror: fail })))), Promise.resolve())</script>` +
          `<body><script src="${address}"></script></body>`,
      );
      page.close();
      this.ready = new Promise((done) => (inside.onload = done));
    }
    postMessage(data) {
      this.ready.then(() => this.frame.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.frameElement.remove();
    }
  };
}
