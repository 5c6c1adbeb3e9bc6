import {
  execute,
  fragment,
  type Fragment,
  maybeOne,
  one,
  type Queryable,
  sql,
  withoutNulls,
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { fenceUndecided } from "./accounts.ts";
import { HERE } from "./database-identity.ts";

/**
 * Notes that the platform's history was read since before any commit that this database may lack, except that of accounts that are fenced. In another
 * database it opens nothing.
 */
export async function openPermitGate(tx: Transaction, database: string): Promise<void> {
  await fenceUndecided(tx);
  await execute(tx, sql`update permit_gate set database = ${database}`);
}

/** What was calculated or reported until now is of an earlier generation, and outdated. */
export async function beginGeneration(tx: Transaction): Promise<void> {
  await execute(tx, sql`update permit_gate set generation = generation + 1`);
}

/** The database in which the history was read last, also while permits are stopped for what was found in it. */
export async function findReadDatabase(db: Queryable): Promise<string | undefined> {
  const found = await maybeOne<{ database: string | null }>(db, sql`select database from permit_gate`);
  return found?.database ?? undefined;
}

/** No permit is granted from the commit on, until operators resume. */
export async function stopPermits(tx: Transaction): Promise<void> {
  await execute(tx, sql`update permit_gate set stopped_at = coalesce(stopped_at, clock_timestamp())`);
}

export async function readGeneration(db: Queryable): Promise<bigint> {
  return (await one<{ generation: bigint }>(db, sql`select generation from permit_gate`)).generation;
}

/** What decides about permits, of one instant. */
export type GateFacts = {
  /** Since when operators have to decide; undefined while nothing is stopped. */
  readonly stoppedAt: Date | undefined;
  /** In this database, also while permits are stopped for what was found in it. While the history is being read, more deals that the database does not know may be found. */
  readonly isHistoryRead: boolean;
  /**
   * Whether permits have been stopped for a quiet period. Until then the platform may still execute a command that the database has lost,
   * after its history was read.
   */
  readonly wasQuiet: boolean;
  /** For two of them: an account that cannot be read since then does not keep the others from being repaired. */
  readonly wasQuietLong: boolean;
  readonly generation: bigint;
};

export async function findGateFacts(db: Queryable, quietPeriodMs: number): Promise<GateFacts> {
  return withoutNulls(await one<GateFacts>(db, sql`${gateFacts(quietPeriodMs)}`));
}

/**
 * Nothing is stopped or resumed until the transaction ends. Accounts whose deals are not all in the log stay without permits when it resumes; they
 * are locked before the gate, as when the gate is opened.
 */
export async function lockGate(tx: Transaction, quietPeriodMs: number): Promise<GateFacts> {
  await fenceUndecided(tx);
  return withoutNulls(await one<GateFacts>(tx, sql`${gateFacts(quietPeriodMs)} for update`));
}

function gateFacts(quietPeriodMs: number): Fragment {
  return fragment`select stopped_at as "stoppedAt", coalesce(database = ${HERE}, false) as "isHistoryRead",
                    coalesce(stopped_at <= clock_timestamp() - ${quietPeriodMs} * interval '1 millisecond', false) as "wasQuiet",
                    coalesce(stopped_at <= clock_timestamp() - ${2 * quietPeriodMs} * interval '1 millisecond', false) as "wasQuietLong",
                    generation
             from permit_gate`;
}

/** The caller has locked the gate, and decided by its facts. */
export async function resumePermits(tx: Transaction): Promise<void> {
  await execute(tx, sql`update permit_gate set stopped_at = null`);
}
