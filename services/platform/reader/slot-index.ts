/** Finds rows of a table by a hash of their key. Eight bytes for each row: a bucket, and the next row of the same bucket. */
export class SlotIndex {
  /** One more than the row; zero ends a chain. */
  readonly #first: Uint32Array;
  readonly #next: Uint32Array;
  readonly #mask: number;

  /** `slots` is a power of two. */
  constructor(slots: number) {
    this.#first = new Uint32Array(slots);
    this.#next = new Uint32Array(slots);
    this.#mask = slots - 1;
  }

  find(hash: number, isSought: (slot: number) => boolean): number | undefined {
    for (let link = this.#firstOf(hash); link > 0; link = this.#nextOf(link)) {
      if (isSought(link - 1)) return link - 1;
    }
    return undefined;
  }

  add(hash: number, slot: number): void {
    this.#next[slot] = this.#firstOf(hash);
    this.#first[hash & this.#mask] = slot + 1;
  }

  remove(hash: number, slot: number): void {
    let previous = 0;
    for (let link = this.#firstOf(hash); link > 0; link = this.#nextOf(link)) {
      if (link - 1 === slot) {
        if (previous === 0) this.#first[hash & this.#mask] = this.#nextOf(link);
        else this.#next[previous - 1] = this.#nextOf(link);
        return;
      }
      previous = link;
    }
  }

  #firstOf(hash: number): number {
    return this.#first[hash & this.#mask] ?? 0;
  }

  #nextOf(link: number): number {
    return this.#next[link - 1] ?? 0;
  }
}
