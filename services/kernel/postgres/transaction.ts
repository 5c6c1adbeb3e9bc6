import assert from "node:assert/strict";
import { DatabaseError, type Pool, type PoolClient } from "pg";
import type { Brand } from "../values/brand.ts";
import { CommitUnknown, isPlanOutdated } from "./failure.ts";
import type { Queryable } from "./query.ts";

/** Created only by inTransaction. A function that must be atomic with others has it as a parameter. */
export type Transaction = Brand<PoolClient, "Transaction">;

type Write<Item> = (tx: Transaction, items: readonly Item[]) => Promise<void>;

type State = {
  readonly pool: Pool;
  /** What each write stores right before the commit. */
  readonly gathered: Map<Write<never>, unknown[]>;
  readonly callbacks: Set<() => void>;
};

const open = new WeakMap<Transaction, State>();

/** Commits what the work did, or nothing when it throws. The work never calls another process. */
export async function inTransaction<T>(pool: Pool, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const state: State = { pool, gathered: new Map(), callbacks: new Set() };
  const result = await onConnection(pool, async (connection) => {
    const { client } = connection;
    const tx = client as Transaction;
    open.set(tx, state);
    try {
      await client.query("begin");
      const done = await work(tx);
      for (const [write, items] of state.gathered) await write(tx, items as never[]);
      if (connection.unfit !== undefined) throw connection.unfit;
      await commit(client);
      return done;
    } catch (error) {
      connection.unfit ??= error instanceof CommitUnknown || isPlanOutdated(error) ? error : await rollback(client);
      throw error;
    } finally {
      open.delete(tx);
    }
  });
  for (const callback of state.callbacks) callback();
  return result;
}

/**
 * Runs one statement, which commits by itself. Throws CommitUnknown when the connection is lost while it runs, because the
 * server may have committed it.
 */
export async function autocommit<T>(pool: Pool, statement: (client: PoolClient) => Promise<T>): Promise<T> {
  return await onConnection(pool, async (connection) => {
    try {
      return await statement(connection.client);
    } catch (error) {
      if (isPlanOutdated(error)) connection.unfit = error;
      if (isRolledBack(error)) throw error;
      connection.unfit = new CommitUnknown(error);
      throw connection.unfit;
    }
  });
}

/** It may scan thousands of rows; the usual time limit of a statement is for single rows. */
const SNAPSHOT_TIMEOUT_MS = 10_000;
const BEGIN_SNAPSHOT = `begin isolation level repeatable read, read only; set local statement_timeout = ${SNAPSHOT_TIMEOUT_MS}`;

/** Runs all queries of `read` on one snapshot of the tables. Writes nothing and waits for no lock. */
export async function inSnapshot<T>(pool: Pool, read: (db: Queryable) => Promise<T>): Promise<T> {
  return await onConnection(pool, async (connection) => {
    const { client } = connection;
    try {
      await client.query(BEGIN_SNAPSHOT);
      const seen = await read(client);
      await client.query("commit");
      return seen;
    } catch (error) {
      connection.unfit ??= await rollback(client);
      throw error;
    }
  });
}

type Connection = {
  readonly client: PoolClient;
  /** Why the pool has to replace the connection. */
  unfit: Error | undefined;
};

async function onConnection<T>(pool: Pool, work: (connection: Connection) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  const connection: Connection = { client, unfit: undefined };
  const onError = (error: Error): void => {
    connection.unfit = error;
  };
  // The pool listens to idle clients only; a connection that dies between two statements would crash the process.
  client.on("error", onError);
  try {
    return await work(connection);
  } finally {
    client.off("error", onError);
    client.release(connection.unfit);
  }
}

/**
 * Gathers items that `write` stores in one call after all other work of the transaction, right before its commit: a lock
 * that it takes is held for the commit only, and is the last one.
 */
export function beforeCommit<Item>(tx: Transaction, write: Write<Item>, items: readonly Item[]): void {
  if (items.length === 0) return;
  const { gathered } = stateOf(tx);
  const known = gathered.get(write) ?? [];
  known.push(...items);
  gathered.set(write, known);
}

/** Runs after the commit, for wake-up signals that must not come before it. The same function runs once. */
export function afterCommit(tx: Transaction, callback: () => void): void {
  stateOf(tx).callbacks.add(callback);
}

/** The pool whose connection the transaction uses. */
export function poolOf(tx: Transaction): Pool {
  return stateOf(tx).pool;
}

function stateOf(tx: Transaction): State {
  const state = open.get(tx);
  assert(state !== undefined, "the transaction is over");
  return state;
}

async function commit(client: PoolClient): Promise<void> {
  const { command } = await client.query("commit").catch((error: unknown) => {
    throw isRolledBack(error) ? error : new CommitUnknown(error);
  });
  assert.equal(command, "COMMIT", "a statement of the transaction failed and its error was swallowed");
}

/** A server that closes the connection reports FATAL, even when the commit is already on disk. */
function isRolledBack(error: unknown): boolean {
  return error instanceof DatabaseError && error.severity === "ERROR";
}

/** Returns the error that makes the connection unfit for the pool, if there is one. */
async function rollback(client: PoolClient): Promise<Error | undefined> {
  try {
    await client.query("rollback");
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error("rollback failed", { cause: error });
  }
}
