import { column, execute, fragment, many, type Queryable, sql, unnest, withoutNulls } from "#kernel/postgres/query.ts";
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
export type FeeDecision = {
  /** Of the run. */
  readonly masterLogin: string;
  /** Key of the departure; empty for a week. */
  readonly departureKey: string;
  readonly periodStart: Date;
  readonly periodEnd: Date;
  /** No further Investors of the week remain. */
  readonly isLast: boolean;
  /** The Investor of a departure; empty for a week. */
  readonly investorLogin: string;
  /** Keys of open weekly fees that a departure collects first. */
  readonly weeklyKeys: readonly string[];
  /** In the sequence of collection for each Investor. */
  readonly due: readonly DecidedFee[];
};

export type StoredDecision = FeeDecision & { readonly id: bigint };

/**
 * Inserts decisions, each under the key of another departure, or one of a week. A key has no line break. The explanations, one a line, are one
 * text: in an array each of their quotes would be escaped.
 */
export async function insertDecisions(tx: Transaction, decisions: readonly FeeDecision[]): Promise<void> {
  if (decisions.length === 0) return;
  const runs = decisions.map(({ due: _due, weeklyKeys, ...run }) => ({ ...run, weeklyKeys: weeklyKeys.join("\n") }));
  const due = decisions.flatMap(({ departureKey, due: own }) =>
    own.map((fee, index) => ({ ...fee, departureKey, number: index + 1 })),
  );
  await execute(
    tx,
    sql`with decision as (
          insert into fee_decision
            (master_login, departure_key, investor_login, period_start, period_end, is_last, weekly_keys)
          select master_login, departure_key, investor_login, period_start, period_end, is_last,
                 string_to_array(weekly_keys, ${"\n"})
          from ${unnest(runs)} as decided (master_login text, departure_key text, investor_login text, period_start timestamptz,
                       period_end timestamptz, is_last boolean, weekly_keys text)
          returning id, departure_key
        )
        insert into due_fee
          (decision_id, number, investor_login, key, kind, suffix, owed_to, amount_minor, owed_since, explanation)
        select decision.id, number, investor_login, key, kind, suffix, owed_to, amount, since, nullif(explanation, '')::jsonb
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
             join decision using (departure_key)`,
  );
}

const COLUMNS = fragment`id, master_login as "masterLogin", departure_key as "departureKey", investor_login as "investorLogin",
  period_start as "periodStart", period_end as "periodEnd", is_last as "isLast", weekly_keys as "weeklyKeys"`;

/** A decision as its table has it, without its fees. */
type Row = Omit<StoredDecision, "due">;

/** The pages of a Master's weeks that `fee` has not answered for, in their sequence. */
export async function listUnrecordedPages(
  db: Queryable,
  masterLogin: string,
  limit: number,
): Promise<StoredDecision[]> {
  const rows = await many<Row>(
    db,
    sql`select ${COLUMNS}
        from fee_decision
        where master_login = ${masterLogin} and recorded_at is null and departure_key = ''
        order by id
        limit ${limit}`,
  );
  return await withFees(db, rows);
}

/** The decision of a departure that has not ended; undefined when nothing was due. */
export async function findDecisionOf(db: Queryable, departureKey: string): Promise<FeeDecision | undefined> {
  const rows = await many<Row>(
    db,
    sql`select ${COLUMNS} from fee_decision where departure_key = ${departureKey} and departure_key <> ''`,
  );
  return (await withFees(db, rows))[0];
}

/** Decisions, in their sequence, each with its fees. */
export async function withFees<Decision extends Row>(
  db: Queryable,
  rows: readonly Decision[],
): Promise<(Decision & StoredDecision)[]> {
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
export const decisionQueue = workQueue<Row & { readonly tries: number }>({
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
  columns: COLUMNS,
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

/** Logins of those Investors with fees of a closed week that are still to be decided, or with fees that `fee` had not counted at an instant. */
export async function listUncounted(
  db: Queryable,
  masterLogin: string,
  investors: readonly { readonly investorLogin: string; readonly subscriptionId: bigint | undefined }[],
  at: Date,
): Promise<Set<string>> {
  const logins = await column<string>(
    db,
    sql`select wanted.investor_login
        from ${unnest(investors)} as wanted (investor_login text, subscription_id bigint)
        where exists (
            select from open_week as week
              join allocation_row as part on part.master_login = week.master_login and part.number = week.number
                and part.subscription_id = wanted.subscription_id
            where week.master_login = ${masterLogin} and week.decided_subscription_id < wanted.subscription_id
          )
          or exists (
            select from due_fee join fee_decision as decision on decision.id = due_fee.decision_id
            where due_fee.investor_login = wanted.investor_login
              and (decision.recorded_at is null or decision.recorded_at >= ${at})
          )`,
  );
  return new Set(logins);
}
