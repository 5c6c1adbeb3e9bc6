import type { Values } from "./types.ts";

/** How a commit replaces the version of a row. */
export type Replacing = { readonly commit: number; readonly keepsOlder: boolean };

/** A row that a transaction locked or changed. */
export type HeldRow = {
  readonly pending: Values | undefined;
  readonly hasPending: boolean;
  readonly owner: Transaction | undefined;
  readonly restore: (pending: Values | undefined, hadPending: boolean) => void;
  readonly commit: (tx: Transaction, replacing: Replacing) => void;
  readonly rollback: (tx: Transaction) => void;
};

/**
 * Thrown by a statement that needs a locked row: its changes are undone, and it runs again when the other transaction has
 * ended, with its locks and with the snapshot of its beginning, so that it finds the same rows as before.
 */
export class MustWait extends Error {
  override readonly name = "MustWait";
  readonly blocker: Transaction;

  constructor(blocker: Transaction) {
    super("the row is locked");
    this.blocker = blocker;
  }
}

type Undo = { readonly row: HeldRow; readonly pending: Values | undefined; readonly hadPending: boolean };

/** One transaction: its writes are visible to others after its commit, and its locks last until its end. */
export class Transaction {
  state: "active" | "failed" | "over" = "active";
  readonly id: number;
  /** Ends the transaction when its client was idle for longer than the server allows. */
  expireIfIdle: () => void = () => undefined;
  /** Identifies the statement that runs now. */
  statement: object = {};
  readonly #rows = new Set<HeldRow>();
  #undo: Undo[] = [];
  #waiting: (() => void)[] = [];
  readonly #ends: (() => void)[] = [];
  readonly #checks: (() => void)[] = [];

  constructor(id: number) {
    this.id = id;
  }

  /** Called before the row changes, so that an interrupted statement can be undone. */
  remember(row: HeldRow): void {
    this.#undo.push({ row, pending: row.pending, hadPending: row.hasPending });
    this.#rows.add(row);
  }

  holds(row: HeldRow): void {
    this.#rows.add(row);
  }

  /** Runs before the commit, for constraints that are checked there. */
  beforeCommit(check: () => void): void {
    this.#checks.push(check);
  }

  /** Runs after the end of the transaction, committed or not. */
  whenOver(end: () => void): void {
    this.#ends.push(end);
  }

  /** Runs once, after all locks of the transaction are released: a statement that waits for one of them. */
  whenFree(resume: () => void): void {
    this.#waiting.push(resume);
  }

  begin(): void {
    this.statement = {};
    this.#undo = [];
  }

  undoStatement(): void {
    for (const { row, pending, hadPending } of this.#undo.toReversed()) row.restore(pending, hadPending);
    this.#undo = [];
  }

  changed(): readonly HeldRow[] {
    return [...this.#rows].filter(({ hasPending, owner }) => hasPending && owner === this);
  }

  /** Returns the changed rows, for `onCommit`. */
  commit(replacing: Replacing): readonly HeldRow[] {
    for (const check of this.#checks) check();
    const changed = this.changed();
    for (const row of this.#rows) row.commit(this, replacing);
    this.#end();
    return changed;
  }

  rollback(): void {
    if (this.state === "over") return;
    for (const row of this.#rows) row.rollback(this);
    this.#end();
  }

  #end(): void {
    this.state = "over";
    for (const end of this.#ends) end();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }
}
