/** The commands whose permits the database has lost. */
export class RewindWatch {
  readonly #lost = new Set<string>();
  #hasRewound = false;

  get hasRewound(): boolean {
    return this.#hasRewound;
  }

  onRewind(lost: readonly string[]): void {
    this.#hasRewound = true;
    for (const reference of lost) this.#lost.add(reference);
  }

  isLost(reference: string): boolean {
    return this.#lost.has(reference);
  }
}
