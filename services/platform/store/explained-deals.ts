import { execute, type Fragment, fragment, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

function bookedDeals(server: string, deals: readonly bigint[]): Fragment {
  return fragment`select deal_id
        from log_entry
        where server = ${server} and deal_id = any (${deals}::bigint[]) and kind <> 'amendment'
        union
        select deal_id from adopted_deal where server = ${server} and deal_id = any (${deals}::bigint[])`;
}

/**
 * Those of the deals that are in a log, were in the history before their account was adopted, or belong to legs: a
 * Master's leg is in no log until the reader reaches its deal.
 */
export async function listExplainedDeals(
  db: Queryable,
  server: string,
  deals: readonly bigint[],
): Promise<ReadonlySet<bigint>> {
  const rows = await many<{ deal_id: bigint }>(
    db,
    sql`${bookedDeals(server, deals)}
        union
        select deal_id from leg where server = ${server} and deal_id = any (${deals}::bigint[])`,
  );
  return new Set(rows.map(({ deal_id: id }) => id));
}

/** Like `listExplainedDeals`, but only records of this login count: the ticket on another login explains nothing here. */
export async function listExplainedDealsOf(
  db: Queryable,
  server: string,
  login: string,
  deals: readonly bigint[],
): Promise<ReadonlySet<bigint>> {
  const rows = await many<{ deal_id: bigint }>(
    db,
    sql`select deal_id
        from log_entry
        where server = ${server} and deal_id = any (${deals}::bigint[]) and login = ${login} and kind <> 'amendment'
        union
        select deal_id
        from adopted_deal
        where server = ${server} and deal_id = any (${deals}::bigint[]) and login = ${login}
        union
        select deal_id
        from leg
        where server = ${server} and deal_id = any (${deals}::bigint[]) and login = ${login}`,
  );
  return new Set(rows.map(({ deal_id: id }) => id));
}

export async function insertAdoptedDeals(
  tx: Transaction,
  server: string,
  login: string,
  deals: readonly bigint[],
): Promise<void> {
  await execute(
    tx,
    sql`insert into adopted_deal (server, deal_id, login)
        select ${server}, deal, ${login} from unnest(${deals}::bigint[]) as adopted (deal)`,
  );
}

/** Those of the deals that are in a log, or were in the history before their account was adopted. */
export async function listBookedDeals(
  db: Queryable,
  server: string,
  deals: readonly bigint[],
): Promise<ReadonlySet<bigint>> {
  if (deals.length === 0) return new Set();
  const rows = await many<{ deal_id: bigint }>(db, sql`${bookedDeals(server, deals)}`);
  return new Set(rows.map(({ deal_id: id }) => id));
}

/** Those of the tickets that were in the history before their account was adopted. */
export async function listAdoptedDeals(
  db: Queryable,
  server: string,
  tickets: readonly bigint[],
): Promise<ReadonlySet<bigint>> {
  if (tickets.length === 0) return new Set();
  const rows = await many<{ deal_id: bigint }>(
    db,
    sql`select deal_id from adopted_deal where server = ${server} and deal_id = any (${tickets}::bigint[])`,
  );
  return new Set(rows.map(({ deal_id: id }) => id));
}
