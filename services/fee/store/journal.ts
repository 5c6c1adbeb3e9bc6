import assert from "node:assert/strict";
import { many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Fold, FoldStart } from "../domain/fold.ts";
import { type JournalBatch, type JournalEntry, newEntries } from "../domain/journal.ts";
import type { Part } from "../domain/layers.ts";
import { E8_PER_CENT } from "../domain/units.ts";

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

/** How far the results of an Investor are folded, and the entry up to which they count. */
export type PartsWanted = {
  readonly investorLogin: string;
  readonly masterLogin: string;
  readonly foldedNumber: bigint;
  readonly throughNumber: bigint;
};

/** The next results of an Investor: all of them up to the entry `foldedNumber`. */
export type NextParts = { readonly parts: readonly Part[]; readonly foldedNumber: bigint };

type PartRow = { readonly rank: bigint; readonly number: bigint; readonly amount: bigint };

/**
 * The next results of each Investor with a Master, in the sequence of their numbers: all those of the entries with the next `each`
 * parts. They are looked up by Investor, which the inner order makes sure of: the parts of all others in the pool are not read.
 */
export async function listPartsToFold(
  db: Queryable,
  wanted: readonly PartsWanted[],
  each: number,
): Promise<NextParts[]> {
  if (wanted.length === 0) return [];
  const rows = await many<PartRow>(
    db,
    sql`select folded.rank, part.number, part.amount
        from unnest(
          ${wanted.map(({ masterLogin }) => masterLogin)}::text[],
          ${wanted.map(({ investorLogin }) => investorLogin)}::text[],
          ${wanted.map(({ foldedNumber }) => foldedNumber)}::bigint[],
          ${wanted.map(({ throughNumber }) => throughNumber)}::bigint[]
        ) with ordinality as folded (master_login, investor_login, number, through, rank)
        cross join lateral (
          select number, subscription_id, amount_minor as amount
          from allocation_part
          where master_login = folded.master_login and investor_login = folded.investor_login and number > folded.number
            and number <= coalesce((
              select last.number
              from allocation_part as last
              where last.master_login = folded.master_login and last.investor_login = folded.investor_login
                and last.number > folded.number and last.number <= folded.through
              order by last.number
              limit 1 offset ${each - 1}
            ), folded.through)
          order by number, subscription_id
        ) as part
        order by folded.rank, part.number, part.subscription_id`,
  );
  const byRank = Map.groupBy(rows, ({ rank }) => Number(rank) - 1);
  const masterOf = ({ rank }: PartRow): string => wanted[Number(rank) - 1]?.masterLogin ?? "";
  const dealTimes = await listDealTimes(
    db,
    new Map(
      rows.map((row) => [entryName(masterOf(row), row.number), { number: row.number, masterLogin: masterOf(row) }]),
    ),
  );
  return wanted.map(({ throughNumber, masterLogin }, index) => {
    const own = byRank.get(index) ?? [];
    const last = own.at(-1)?.number;
    return {
      parts: own.flatMap(({ number, amount }): Part[] => {
        const earnedAt = dealTimes.get(entryName(masterLogin, number));
        assert(earnedAt !== undefined, "a part belongs to an entry");
        return earnedAt === null ? [] : [{ amount, earnedAt }];
      }),
      foldedNumber: own.length < each || last === undefined ? throughNumber : last,
    };
  });
}

export type PairToFoldAgain = Fold & Pick<PartsWanted, "investorLogin" | "masterLogin">;

/**
 * Where the results of some pairs are folded again from, in the sequence of the array. Each is walked back from its last folded result to the first one
 * of its layers, and not further: the history before the last crystallisation is not read.
 */
export async function listFoldStarts(db: Queryable, pairs: readonly PairToFoldAgain[]): Promise<FoldStart[]> {
  if (pairs.length === 0) return [];
  const rows = await many<FoldStart & { readonly rank: bigint }>(
    db,
    sql`select folded.rank, part.number - 1 as number, part.before::bigint as earned
        from unnest(
          ${pairs.map(({ masterLogin }) => masterLogin)}::text[],
          ${pairs.map(({ investorLogin }) => investorLogin)}::text[],
          ${pairs.map(({ foldedNumber }) => foldedNumber)}::bigint[],
          ${pairs.map(({ earnings }) => earnings.earned)}::bigint[],
          ${pairs.map(({ earnings }) => earnings.mark)}::bigint[]
        ) with ordinality as folded (master_login, investor_login, number, earned, mark, rank)
        cross join lateral (
          select number, before
          from (
            select number, folded.earned - sum(amount_minor) over (order by number desc) as before
            from allocation_part
            where master_login = folded.master_login and investor_login = folded.investor_login and number <= folded.number
          ) as walked
          where before * ${E8_PER_CENT}::bigint <= folded.mark
          order by number desc
          limit 1
        ) as part
        order by folded.rank`,
  );
  assert.equal(rows.length, pairs.length, "what was earned before the first result is not above the mark");
  return rows;
}

type EntryKey = { readonly masterLogin: string; readonly number: bigint };

/** The time of the deal of each entry; null for a closed week, whose parts are no results. */
async function listDealTimes(db: Queryable, entries: ReadonlyMap<string, EntryKey>): Promise<Map<string, Date | null>> {
  if (entries.size === 0) return new Map();
  const keys = [...entries.values()];
  const rows = await many<EntryKey & { readonly dealAt: Date | null }>(
    db,
    sql`select entry.master_login as "masterLogin", entry.number, entry.deal_at as "dealAt"
        from unnest(
               ${keys.map(({ masterLogin }) => masterLogin)}::text[], ${keys.map(({ number }) => number)}::bigint[]
             ) as wanted (master_login, number)
             join allocation_entry entry on entry.master_login = wanted.master_login and entry.number = wanted.number`,
  );
  return new Map(rows.map(({ masterLogin, number, dealAt }) => [entryName(masterLogin, number), dealAt]));
}

function entryName(masterLogin: string, number: bigint): string {
  return `${masterLogin}/${number}`;
}
