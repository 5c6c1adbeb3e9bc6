import { many, one, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { JournalBatch, JournalEntry } from "../domain/journal.ts";
import type { Part } from "../domain/layers.ts";

/** An entry of a large pool has thousands of parts; this bounds the time of a statement. */
const PARTS_PER_STATEMENT = 2_000;

export async function insertBatch(tx: Transaction, { masterLogin, entries, parts }: JournalBatch): Promise<void> {
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
  for (let start = 0; start < parts.length; start += PARTS_PER_STATEMENT) {
    await insertParts(tx, masterLogin, parts.slice(start, start + PARTS_PER_STATEMENT));
  }
}

async function insertParts(tx: Transaction, masterLogin: string, parts: JournalBatch["parts"]): Promise<void> {
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

/** The results of each Investor with a Master that are not folded yet, in the sequence of their numbers. */
export async function listPartsToFold(
  tx: Transaction,
  { masterLogin, throughNumber }: Range,
  folded: readonly Folded[],
): Promise<Map<string, Part[]>> {
  const rows = await many<Part & { investorLogin: string }>(
    tx,
    sql`select part.investor_login as "investorLogin", part.amount_minor as amount, entry.deal_at as "earnedAt"
        from unnest(
          ${folded.map(({ investorLogin }) => investorLogin)}::text[],
          ${folded.map(({ foldedNumber }) => foldedNumber)}::bigint[]
        ) as folded (investor_login, number)
        join allocation_part part on part.master_login = ${masterLogin} and part.investor_login = folded.investor_login
          and part.number > folded.number and part.number <= ${throughNumber}
        join allocation_entry entry on entry.master_login = part.master_login and entry.number = part.number
        where entry.kind = 'RESULT'
        order by part.investor_login, part.number, part.subscription_id`,
  );
  return Map.groupBy(rows, ({ investorLogin }) => investorLogin);
}
