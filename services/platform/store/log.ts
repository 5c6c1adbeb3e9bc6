import assert from "node:assert/strict";
import { execute, many, sql } from "#kernel/postgres/query.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Money } from "#kernel/money.ts";
import type { LogEntry, NewEntry } from "../domain/log-entry.ts";
import type { Role } from "../domain/role.ts";
import { entryOf } from "./log-row.ts";
import type { LogRow } from "./log-row.ts";

/** An entry with its place in its login's log. */
export type NumberedEntry = NewEntry & { readonly login: string; readonly role: Role; readonly number: bigint };

/** Whoever calls holds the locks of the accounts, and numbers on from the end of each log. */
export async function insertEntries(
  tx: Transaction,
  server: string,
  entries: readonly NumberedEntry[],
): Promise<LogEntry[]> {
  const trades = entries.map(({ trade }) => trade);
  const rows = await many<{ id: bigint }>(
    tx,
    sql`insert into log_entry (login, number, kind, amount_minor, operation_number, transfer_id, key, server, deal_id,
                               deal_at, server_msc, action, entry, position_id, symbol, volume, volume_closed,
                               profit_minor, swap_minor, commission_minor, fee_minor, irregularity)
        select login, number, kind, amount, operation, transfer, key,
               case when deal is not null then ${server}::text end, deal, deal_at, server_msc, action, entry, position,
               symbol, volume, closed, profit, swap, commission, fee, irregularity
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
          ${entries.map(({ irregularity }) => irregularity)}::text[]
        ) with ordinality as added (login, number, kind, amount, operation, transfer, key, deal, deal_at, server_msc,
                                    action, entry, position, symbol, volume, closed, profit, swap, commission, fee,
                                    irregularity, place)
        order by place
        returning id`,
  );
  return entries.map((entry, index) => ({ ...entry, id: rows[index]?.id ?? 0n }));
}

/** Where the log of a login ends after entries were added, and what they sum up to. */
export type LogEnd = { readonly login: string; readonly number: bigint; readonly id: bigint; readonly added: Money };

/** The account's row carries the end of its log, so that permits and lanes need one row only. */
export async function moveLogEnds(tx: Transaction, ends: readonly LogEnd[]): Promise<void> {
  const moved = await execute(
    tx,
    sql`update account
        set log_number = number, log_entry_id = id, log_minor = log_minor + added
        from unnest(
          ${ends.map(({ login }) => login)}::text[],
          ${ends.map(({ number }) => number)}::bigint[],
          ${ends.map(({ id }) => id)}::bigint[],
          ${ends.map(({ added }) => added.minor)}::bigint[]
        ) as ended (ended_login, number, id, added)
        where login = ended_login and log_number < number`,
  );
  assert.equal(moved, ends.length, "a log was added to without its account being locked");
}

export async function listEntries(db: Queryable, login: string, after: bigint, limit: number): Promise<LogEntry[]> {
  const rows = await many<LogRow>(
    db,
    sql`select log_entry.id, log_entry.login, role, number, kind, amount_minor, operation_number, transfer_id, key,
               deal_id, deal_at, server_msc, action, entry, position_id, symbol, volume, volume_closed, profit_minor,
               swap_minor, commission_minor, fee_minor, irregularity
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
