import pg from "pg";
import { vi } from "vitest";

/** What one transaction did. */
export type MeasuredTransaction = {
  /** Rows that were read, and values that were bound. */
  readonly rows: number;
  readonly statements: number;
};

type Answer = { readonly rows?: readonly unknown[] };

/** The transactions that `work` has ended, by the database. */
export async function measureTransactions(work: () => Promise<unknown>): Promise<MeasuredTransaction[]> {
  const ended: MeasuredTransaction[] = [];
  const open = new WeakMap<pg.Client, { rows: number; statements: number }>();
  const original = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  const spy = vi.spyOn(pg.Client.prototype, "query").mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const [statement] = args as [string | { readonly values?: readonly unknown[] }];
    if (statement === "begin") open.set(this, { rows: 0, statements: 0 });
    const transaction = open.get(this);
    const answer = original.apply(this, args);
    if (transaction === undefined || !(answer instanceof Promise)) return answer;
    if (typeof statement === "object") {
      const [most = 0] = (statement.values ?? []).map(lengthOf).toSorted((left, right) => right - left);
      transaction.rows += most;
      transaction.statements += 1;
    }
    if (statement === "commit" || statement === "rollback") {
      open.delete(this);
      ended.push(transaction);
    }
    return answer.then((result: Answer) => {
      transaction.rows += result.rows?.length ?? 0;
      return result;
    });
  } as never);
  try {
    await work();
    return ended;
  } finally {
    spy.mockRestore();
  }
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 1;
}
