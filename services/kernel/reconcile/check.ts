import type { PoolClient } from "pg";
import type { Pool } from "../postgres/pool.ts";
import { execute, type Queryable, sql } from "../postgres/query.ts";

/** Something that does not tie, as one look saw it. */
export type Finding = {
  /** What it is about within its check. As long as it is the same, it is the same break. */
  readonly key: string;
  /** The account on which it shows; empty when it is about none. */
  readonly login: string;
  /** The Master that has to stop for it; empty when none has. */
  readonly masterLogin: string;
  /** Cents, never negative. */
  readonly atRiskMinor: bigint;
  readonly operationIds: readonly string[];
  /** Tickets. */
  readonly dealIds: readonly bigint[];
  /** One sentence for people. */
  readonly message: string;
  /** What was compared, in plain values; amounts as text. */
  readonly evidence: Readonly<Record<string, unknown>>;
};

/** A break that is open, or was seen too seldom to be opened yet. */
export type PendingBreak = Pick<Finding, "key" | "login">;

export type CheckRun = {
  readonly findings: readonly Finding[];
  /** Whether this look would have seen the break again if it were still there: only then is it closed. */
  readonly covers: (pendingBreak: PendingBreak) => boolean;
  /** Where the next look goes on; empty when this one came to the end. */
  readonly nextCursor: string;
};

export type RunRequest = {
  /** Where the look before ended; empty at the beginning. */
  readonly cursor: string;
  /** What is not closed yet. Whoever does not look at everything looks at these. */
  readonly pendingBreaks: readonly PendingBreak[];
};

/** Compares what has to be equal. Its SQL is its own: a check that uses the code it checks repeats its mistakes. */
export type Check = {
  /** As in docs/reconciliation.md, for example R3. */
  readonly name: string;
  /** What it compares, in a few words. */
  readonly title: string;
  readonly everyMs: number;
  /**
   * How many looks in a row have to see a break before it is opened: 1 where one snapshot of own tables is compared, 2 where
   * something moves between two readings.
   */
  readonly confirmations: 1 | 2;
  readonly run: (request: RunRequest) => Promise<CheckRun>;
};

/** A look stores at most so many breaks; one that finds more is not complete. */
export const MAX_FINDINGS = 1_000;

const STATEMENT_TIMEOUT_MS = 10_000;

/** One state of the tables for every question of a look. Writes nothing, and waits for nobody. */
export async function inSnapshot<T>(pool: Pool, read: (db: Queryable) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  const broken: { error?: Error } = {};
  const onError = (error: Error): void => {
    broken.error = error;
  };
  client.on("error", onError);
  try {
    const seen = await readWithin(client, read);
    await client.query("commit");
    return seen;
  } catch (error) {
    await client.query("rollback").catch((failed: Error) => onError(failed));
    throw error;
  } finally {
    client.off("error", onError);
    client.release(broken.error);
  }
}

async function readWithin<T>(client: PoolClient, read: (db: Queryable) => Promise<T>): Promise<T> {
  await client.query("begin isolation level repeatable read, read only");
  await execute(client, sql`select set_config('statement_timeout', ${String(STATEMENT_TIMEOUT_MS)}, true)`);
  return await read(client);
}
