import assert from "node:assert/strict";
import { usd } from "#kernel/values/money.ts";
import { fragment, many, type Queryable, sql, withoutNulls } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { type EntryCause, type LogEntry, type NewEntry, type Trade, tradeOf } from "../domain/log-entry.ts";
import type { Role } from "../domain/role.ts";
import { isOtherCurrency } from "./account-stops.ts";
import { TRADE_COLUMNS } from "./deal-records.ts";

/** Of `log_entry` and the role of its `account`. */
export const ENTRY_COLUMNS = fragment`log_entry.id, log_entry.login, role, number, kind, log_entry.amount_minor as "amountMinor", leg_number as leg,
               log_entry.transfer_id as "transferId", log_entry.key, log_entry.deal_id as "dealId", log_entry.deal_at as at,
               server_msc as "serverMsc", amendment, label_action as "labelAction", label_comment as "labelComment", ${TRADE_COLUMNS}`;

export type LogRow = Trade &
  Pick<LogEntry, "id" | "login" | "role" | "number" | "kind" | "at" | "amendment"> &
  Pick<EntryCause, "key"> & {
    readonly amountMinor: bigint;
    readonly leg: bigint | undefined;
    readonly transferId: bigint | undefined;
    readonly dealId: bigint | undefined;
    readonly serverMsc: bigint | undefined;
    readonly labelAction: number | undefined;
    readonly labelComment: string | undefined;
  };

export function entryOf(row: LogRow): LogEntry {
  const { id, login, role, number, kind, at, amendment, ...others } = withoutNulls(row);
  const { leg, transferId, key, dealId, serverMsc, labelAction, labelComment } = others;
  return {
    id,
    login,
    role,
    number,
    kind,
    at,
    amendment,
    amount: usd(others.amountMinor),
    cause: leg === undefined || transferId === undefined ? undefined : { leg, transferId, key },
    deal: dealId === undefined ? undefined : { id: dealId, serverMsc },
    trade: kind === "trade" ? tradeOf(others) : undefined,
    label: labelAction === undefined ? undefined : { action: labelAction, comment: labelComment ?? "" },
  };
}

/** Entries from one checkpoint of a log to the next: a balance at a log position is the sum of hardly more. */
const ENTRIES_PER_CHECKPOINT = 256;

/**
 * Stores the balance of each log that has passed a multiple of the number of entries. Part of a statement in which `moved` has the new
 * end of each log, its sum, and how many entries were added.
 */
export const CHECKPOINTED = fragment`
  insert into log_checkpoint (login, number, balance_minor)
  select login, log_number, log_minor
  from moved
  where log_number % ${ENTRIES_PER_CHECKPOINT}::bigint < entries`;

/** An entry with its log position. */
type NumberedEntry = NewEntry & { readonly login: string; readonly role: Role; readonly number: bigint };

/**
 * Appends entries. The caller has locked the accounts and continues the numbers of each log. The account's row has the last
 * number and the sum of its log, so that permits and account locks read one row only.
 */
export async function insertEntries(
  tx: Transaction,
  server: string,
  entries: readonly NumberedEntry[],
): Promise<LogEntry[]> {
  const trades = entries.map(({ trade }) => trade);
  const rows = await many<{ id: bigint; moved: bigint }>(
    tx,
    sql`with added as (
        insert into log_entry (login, number, kind, amount_minor, leg_number, transfer_id, key, server, deal_id,
                               deal_at, server_msc, action, entry, position_id, symbol, volume, volume_closed,
                               profit_minor, swap_minor, commission_minor, fee_minor, amendment, shown_as, review_id,
                               label_action, label_comment)
        select login, number, kind, amount, leg, transfer, key,
               case when deal is not null then ${server}::text end, deal, deal_at, server_msc, action, entry, position,
               symbol, volume, closed, profit, swap, commission, fee, amendment, shown_as, review, label_action, label_comment
        from unnest(
          ${entries.map(({ login }) => login)}::text[],
          ${entries.map(({ number }) => number)}::bigint[],
          ${entries.map(({ kind }) => kind)}::text[],
          ${entries.map(({ amount }) => amount.minor)}::bigint[],
          ${entries.map(({ cause }) => cause?.leg)}::bigint[],
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
          ${trades.map((trade) => trade?.profitMinor)}::bigint[],
          ${trades.map((trade) => trade?.swapMinor)}::bigint[],
          ${trades.map((trade) => trade?.commissionMinor)}::bigint[],
          ${trades.map((trade) => trade?.feeMinor)}::bigint[],
          ${entries.map(({ amendment }) => amendment)}::text[],
          ${entries.map(({ shownAs }) => shownAs)}::text[],
          ${entries.map(({ reviewId }) => reviewId)}::bigint[],
          ${entries.map(({ label }) => label?.action)}::smallint[], ${entries.map(({ label }) => label?.comment)}::text[]
        ) with ordinality as added (login, number, kind, amount, leg, transfer, key, deal, deal_at, server_msc,
                                    action, entry, position, symbol, volume, closed, profit, swap, commission, fee,
                                    amendment, shown_as, review, label_action, label_comment, ordinal)
        order by ordinal
        returning id, login, number, kind, amount_minor, leg_number
        ), logged as (
          delete from unlogged_leg
          using added
          where unlogged_leg.login = added.login and unlogged_leg.leg_number = added.leg_number
        ), ended as (
          select login, max(number) as number, max(id) as id, sum(amount_minor)::bigint as added, count(*) as entries
          from added
          group by login
        ), moved as (
          update account
          set log_number = ended.number, log_entry_id = ended.id, log_minor = log_minor + ended.added
          from ended
          where account.login = ended.login and log_number < ended.number
          returning account.login, log_number, log_minor, entries
        ), checkpointed as ( ${CHECKPOINTED}
        )
        select id, (select count(*) from moved) as moved from added order by id`,
  );
  const logins = new Set(entries.filter(({ number }) => number > 0n).map(({ login }) => login));
  assert.equal(Number(rows[0]?.moved ?? 0n), logins.size, "A log was appended to without a lock on its account.");
  return entries.map((entry, index) => ({ ...entry, id: rows[index]?.id ?? 0n }));
}

export async function listEntries(db: Queryable, login: string, after: bigint, limit: number): Promise<LogEntry[]> {
  const rows = await many<LogRow>(
    db,
    sql`select ${ENTRY_COLUMNS}
        from log_entry
        join account on account.login = log_entry.login
        where log_entry.login = ${login} and number > ${after}
        order by number
        limit ${limit}`,
  );
  return rows.map(entryOf);
}

/** A log position: the number of an entry of a login's log; -1 is before the opening. */
export type LogNumber = { readonly login: string; readonly number: bigint };

/** What was credited to each account after a log position, in cents, without results of the service. Logins without such a credit are left out. */
export async function sumCredited(
  db: Queryable,
  positions: readonly LogNumber[],
): Promise<ReadonlyMap<string, bigint>> {
  if (positions.length === 0) return new Map();
  const rows = await many<{ login: string; minor: bigint }>(
    db,
    sql`select login, sum(amount_minor)::bigint as minor
        from unnest(
               ${positions.map(({ login }) => login)}::text[], ${positions.map(({ number }) => number)}::bigint[]
             ) as filed (login, number)
             join log_entry using (login)
        where log_entry.number > filed.number and amount_minor > 0 and kind <> 'result'
        group by login`,
  );
  return new Map(rows.map(({ login, minor }) => [login, minor]));
}

export type LogBalance = {
  readonly login: string;
  /** Cents: the sum of the entries up to the log position. */
  readonly balanceMinor: bigint;
  /** The newest deal up to there. */
  readonly dealId: bigint | null;
  readonly dealAt: Date | null;
  readonly lastNumber: bigint;
  /** Time of the newest deal of the whole log. */
  readonly lastDealAt: Date | null;
  readonly isArchived: boolean;
  readonly isOtherCurrency: boolean;
  readonly isNotShown: boolean;
};

const ACCOUNT_LOGIN = fragment`account.login`;

/** Balance at each log position. Entries never change, so neither does the result. Leaves out logins that are not managed. */
export async function listLogBalances(db: Queryable, positions: readonly LogNumber[]): Promise<LogBalance[]> {
  return many<LogBalance>(
    db,
    sql`select account.login, log_number as "lastNumber", log_minor - later.amount as "balanceMinor",
               filed.deal_id as "dealId", filed.deal_at as "dealAt", newest.deal_at as "lastDealAt",
               archived_at is not null as "isArchived", unshown_since is not null and log_minor = 0 as "isNotShown",
               ${isOtherCurrency(ACCOUNT_LOGIN)} as "isOtherCurrency"
        from unnest(
               ${positions.map(({ login }) => login)}::text[], ${positions.map(({ number }) => number)}::bigint[]
             ) as requested (login, number)
             join account on account.login = requested.login
             cross join lateral (
               select coalesce(sum(amount_minor), 0)::bigint as amount
               from log_entry
               where log_entry.login = requested.login and log_entry.number > requested.number
             ) as later
             left join lateral (
               select deal_id, deal_at
               from log_entry
               where log_entry.login = requested.login and log_entry.number <= requested.number and deal_id is not null
               order by log_entry.number desc
               limit 1
             ) as filed on true
             left join lateral (
               select deal_at
               from log_entry
               where log_entry.login = requested.login and deal_id is not null
               order by log_entry.number desc
               limit 1
             ) as newest on true`,
  );
}
