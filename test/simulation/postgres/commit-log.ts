import type { Row } from "./row.ts";
import type { Sequence } from "./run.ts";
import type { HeldRow } from "./transaction.ts";
import type { Values } from "./types.ts";

type Commit = {
  readonly atMs: number;
  readonly before: readonly { readonly row: Row; readonly values: Values | undefined }[];
  readonly sequences: ReadonlyMap<string, Sequence>;
};

/** The commits of a database, so that it can lose the last ones. */
export class CommitLog {
  readonly #sequences: ReadonlyMap<string, Sequence>;
  readonly #nowMs: () => number;
  #commits: Commit[] = [];

  constructor(sequences: ReadonlyMap<string, Sequence>, nowMs: () => number) {
    this.#sequences = sequences;
    this.#nowMs = nowMs;
  }

  /** Called before the rows are committed. */
  add(changed: readonly HeldRow[]): void {
    if (changed.length === 0) return;
    this.#commits.push({
      atMs: this.#nowMs(),
      before: changed.map((held) => ({ row: held as Row, values: (held as Row).committed })),
      sequences: new Map(Array.from(this.#sequences, ([name, sequence]) => [name, { ...sequence }])),
    });
  }

  /** Undoes all commits since an instant. Sequences are logged in steps, so a standby has them up to `ahead` further on. */
  undo(sinceMs: number, ahead: bigint): void {
    const lost = this.#commits.filter(({ atMs }) => atMs > sinceMs);
    this.#commits = this.#commits.filter(({ atMs }) => atMs <= sinceMs);
    for (const { before } of lost.toReversed()) for (const { row, values } of before) row.rewindTo(values);
    for (const [name, kept] of this.#commits.at(-1)?.sequences ?? []) {
      const sequence = this.#sequences.get(name)!;
      sequence.isUsed = kept.isUsed || ahead > 0n;
      sequence.last = kept.last + ahead;
    }
  }
}
