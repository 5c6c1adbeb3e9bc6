import {
  column,
  execute,
  type Fragment,
  fragment,
  many,
  matchesRow,
  type Queryable,
  sql,
  type Statement,
  withoutNulls,
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { workQueue } from "#kernel/work-queue/work-queue.ts";
import type { Explanation } from "../domain/fees/explain.ts";

/** A fee that was decided. Amount in cents. */
export type DecidedFee = {
  readonly investorLogin: string;
  /** Key of the transfer that collects it. */
  readonly key: string;
  readonly kind: "PF" | "PF_DEBT";
  readonly suffix: string;
  /** The Master to whom it is owed. */
  readonly owedTo: string;
  readonly amount: bigint;
  readonly since: Date;
  /** Undefined for a debt. */
  readonly explanation: Explanation | undefined;
};

/** Fees that were decided together: those of a page of a closed week, or of a departure. */
export type NewFeeDecision = {
  /** Of the run. */
  readonly masterLogin: string;
  /** Key of the departure; empty for a week. */
  readonly departureKey: string;
  readonly periodStart: Date;
  readonly periodEnd: Date;
  readonly markedAt: Date | undefined;
  /** No further Investors of the week remain. */
  readonly isLast: boolean;
  /** The Investor of a departure; empty for a week. */
  readonly investorLogin: string;
  /** Keys of open weekly fees that a departure collects first. */
  readonly weeklyKeys: readonly string[];
  /** In the sequence of collection for each Investor. */
  readonly due: readonly DecidedFee[];
};

export type FeeDecision = NewFeeDecision & { readonly id: bigint };

/**
 * Inserts decisions, each under the key of another departure, or one of a week. Returns them with their ids in the sequence of the array. A key has no
 * line break. The explanations, one a line, are one text: in an array each of their quotes would be escaped.
 */
export async function insertDecisions(tx: Transaction, decisions: readonly NewFeeDecision[]): Promise<FeeDecision[]> {
  if (decisions.length === 0) return [];
  const due = decisions.flatMap(({ departureKey, due: own }) =>
    own.map((fee, index) => ({ ...fee, departureKey, number: index + 1 })),
  );
  const inserted = await many<{ id: bigint; departureKey: string }>(
    tx,
    sql`with decision as (
          insert into fee_decision
            (master_login, departure_key, investor_login, period_start, period_end, marked_at, is_last, weekly_keys)
          select master_login, departure_key, investor_login, period_start, period_end, marked_at, is_last,
                 string_to_array(weekly_keys, ${"\n"})
          from unnest(
            ${decisions.map(({ masterLogin }) => masterLogin)}::text[],
            ${decisions.map(({ departureKey }) => departureKey)}::text[],
            ${decisions.map(({ investorLogin }) => investorLogin)}::text[],
            ${decisions.map(({ periodStart }) => periodStart)}::timestamptz[],
            ${decisions.map(({ periodEnd }) => periodEnd)}::timestamptz[],
            ${decisions.map(({ markedAt }) => markedAt)}::timestamptz[],
            ${decisions.map(({ isLast }) => isLast)}::boolean[],
            ${decisions.map(({ weeklyKeys }) => weeklyKeys.join("\n"))}::text[]
          ) as decided
            (master_login, departure_key, investor_login, period_start, period_end, marked_at, is_last, weekly_keys)
          returning id, departure_key
        ), due as (
          insert into due_fee
            (decision_id, number, investor_login, key, kind, suffix, owed_to, amount_minor, owed_since, explanation)
          select decision.id, number, investor_login, key, kind, suffix, owed_to, amount, since,
                 nullif(explanation, '')::jsonb
          from unnest(
                 ${due.map(({ departureKey }) => departureKey)}::text[],
                 ${due.map(({ number }) => number)}::integer[],
                 ${due.map(({ investorLogin }) => investorLogin)}::text[],
                 ${due.map(({ key }) => key)}::text[],
                 ${due.map(({ kind }) => kind)}::text[],
                 ${due.map(({ suffix }) => suffix)}::text[],
                 ${due.map(({ owedTo }) => owedTo)}::text[],
                 ${due.map(({ amount }) => amount)}::bigint[],
                 ${due.map(({ since }) => since)}::timestamptz[],
                 string_to_array(${due.map(({ explanation }) => (explanation === undefined ? "" : JSON.stringify(explanation))).join("\n")}, ${"\n"})
               ) as fee (departure_key, number, investor_login, key, kind, suffix, owed_to, amount, since, explanation)
               join decision using (departure_key)
        )
        select id, departure_key as "departureKey" from decision`,
  );
  const ids = new Map(inserted.map(({ departureKey, id }) => [departureKey, id]));
  return decisions.map((decision) => ({ ...decision, id: ids.get(decision.departureKey) as bigint }));
}

const DECISIONS = fragment`
  select id, master_login as "masterLogin", departure_key as "departureKey", investor_login as "investorLogin",
         period_start as "periodStart", period_end as "periodEnd", marked_at as "markedAt", is_last as "isLast",
         weekly_keys as "weeklyKeys"
  from fee_decision`;

/** The pages of a Master's weeks that `fee` has not answered for, in their sequence. */
export async function listUnrecordedPages(db: Queryable, masterLogin: string, limit: number): Promise<FeeDecision[]> {
  return await withDue(
    db,
    sql`${DECISIONS}
        where master_login = ${masterLogin} and recorded_at is null and departure_key = ''
        order by id
        limit ${limit}`,
  );
}

/** The decision of a departure that has not ended; undefined when nothing was due. */
export async function findDecisionOf(db: Queryable, departureKey: string): Promise<FeeDecision | undefined> {
  const [decision] = await withDue(db, sql`${DECISIONS} where departure_key = ${departureKey} and departure_key <> ''`);
  return decision;
}

/** Claimed decisions of the queue. */
export async function listDecisions(db: Queryable, ids: readonly bigint[]): Promise<FeeDecision[]> {
  return await withDue(db, sql`${DECISIONS} where id = any(${ids}::bigint[]) order by id`);
}

async function withDue(db: Queryable, decisions: Statement): Promise<FeeDecision[]> {
  const rows = await many<Omit<FeeDecision, "due">>(db, decisions);
  if (rows.length === 0) return [];
  const due = await many<DecidedFee & { readonly decisionId: bigint }>(
    db,
    sql`select decision_id as "decisionId", investor_login as "investorLogin", key, kind, suffix, owed_to as "owedTo",
               amount_minor as amount, owed_since as since, explanation
        from due_fee
        where decision_id = any(${rows.map(({ id }) => id)}::bigint[])
        order by decision_id, number`,
  );
  const byDecision = Map.groupBy(due, ({ decisionId }) => decisionId);
  return rows.map((row) => ({
    ...withoutNulls(row),
    due: (byDecision.get(row.id) ?? []).map(({ decisionId: _id, ...fee }) => withoutNulls(fee)),
  }));
}

export async function markRecorded(db: Queryable, id: bigint): Promise<void> {
  await execute(
    db,
    sql`update fee_decision
        set recorded_at = clock_timestamp(), reason = null
        where id = ${id} and recorded_at is null`,
  );
}

/** The pages of a Master's weeks are sent in their sequence: the last one comes last. Leaves wait for none. */
export const decisionQueue = workQueue<{ readonly id: bigint; readonly tries: number }>({
  table: fragment`fee_decision`,
  key: fragment`id`,
  keyType: fragment`bigint`,
  isOpen: fragment`work.recorded_at is null`,
  mayStart: fragment`(
    work.departure_key <> ''
    or not exists (
      select from fee_decision as older
      where older.master_login = work.master_login and older.id < work.id and older.recorded_at is null and older.departure_key = ''
    )
  )`,
  columns: fragment`id`,
});

/**
 * Of some Investors, in the sequence of the array, the earliest time of profit with a Master that is not charged yet, or `at`, when there is none
 * before. Results that are not folded count as those of each of them.
 */
export async function listUnchargedSince(
  db: Queryable,
  masterLogin: string,
  investorLogins: readonly string[],
  at: Date,
): Promise<{ readonly investorLogin: string; readonly since: Date }[]> {
  return await many(
    db,
    sql`with unfolded as (
          select min(entry.deal_at) as deal_at from allocation_entry as entry
          where entry.master_login = ${masterLogin} and entry.number > (
            select min(pair.folded_number) from pair
            where pair.master_login = ${masterLogin} and pair.investor_login = any(${investorLogins}::text[])
          )
        )
        select wanted.login as "investorLogin", least(${at}, unfolded.deal_at, (
                 select min(layer.earned_from) from layer
                 where layer.master_login = ${masterLogin} and layer.investor_login = wanted.login
               )) as since
        from unnest(${investorLogins}::text[]) with ordinality as wanted (login, rank) cross join unfolded
        order by wanted.rank`,
  );
}

/** Condition on a decision: it was not recorded at an instant, so that `fee` had not counted its fees. */
function isUncounted(at: Date): Fragment {
  return fragment`(decision.recorded_at is null or decision.recorded_at >= ${at})`;
}

/** Whether a fee of an Investor was decided that `fee` had not counted at an instant. */
export async function hasUncounted(db: Queryable, investorLogin: string, at: Date): Promise<boolean> {
  return await matchesRow(
    db,
    sql`select
        from due_fee join fee_decision as decision on decision.id = due_fee.decision_id
        where due_fee.investor_login = ${investorLogin} and ${isUncounted(at)}`,
  );
}

/** Of some subscriptions with a Master those with fees of a closed week that are still to be decided, or with fees that `fee` had not counted at an instant. */
export async function listUncounted(
  db: Queryable,
  masterLogin: string,
  subscriptionIds: readonly bigint[],
  at: Date,
): Promise<Set<bigint>> {
  const ids = await column<bigint>(
    db,
    sql`select holding.subscription_id
        from holding
        where holding.subscription_id = any(${subscriptionIds}::bigint[])
          and (
            exists (
              select from open_week as week
                join allocation_row as part on part.master_login = week.master_login and part.number = week.number
                  and part.subscription_id = holding.subscription_id
              where week.master_login = ${masterLogin} and week.decided_subscription_id < holding.subscription_id
            )
            or exists (
              select from due_fee join fee_decision as decision on decision.id = due_fee.decision_id
              where due_fee.investor_login = holding.investor_login and ${isUncounted(at)}
            )
          )`,
  );
  return new Set(ids);
}
