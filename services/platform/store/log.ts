import assert from "node:assert/strict";
import { execute, many, sql } from "#kernel/postgres/query.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { LogEntry, NewEntry } from "../domain/log-entry.ts";
import type { Role } from "../domain/role.ts";
import { entryOf } from "./log-row.ts";
import type { LogRow } from "./log-row.ts";

/** An entry with its place in its login's log. */
export type NumberedEntry = NewEntry & { readonly login: string; readonly role: Role; readonly number: bigint };

/**
 * Whoever calls holds the locks of the accounts, and numbers on from the end of each log. The account's row carries that
 * end and the sum, so that permits and lanes need one row only.
 */
export async function insertEntries(
  tx: Transaction,
  server: string,
  entries: readonly NumberedEntry[],
): Promise<LogEntry[]> {
  const trades = entries.map(({ trade, shownTrade }) => trade ?? shownTrade);
  const rows = await many<{ id: bigint; moved: bigint }>(
    tx,
    sql`with added as (
        insert into log_entry (login, number, kind, amount_minor, operation_number, transfer_id, key, server, deal_id,
                               deal_at, server_msc, action, entry, position_id, symbol, volume, volume_closed,
                               profit_minor, swap_minor, commission_minor, fee_minor, irregularity, deal_state,
                               corrected_deal_id)
        select login, number, kind, amount, operation, transfer, key,
               case when deal is not null then ${server}::text end, case when kind <> 'correction' then deal end, deal_at,
               server_msc, action, entry, position, symbol, volume, closed, profit, swap, commission, fee, irregularity,
               deal_state, case when kind = 'correction' then deal end
        from unnest(
          ${entries.map(({ login }) => login)}::text[],
          ${entries.map(({ number }) => number)}::bigint[],
          ${entries.map(({ kind }) => kind)}::text[],
          ${entries.map(({ amount }) => amount.minor)}::bigint[],
          ${entries.map(({ cause }) => cause?.operation)}::bigint[],
          ${entries.map(({ cause }) => cause?.transferId)}::bigint[],
          ${entries.map(({ cause }) => cause?.key ?? "")}::text[],
          ${entries.map(({ deal }) => deal?.id)}::bigint[],
          ${entries.map(({ at }) => at)}::timestamptz[],
          ${entries.map(({ deal }) => deal?.serverMsc)}::bigint[],
          ${trades.map((trade) => trade?.action)}::smallint[],
          ${trades.map((trade) => trade?.entry)}::smallint[],
          ${trades.map((trade) => trade?.positionId)}::bigint[],
          ${trades.map((trade) => trade?.symbol)}::text[],
          ${trades.map((trade) => trade?.volume)}::bigint[],
          ${trades.map((trade) => trade?.volumeClosed)}::bigint[],
          ${trades.map((trade) => trade?.profit.minor)}::bigint[],
          ${trades.map((trade) => trade?.swap.minor)}::bigint[],
          ${trades.map((trade) => trade?.commission.minor)}::bigint[],
          ${trades.map((trade) => trade?.fee.minor)}::bigint[],
          ${entries.map(({ irregularity }) => irregularity)}::text[],
          ${entries.map(({ dealState }) => dealState ?? 0)}::smallint[]
        ) with ordinality as added (login, number, kind, amount, operation, transfer, key, deal, deal_at, server_msc,
                                    action, entry, position, symbol, volume, closed, profit, swap, commission, fee,
                                    irregularity, deal_state, place)
        order by place
        returning id, login, number, amount_minor
        ), ended as (
          select login, max(number) as number, max(id) as id, sum(amount_minor)::bigint as added
          from added
          group by login
        ), moved as (
          update account
          set log_number = ended.number, log_entry_id = ended.id, log_minor = log_minor + ended.added
          from ended
          where account.login = ended.login and log_number < ended.number
          returning account.login
        )
        select id, (select count(*) from moved) as moved from added order by id`,
  );
  const logins = new Set(entries.filter(({ number }) => number > 0n).map(({ login }) => login));
  assert.equal(Number(rows[0]?.moved ?? 0n), logins.size, "a log was added to without its account being locked");
  return entries.map((entry, index) => ({ ...entry, id: rows[index]?.id ?? 0n }));
}

export async function listEntries(db: Queryable, login: string, after: bigint, limit: number): Promise<LogEntry[]> {
  const rows = await many<LogRow>(
    db,
    sql`select log_entry.id, log_entry.login, role, number, kind, amount_minor, operation_number, transfer_id, key,
               coalesce(deal_id, corrected_deal_id) as deal_id, deal_at, server_msc, action, entry, position_id, symbol,
               volume, volume_closed, profit_minor, swap_minor, commission_minor, fee_minor, irregularity, deal_state
        from log_entry
        join account on account.login = log_entry.login
        where log_entry.login = ${login} and number > ${after}
        order by number
        limit ${limit}`,
  );
  return rows.map(entryOf);
}

/**
 * Which of these deals are in a log, or stood in the history before their account was adopted, or are those of operations:
 * a Master's own stand in no log until the reader reaches them.
 */
export async function listExplainedDeals(
  db: Queryable,
  server: string,
  deals: readonly bigint[],
): Promise<ReadonlySet<bigint>> {
  const rows = await many<{ deal_id: bigint }>(
    db,
    sql`select deal_id
        from log_entry
        where server = ${server} and deal_id = any (${deals}::bigint[]) and kind <> 'irregularity'
        union
        select deal_id from adopted_deal where server = ${server} and deal_id = any (${deals}::bigint[])
        union
        select deal_id from operation where server = ${server} and deal_id = any (${deals}::bigint[])`,
  );
  return new Set(rows.map(({ deal_id: id }) => id));
}

/** The same, asked about the deals of one login: what bears the ticket on another one explains nothing here. */
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
        where server = ${server} and deal_id = any (${deals}::bigint[]) and login = ${login} and kind <> 'irregularity'
        union
        select deal_id
        from adopted_deal
        where server = ${server} and deal_id = any (${deals}::bigint[]) and login = ${login}
        union
        select deal_id
        from operation
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
        select ${server}, deal, ${login} from unnest(${deals}::bigint[]) as there (deal)`,
  );
}
