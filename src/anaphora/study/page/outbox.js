// Answers on their way: kept on this device until the server has them on its disk, sent in order, sent again if need be.
const FIRST_PAUSE = 1000, LONGEST_PAUSE = 20000, PATIENCE = 15000; // milliseconds

export class Outbox {
  #url; #key; #changed; #sending = false; #pause = FIRST_PAUSE; #timer = null; #memory = [];

  // changed({waiting, failing, refused}) is called whenever something is different.
  constructor(url, key, changed) {
    [this.#url, this.#key, this.#changed] = [url, key, changed];
    addEventListener("online", () => this.flush());
  }

  get waiting() {
    try {
      return JSON.parse(localStorage.getItem(this.#key) ?? "[]");
    } catch {
      return this.#memory; // no storage here (a private window): the page itself keeps them
    }
  }

  #keep(list) {
    this.#memory = list;
    try {
      localStorage.setItem(this.#key, JSON.stringify(list));
    } catch { /* kept in memory */ }
  }

  add(answer) {
    this.#keep([...this.waiting, answer]);
    this.flush();
  }

  async flush() {
    clearTimeout(this.#timer);
    if (this.#sending) return;
    this.#sending = true;
    let refused = null, failing = false;
    for (let [next] = this.waiting; next && !failing; [next] = this.waiting) {
      this.#changed({ waiting: this.waiting.length, failing, refused });
      const outcome = await this.#send(next);
      failing = outcome === "later";
      if (failing) break;
      if (outcome !== "stored") refused = outcome;
      this.#keep(this.waiting.filter((one) => one.request !== next.request));
      this.#pause = FIRST_PAUSE;
    }
    this.#sending = false;
    if (failing) {
      this.#timer = setTimeout(() => this.flush(), this.#pause);
      this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE);
    }
    this.#changed({ waiting: this.waiting.length, failing, refused });
  }

  async #send(answer) {
    try {
      const reply = await fetch(this.#url, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(answer),
        signal: AbortSignal.timeout(PATIENCE),
      });
      if (reply.ok) return (await reply.json()).stored === answer.request ? "stored" : "later";
      if (reply.status >= 500 || reply.status === 408 || reply.status === 429) return "later";
      return (await reply.json().catch(() => ({}))).detail ?? `error ${reply.status}`;
    } catch {
      return "later"; // no network, or no server
    }
  }
}

// An identifier by which the server knows an answer that comes twice; crypto.randomUUID needs https.
export function freshId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
