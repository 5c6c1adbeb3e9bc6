/**
 * The commands whose permits the database has lost. Those whose deals the platform has shown before permits are granted
 * again must be known from then on. The others are open: no reading can find a command that is executed later.
 */
export class RewindWatch {
  readonly #lost = new Set<string>();
  readonly #open = new Set<string>();
  #hasRewound = false;

  get hasRewound(): boolean {
    return this.#hasRewound;
  }

  onRewind(lost: readonly string[]): void {
    this.#hasRewound = true;
    for (const reference of lost) this.#lost.add(reference);
  }

  onGateOpen(shown: ReadonlySet<string>): void {
    for (const reference of this.#lost) if (!shown.has(reference)) this.#open.add(reference);
  }

  isLost(reference: string): boolean {
    return this.#lost.has(reference);
  }

  isOpen(reference: string): boolean {
    return this.#open.has(reference);
  }
}
