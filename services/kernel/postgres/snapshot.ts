import type { PoolClient } from "pg";
import type { Pool } from "./pool.ts";
import type { Queryable } from "./query.ts";

/** It may scan thousands of rows; the usual time limit of a statement is for single rows. */
const STATEMENT_TIMEOUT_MS = 10_000;
const BEGIN = `begin isolation level repeatable read, read only; set local statement_timeout = ${STATEMENT_TIMEOUT_MS}`;

/** Runs all queries of `read` on one snapshot of the tables. Writes nothing and waits for no lock. */
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
  await client.query(BEGIN);
  return await read(client);
}
