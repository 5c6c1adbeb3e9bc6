import { MustWait, type Transaction } from "./transaction.ts";
import type { Values } from "./types.ts";

/** Called whenever a version of a row has changed; `outdated` may no longer be one of its versions. */
export type Index = { readonly reindex: (row: Row, outdated: Values | undefined) => void };

/** A row with its committed version and the version of the transaction that changes it. */
export class Row {
  readonly table: string;
  readonly #index: Index;
  /** Undefined when the row does not exist. */
  committed: Values | undefined = undefined;
  pending: Values | undefined = undefined;
  hasPending = false;
  /** The transaction with the exclusive lock, whether it changed the row or only locked it. */
  owner: Transaction | undefined = undefined;
  #sharers: Transaction[] = [];

  constructor(table: string, index: Index) {
    this.table = table;
    this.#index = index;
  }

  seenBy(tx: Transaction): Values | undefined {
    return this.hasPending && this.owner === tx ? this.pending : this.committed;
  }

  /** The transaction whose lock keeps this one from locking the row. */
  blockerOf(tx: Transaction, mode: "share" | "update"): Transaction | undefined {
    if (this.owner !== undefined && this.owner !== tx) return this.owner;
    return mode === "share" ? undefined : this.#sharers.find((sharer) => sharer !== tx);
  }

  lock(tx: Transaction, mode: "share" | "update"): void {
    const blocker = this.blockerOf(tx, mode);
    if (blocker !== undefined) throw new MustWait(blocker);
    tx.holds(this);
    if (mode === "update") this.owner = tx;
    else if (!this.#sharers.includes(tx)) this.#sharers.push(tx);
  }

  /** Undefined values delete the row. */
  write(tx: Transaction, values: Values | undefined): void {
    this.lock(tx, "update");
    tx.remember(this);
    const before = this.pending;
    this.pending = values;
    this.hasPending = true;
    this.#index.reindex(this, before);
  }

  restore(pending: Values | undefined, hadPending: boolean): void {
    const before = this.pending;
    this.pending = pending;
    this.hasPending = hadPending;
    this.#index.reindex(this, before);
  }

  commit(tx: Transaction): void {
    if (this.owner === tx && this.hasPending) {
      const before = this.committed;
      this.committed = this.pending;
      this.#settle(before);
    }
    this.#free(tx);
  }

  rollback(tx: Transaction): void {
    if (this.owner === tx && this.hasPending) this.#settle(this.pending);
    this.#free(tx);
  }

  #settle(outdated: Values | undefined): void {
    this.pending = undefined;
    this.hasPending = false;
    this.#index.reindex(this, outdated);
  }

  #free(tx: Transaction): void {
    if (this.owner === tx) this.owner = undefined;
    if (this.#sharers.length > 0) this.#sharers = this.#sharers.filter((sharer) => sharer !== tx);
  }
}
