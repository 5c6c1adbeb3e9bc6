import { column, execute, type Fragment, fragment, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

const ANY_LOGIN = fragment`true`;

function bookedDeals(server: string, deals: readonly bigint[], ofLogin = ANY_LOGIN): Fragment {
  return fragment`select deal_id
        from log_entry
        where server = ${server} and deal_id = any (${deals}::bigint[]) and ${ofLogin} and kind <> 'amendment'
        union
        select deal_id from adopted_deal where server = ${server} and deal_id = any (${deals}::bigint[]) and ${ofLogin}`;
}

/**
 * Those of the deals that are in a log, were in the history before their account was adopted, or belong to legs: a
 * Master's leg is in no log until the reader reaches its deal. With a login only records of it count: the ticket on another login explains
 * nothing there.
 */
export async function listExplainedDeals(
  db: Queryable,
  server: string,
  deals: readonly bigint[],
  login?: string,
): Promise<ReadonlySet<bigint>> {
  const ofLogin = login === undefined ? ANY_LOGIN : fragment`login = ${login}`;
  const explained = await column<bigint>(
    db,
    sql`${bookedDeals(server, deals, ofLogin)}
        union
        select deal_id from leg where server = ${server} and deal_id = any (${deals}::bigint[]) and ${ofLogin}`,
  );
  return new Set(explained);
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
  return new Set(await column<bigint>(db, sql`${bookedDeals(server, deals)}`));
}

/** Those of the tickets that were in the history before their account was adopted. */
export async function listAdoptedDeals(
  db: Queryable,
  server: string,
  tickets: readonly bigint[],
): Promise<ReadonlySet<bigint>> {
  if (tickets.length === 0) return new Set();
  const adopted = await column<bigint>(
    db,
    sql`select deal_id from adopted_deal where server = ${server} and deal_id = any (${tickets}::bigint[])`,
  );
  return new Set(adopted);
}
