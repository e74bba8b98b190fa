// How long a question was looked at, and how long ago it was asked. Breaks and hidden tabs count only for the latter.
export class Clock {
  #active = 0; #since = null; #asked = 0; #held = new Set();

  constructor() {
    const hidden = () => this.hold("hidden", document.hidden); // another tab, or a locked phone
    document.addEventListener("visibilitychange", hidden);
    hidden();
  }

  start() {
    this.#active = 0;
    this.#asked = Date.now();
    this.#since = this.#held.size ? null : performance.now();
  }

  // Stop, or go on unless something else holds the clock.
  hold(reason, held) {
    if (held) this.#held.add(reason);
    else this.#held.delete(reason);
    if (this.#held.size) {
      this.#active = this.#looked();
      this.#since = null;
    } else {
      this.#since ??= performance.now();
    }
  }

  #looked() {
    return this.#active + (this.#since === null ? 0 : performance.now() - this.#since);
  }

  read() {
    const active = this.#looked();
    const elapsed = Math.max(active, Date.now() - this.#asked); // the clock of the device may be put right meanwhile
    return { seconds: Math.round(active) / 1000, elapsed_seconds: Math.round(elapsed) / 1000 };
  }
}
