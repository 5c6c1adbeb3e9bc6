import type { RowFacts } from "./schema.ts";
import type { TableRows } from "./table-rows.ts";
import type { Transaction } from "./transaction.ts";
import type { Value } from "./types.ts";

/** One execution of one statement. */
export type Run = {
  readonly params: readonly Value[];
  readonly tx: Transaction;
  readonly database: DatabaseFacts;
  /** The number of commits that the statement sees: those before it began. */
  readonly snapshot: number;
  /** Results of uncorrelated subqueries. */
  readonly memo: Map<object, unknown>;
};

export function once<T>({ memo }: Run, of: object, find: () => T): T {
  if (memo.has(of)) return memo.get(of) as T;
  const found = find();
  memo.set(of, found);
  return found;
}

/** The parts of a database that a statement uses. */
export type DatabaseFacts = RowFacts & {
  readonly rows: (table: string) => TableRows;
  readonly sequence: (name: string) => Sequence;
  /** Called when a row has changed since the statement began, and its conditions are evaluated again. */
  readonly onRecheck: () => void;
  /** Held until the transaction ends. Throws when another transaction holds it. */
  readonly lockAdvisory: (key: string, tx: Transaction) => void;
};

export type Sequence = { last: bigint; isUsed: boolean };
