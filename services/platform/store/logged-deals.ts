import { many, sql } from "#kernel/postgres/query.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { EntryKind, Irregularity, Trade } from "../domain/log-entry.ts";
import { tradeOf } from "./log-row.ts";
import type { LogRow, TradeRow } from "./log-row.ts";

/** A deal as it was told: what the platform's history has to show for ever. */
export type LoggedDeal = {
  readonly login: string;
  readonly ticket: bigint;
  readonly kind: EntryKind;
  readonly amountMinor: bigint;
  readonly at: Date;
  /** Undefined when only the answer of a command told of it. */
  readonly serverMsc: bigint | undefined;
  readonly trade: Trade | undefined;
};

type LoggedDealRow = TradeRow &
  Pick<LogRow, "login" | "kind" | "amount_minor" | "deal_at" | "server_msc"> & { deal_id: bigint };

export type ToldIrregularity = { readonly login: string; readonly ticket: bigint; readonly irregularity: Irregularity };

/** Those of the tickets that are in a log, by ticket. */
export async function listLoggedDeals(
  db: Queryable,
  server: string,
  tickets: readonly bigint[],
): Promise<ReadonlyMap<bigint, LoggedDeal>> {
  if (tickets.length === 0) return new Map();
  const rows = await many<LoggedDealRow>(
    db,
    sql`select login, kind, amount_minor, deal_id, deal_at, server_msc, action, entry, position_id, symbol, volume,
               volume_closed, profit_minor, swap_minor, commission_minor, fee_minor
        from log_entry
        where server = ${server} and deal_id = any (${tickets}::bigint[]) and kind <> 'irregularity'`,
  );
  return new Map(rows.map((row) => [row.deal_id, loggedDealOf(row)]));
}

/** Those of the tickets that stood in the history before their account was adopted. */
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

export type Window = { readonly logins: readonly string[]; readonly from: Date; readonly to: Date };

/**
 * Deals that were told and that a reading of their time did not show. A Master's own operations are among them from the
 * answer on: their numbers in the log wait for a reading that may never come.
 */
export async function listUnshownDeals(
  db: Queryable,
  server: string,
  { logins, from, to }: Window,
  shown: readonly { readonly login: string; readonly ticket: bigint }[],
): Promise<LoggedDeal[]> {
  const rows = await many<LoggedDealRow>(
    db,
    sql`select login, kind, amount_minor, deal_id, deal_at, server_msc, action, entry, position_id, symbol, volume,
               volume_closed, profit_minor, swap_minor, commission_minor, fee_minor
        from (
          select login, kind, amount_minor, server, deal_id, deal_at, server_msc, action, entry, position_id, symbol,
                 volume, volume_closed, profit_minor, swap_minor, commission_minor, fee_minor
          from log_entry
          union all
          select login, kind, amount_minor, server, deal_id, applied_at, null, null, null, null, null, null, null, null,
                 null, null, null
          from operation
          where deal_id is not null
            and not exists (
              select from log_entry as own
              where own.server = operation.server and own.deal_id = operation.deal_id and own.login = operation.login
                and own.kind <> 'irregularity'
            )
        ) as logged
        where login = any (${logins}::text[]) and deal_at >= ${from} and deal_at < ${to} and server = ${server}
          and kind <> 'irregularity'
          and not exists (
            select
            from unnest(${shown.map((deal) => deal.login)}::text[], ${shown.map(({ ticket }) => ticket)}::bigint[])
                 as shown (login, deal_id)
            where shown.login = logged.login and shown.deal_id = logged.deal_id
          )
          and not exists (
            select from log_entry as told
            where told.login = logged.login and told.server = logged.server and told.deal_id = logged.deal_id
              and told.kind = 'irregularity' and told.irregularity = 'deal_gone'
          )`,
  );
  return rows.map(loggedDealOf);
}

export async function listIrregularities(
  db: Queryable,
  server: string,
  tickets: readonly bigint[],
): Promise<ToldIrregularity[]> {
  const rows = await many<{ login: string; deal_id: bigint; irregularity: Irregularity }>(
    db,
    sql`select login, deal_id, irregularity
        from log_entry
        where server = ${server} and deal_id = any (${tickets}::bigint[]) and kind = 'irregularity'`,
  );
  return rows.map(({ login, deal_id: ticket, irregularity }) => ({ login, ticket, irregularity }));
}

function loggedDealOf(row: LoggedDealRow): LoggedDeal {
  return {
    login: row.login,
    ticket: row.deal_id,
    kind: row.kind,
    amountMinor: row.amount_minor,
    at: row.deal_at,
    serverMsc: row.server_msc ?? undefined,
    trade: row.kind === "trade" ? tradeOf(row) : undefined,
  };
}
