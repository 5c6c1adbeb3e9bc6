import { readDatabase } from "#kernel/postgres/database-identity.ts";
import { execute, fragment, matchesRow, maybeOne, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

const KNOWN = fragment`from fee_search where database = (select database_identity())`;

/**
 * The database of the connection when all fees that platform has are known in it, and when the transaction began, by its clock: before the
 * snapshot of what is read.
 */
export async function findKnownDatabase(
  db: Queryable,
): Promise<{ readonly database: string; readonly askedAt: Date } | undefined> {
  return await maybeOne(db, sql`select database, now() as "askedAt" ${KNOWN}`);
}

/** Whether all fees that platform has are known in the database of the connection: another one may have taken its place. */
export async function areFeesKnown(db: Queryable): Promise<boolean> {
  return await matchesRow(db, sql`select ${KNOWN}`);
}

/** Always, until all fees are known. */
export const nextSearch = fragment`(select '-infinity'::timestamptz where not exists (select ${KNOWN}))`;

export async function isDatabase(db: Queryable, database: string): Promise<boolean> {
  return (await readDatabase(db)) === database;
}

export type FeeSearch = {
  /** In which fees may be unknown. */
  readonly database: string;
  /** In which all fees were known last. */
  readonly lastDatabase: string | undefined;
  readonly afterTransferId: bigint;
  readonly begunForMs: number;
};

type Row = { readonly database: string | null; readonly begunIn: string | null; readonly after: bigint | null };

/**
 * Begins a search, or continues the one that was begun in this database. A payment is recorded before platform gives its transfer an id, so
 * the transfers up to the highest one that is recorded here have their payments. A search that has not ended keeps that id: it records
 * later transfers out of sequence.
 */
export async function beginSearch(tx: Transaction): Promise<FeeSearch> {
  await execute(tx, sql`insert into fee_search (is_only) values (true) on conflict (is_only) do nothing`);
  const row = await maybeOne<Row>(
    tx,
    sql`select database, begun_in as "begunIn", after_transfer_id as after from fee_search for update`,
  );
  const database = await readDatabase(tx);
  const afterTransferId = row?.after ?? (await readHighestTransfer(tx));
  if (row?.begunIn !== database) {
    await execute(
      tx,
      sql`update fee_search
          set begun_in = ${database}, begun_at = clock_timestamp(), after_transfer_id = ${afterTransferId}`,
    );
  }
  const { ms } = await one<{ ms: bigint }>(
    tx,
    sql`select (extract(epoch from clock_timestamp() - begun_at) * 1000)::bigint as ms from fee_search`,
  );
  return { database, lastDatabase: row?.database ?? undefined, afterTransferId, begunForMs: Number(ms) };
}

/** False when another database has taken its place meanwhile. */
export async function endSearch(tx: Transaction, database: string): Promise<boolean> {
  const ended = await execute(
    tx,
    sql`update fee_search
        set database = ${database}, begun_in = null, begun_at = null, after_transfer_id = null
        where (begun_in = ${database} or database = ${database}) and (select database_identity()) = ${database}`,
  );
  return ended === 1;
}

async function readHighestTransfer(tx: Transaction): Promise<bigint> {
  const highest = await maybeOne<{ id: bigint }>(
    tx,
    sql`select transfer_id as id from fee_payment where transfer_id is not null order by transfer_id desc limit 1`,
  );
  return highest?.id ?? 0n;
}
