import { MustWait, type Replacing, type Transaction } from "./transaction.ts";
import type { Value, Values } from "./types.ts";

/** Called whenever a version of a row has changed; `outdated` may no longer be one of its versions. */
export type Index = {
  readonly reindex: (row: Row, outdated: Values | undefined) => void;
  /** Called when an earlier version is the committed one again. */
  readonly restored: (row: Row) => void;
};

/** A version that later commits have replaced; statements that began before commit `until` still see it. */
type Older = { readonly values: Values | undefined; readonly until: number };

/** A row that a commit has written, and not deleted. */
export type WrittenRow = { readonly table: string; readonly committed: Values };

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
  #older: readonly Older[] = [];
  /** The latest statement that wrote it, and whether its transaction had written it before. */
  #writtenBy: object | undefined = undefined;
  #earlier: { readonly pending: Values | undefined } | undefined = undefined;

  constructor(table: string, index: Index) {
    this.table = table;
    this.#index = index;
  }

  /** The newest version, as constraints and locks see it. */
  seenBy(tx: Transaction): Values | undefined {
    return this.hasPending && this.owner === tx ? this.pending : this.committed;
  }

  /** The version that a statement sees: changes of others up to its beginning, and of its own transaction before it. */
  visibleTo(tx: Transaction, snapshot: number): Values | undefined {
    if (this.hasPending && this.owner === tx) {
      if (this.#writtenBy !== tx.statement) return this.pending;
      if (this.#earlier !== undefined) return this.#earlier.pending;
    }
    const older = this.#older.find(({ until }) => until > snapshot);
    return older === undefined ? this.committed : older.values;
  }

  isWrittenBy(statement: object): boolean {
    return this.#writtenBy === statement;
  }

  /** Whether an older version that some statement may see has this value. */
  hadValue(column: string, value: Value): boolean {
    return this.#older.some(({ values }) => values !== undefined && (values[column] ?? null) === value);
  }

  get hasOlder(): boolean {
    return this.#older.length > 0;
  }

  /** No statement sees older versions any more. */
  forgetOlder(): void {
    const older = this.#older;
    this.#older = [];
    for (const { values } of older) this.#index.reindex(this, values);
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
    if (this.#writtenBy !== tx.statement) {
      this.#writtenBy = tx.statement;
      this.#earlier = this.hasPending ? { pending: before } : undefined;
    }
    this.pending = values;
    this.hasPending = true;
    this.#index.reindex(this, before);
  }

  restore(pending: Values | undefined, hadPending: boolean): void {
    const before = this.pending;
    this.#writtenBy = undefined;
    this.pending = pending;
    this.hasPending = hadPending;
    this.#index.reindex(this, before);
  }

  commit(tx: Transaction, { commit, keepsOlder }: Replacing): void {
    if (this.owner === tx && this.hasPending) {
      const before = this.committed;
      if (keepsOlder) this.#older = [...this.#older, { values: before, until: commit }];
      this.committed = this.pending;
      this.#settle(before);
    }
    this.#free(tx);
  }

  /** The database has lost the commits that made the newest version; no transaction is open. */
  rewindTo(values: Values | undefined): void {
    const before = this.committed;
    this.committed = values;
    this.#index.restored(this);
    this.#index.reindex(this, before);
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
