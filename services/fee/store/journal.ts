import { many, one, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { type JournalBatch, type JournalEntry, newEntries } from "../domain/journal.ts";
import type { Part } from "../domain/layers.ts";

export async function insertBatch(tx: Transaction, batch: JournalBatch): Promise<void> {
  await insertEntries(tx, batch.masterLogin, newEntries(batch));
  await insertParts(tx, batch.masterLogin, batch.parts);
}

async function insertEntries(tx: Transaction, masterLogin: string, entries: readonly JournalEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const results = entries.map((entry) => (entry.kind === "RESULT" ? entry : undefined));
  const weeks = entries.map((entry) => (entry.kind === "WEEK" ? entry : undefined));
  await many(
    tx,
    sql`insert into allocation_entry
          (master_login, number, kind, deal_id, deal_at, result_minor, period_start, cut_off, marked_at)
        select ${masterLogin}, entry.*
        from unnest(
          ${entries.map(({ number }) => number)}::bigint[],
          ${entries.map(({ kind }) => kind)}::text[],
          ${results.map((entry) => entry?.dealId)}::bigint[],
          ${results.map((entry) => entry?.dealAt)}::timestamptz[],
          ${results.map((entry) => entry?.result)}::bigint[],
          ${weeks.map((entry) => entry?.periodStart)}::timestamptz[],
          ${weeks.map((entry) => entry?.cutOff)}::timestamptz[],
          ${weeks.map((entry) => entry?.markedAt)}::timestamptz[]
        ) as entry`,
  );
}

async function insertParts(tx: Transaction, masterLogin: string, parts: JournalBatch["parts"]): Promise<void> {
  if (parts.length === 0) return;
  await many(
    tx,
    sql`insert into allocation_part
          (master_login, number, subscription_id, investor_login, amount_minor, floating_e8)
        select ${masterLogin}, part.*
        from unnest(
          ${parts.map(({ number }) => number)}::bigint[],
          ${parts.map(({ subscriptionId }) => subscriptionId)}::bigint[],
          ${parts.map(({ investorLogin }) => investorLogin)}::text[],
          ${parts.map(({ amount }) => amount)}::bigint[],
          ${parts.map(({ floating }) => floating)}::bigint[]
        ) as part`,
  );
}

/** The number up to which an Investor's results are folded. */
export type Folded = { readonly investorLogin: string; readonly foldedNumber: bigint };

type Range = { readonly masterLogin: string; readonly throughNumber: JournalEntry["number"] };

/** The number of the first part of these Investors that is not folded yet; undefined when there is none. */
export async function findFirstToFold(
  tx: Transaction,
  { masterLogin, throughNumber }: Range,
  folded: readonly Folded[],
): Promise<bigint | undefined> {
  const { first } = await one<{ first: bigint | null }>(
    tx,
    sql`select min(next.number) as first
        from unnest(
          ${folded.map(({ investorLogin }) => investorLogin)}::text[],
          ${folded.map(({ foldedNumber }) => foldedNumber)}::bigint[]
        ) as folded (investor_login, number)
        cross join lateral (
          select part.number
          from allocation_part part
          where part.master_login = ${masterLogin} and part.investor_login = folded.investor_login
            and part.number > folded.number and part.number <= ${throughNumber}
          order by part.number
          limit 1
        ) as next`,
  );
  return first ?? undefined;
}

/**
 * The results of each Investor with a Master that are not folded yet, in the sequence of their numbers; none of them is before
 * `fromNumber`. They are looked up by Investor, which the inner order makes sure of: the parts of all others in the pool are not read.
 */
export async function listPartsToFold(
  tx: Transaction,
  { masterLogin, fromNumber, throughNumber }: Range & { readonly fromNumber: JournalEntry["number"] },
  folded: readonly Folded[],
): Promise<Map<string, Part[]>> {
  const entries = await many<{ number: bigint; dealAt: Date | null }>(
    tx,
    sql`select number, deal_at as "dealAt"
        from allocation_entry
        where master_login = ${masterLogin} and number >= ${fromNumber} and number <= ${throughNumber}`,
  );
  const dealTimes = new Map(
    entries.flatMap(({ number, dealAt }) => (dealAt === null ? [] : [[number, dealAt] as const])),
  );
  if (dealTimes.size === 0) return new Map();
  const weeks = entries.flatMap(({ number, dealAt }) => (dealAt === null ? [number] : []));
  const rows = await many<{ investorLogin: string; number: bigint; amount: bigint }>(
    tx,
    sql`select folded.investor_login as "investorLogin", part.number, part.amount
        from unnest(
          ${folded.map(({ investorLogin }) => investorLogin)}::text[],
          ${folded.map(({ foldedNumber }) => foldedNumber)}::bigint[]
        ) as folded (investor_login, number)
        cross join lateral (
          select number, subscription_id, amount_minor as amount
          from allocation_part
          where master_login = ${masterLogin} and investor_login = folded.investor_login
            and number > folded.number and number >= ${fromNumber} and number <= ${throughNumber}
            and number <> all (${weeks}::bigint[])
          order by number, subscription_id
        ) as part
        order by folded.investor_login, part.number, part.subscription_id`,
  );
  const parts = new Map<string, Part[]>();
  for (const { investorLogin, number, amount } of rows) {
    const part = { amount, earnedAt: dealTimes.get(number) as Date };
    const own = parts.get(investorLogin);
    if (own === undefined) parts.set(investorLogin, [part]);
    else own.push(part);
  }
  return parts;
}
