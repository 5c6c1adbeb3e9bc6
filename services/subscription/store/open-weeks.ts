import {
  execute,
  fragment,
  many,
  matchesRow,
  maybeOne,
  one,
  type Queryable,
  sql,
  withoutNulls,
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { workQueue } from "#kernel/work-queue/work-queue.ts";
import type { Week } from "../domain/weeks.ts";
import { ARE_BOOKS_WHOLE } from "./settled-database.ts";

/** A closed week whose fees are being decided. */
export type OpenWeek = {
  readonly id: bigint;
  readonly masterLogin: string;
  readonly number: bigint;
  readonly tries: number;
};

/** The oldest of each Master. */
export const weekQueue = workQueue<OpenWeek>({
  table: fragment`open_week`,
  key: fragment`id`,
  keyType: fragment`bigint`,
  isOpen: fragment`true`,
  mayStart: fragment`${ARE_BOOKS_WHOLE} and not exists (
    select from open_week as older where older.master_login = work.master_login and older.number < work.number
  )`,
  columns: fragment`id, master_login as "masterLogin", number`,
});

export async function insertOpenWeeks(tx: Transaction, masterLogin: string, numbers: readonly bigint[]): Promise<void> {
  if (numbers.length === 0) return;
  await execute(
    tx,
    sql`insert into open_week (master_login, number)
        select ${masterLogin}, * from unnest(${numbers}::bigint[])`,
  );
}

/** What a week is decided with. */
export type WeekFacts = {
  readonly decidedSubscriptionId: bigint;
  readonly periodStart: Date;
  /** Exclusive. */
  readonly cutOff: Date;
  readonly markedAt: Date | undefined;
};

/** Undefined when another replica has decided it to its end. */
export async function findOpenWeek(db: Queryable, id: bigint): Promise<WeekFacts | undefined> {
  const row = await maybeOne<WeekFacts>(
    db,
    sql`select week.decided_subscription_id as "decidedSubscriptionId", entry.period_start as "periodStart",
               entry.cut_off as "cutOff", entry.marked_at as "markedAt"
        from open_week as week
             join allocation_entry as entry on entry.master_login = week.master_login and entry.number = week.number
        where week.id = ${id}`,
  );
  return row && withoutNulls(row);
}

/** An Investor of the pool at the end of a week, with its share of the floating result in units of 1e-8 USD. */
export type WeekShare = {
  readonly subscriptionId: bigint;
  readonly investorLogin: string;
  readonly floating: bigint;
};

/** The next Investors of a week, in the sequence of their subscriptions. */
export async function listWeekShares(
  db: Queryable,
  { masterLogin, number }: Pick<OpenWeek, "masterLogin" | "number">,
  { after, limit }: { readonly after: bigint; readonly limit: number },
): Promise<WeekShare[]> {
  return await many<WeekShare>(
    db,
    sql`select part.subscription_id as "subscriptionId", holding.investor_login as "investorLogin",
               part.floating_e8 as floating
        from allocation_row as part join holding on holding.subscription_id = part.subscription_id
        where part.master_login = ${masterLogin} and part.number = ${number} and part.subscription_id > ${after}
        order by part.subscription_id
        limit ${limit}`,
  );
}

/** Moves on over a decided page. False when another replica has done so before: then nothing of the page may be kept. */
export async function moveWeek(
  tx: Transaction,
  { id, from, to }: { readonly id: bigint; readonly from: bigint; readonly to: bigint },
): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`update open_week
        set decided_subscription_id = ${to}
        where id = ${id} and decided_subscription_id = ${from}
        returning id`,
  );
}

export async function endWeek(tx: Transaction, id: bigint): Promise<void> {
  await execute(tx, sql`delete from open_week where id = ${id}`);
}

/** The Masters that close weeks: those with an ACTIVE Investor. */
export async function countMastersWithWeeks(db: Queryable): Promise<number> {
  const { masters } = await one<{ masters: bigint }>(
    db,
    sql`select count(*) as masters from master_pool where weeks_closed_through is not null`,
  );
  return Number(masters);
}

/** The weeks of the last start. */
export async function findRecordedWeek(db: Queryable): Promise<Week | undefined> {
  const row = await maybeOne<{ readonly periodMs: bigint; readonly anchor: Date }>(
    db,
    sql`select period_ms as "periodMs", anchor from fee_week`,
  );
  return row && { periodMs: Number(row.periodMs), anchor: row.anchor };
}

export async function recordWeek(db: Queryable, { periodMs, anchor }: Week): Promise<void> {
  await execute(
    db,
    sql`insert into fee_week (period_ms, anchor) values (${periodMs}, ${anchor})
        on conflict (is_only) do update set period_ms = excluded.period_ms, anchor = excluded.anchor`,
  );
}
