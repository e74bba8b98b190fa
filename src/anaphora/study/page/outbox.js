// Answers on their way: kept on this device until the server has them on its disk, sent in order, sent again if need be.
const FIRST_PAUSE = 1000, LONGEST_PAUSE = 20000, PATIENCE = 15000; // milliseconds
const ROOM = 15000; // bytes of one request, of which the server takes 16 kB

export class Outbox {
  #url; #key; #changed; #sending = false; #failing = false; #refused = null; #pause = FIRST_PAUSE; #timer = null;
  #memory = null; // where there is no storage (a private window, a full disk) the page itself keeps the answers

  // changed({waiting, failing, refused}) is called whenever something is different.
  constructor(url, key, changed) {
    [this.#url, this.#key, this.#changed] = [url, key, changed];
    addEventListener("online", () => this.flush());
    addEventListener("pageshow", () => this.flush());
    addEventListener("pagehide", () => this.#leave());
    document.addEventListener("visibilitychange", () => { if (document.hidden) this.#leave(); }); // perhaps for good
  }

  get waiting() {
    if (this.#memory !== null) return this.#memory;
    try {
      return JSON.parse(localStorage.getItem(this.#key) ?? "[]");
    } catch {
      return [];
    }
  }

  get status() {
    return { waiting: this.waiting.length, failing: this.#failing, refused: this.#refused };
  }

  #keep(list) {
    try {
      if (this.#memory === null) localStorage.setItem(this.#key, JSON.stringify(list));
      else this.#memory = list;
    } catch {
      this.#memory = list;
    }
  }

  add(answer) {
    this.#keep([...this.waiting, answer]);
    this.flush();
  }

  async flush() {
    clearTimeout(this.#timer);
    if (this.#sending) return;
    this.#sending = true;
    this.#failing = false;
    for (let [next] = this.waiting; next; [next] = this.waiting) {
      this.#changed(this.status);
      const outcome = await this.#send(next);
      this.#failing = outcome === "later";
      if (this.#failing) break;
      if (outcome !== "stored") this.#refused = outcome;
      this.#keep(this.waiting.filter((one) => one.request !== next.request));
      this.#pause = FIRST_PAUSE;
    }
    this.#sending = false;
    if (this.#failing) {
      this.#timer = setTimeout(() => this.flush(), this.#pause);
      this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE);
    }
    this.#changed(this.status);
  }

  async #send(answer) {
    try {
      const reply = await fetch(this.#url, { ...post(answer), signal: AbortSignal.timeout(PATIENCE) });
      if (reply.ok) return (await reply.json()).stored === answer.request ? "stored" : "later";
      if (reply.status >= 500 || reply.status === 408 || reply.status === 429) return "later";
      return (await reply.json().catch(() => ({}))).detail ?? `error ${reply.status}`;
    } catch {
      return "later"; // no network, or no server
    }
  }

  // The page goes: what waits is sent at once, in one request that outlives the page. Nobody hears the reply, so the
  // answers stay here as well; the server keeps an answer that comes twice once.
  #leave() {
    const going = [];
    let room = ROOM;
    for (const answer of this.waiting) {
      room -= new Blob([JSON.stringify(answer)]).size + 1;
      if (room < 0) break;
      going.push(answer);
    }
    if (going.length) fetch(this.#url.replace(/answers$/, "outbox"), { ...post(going), keepalive: true }).catch(() => {});
  }
}

const post = (content) => ({ method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(content) });

// An identifier by which the server knows an answer that comes twice; crypto.randomUUID needs https.
export function freshId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
