import { type Finding, MAX_FINDINGS } from "#kernel/reconcile/check.ts";
import { many, type Queryable, sql } from "#kernel/postgres/query.ts";

type Row = {
  readonly id: bigint;
  readonly login: string;
  readonly master: string;
  readonly amendment: string;
  readonly deal: bigint;
  readonly operation: bigint | null;
  readonly amountMinor: bigint;
  readonly at: Date;
};

const MESSAGES: Readonly<Record<string, string>> = {
  deal_gone: "deleted on the trading platform",
  deal_changed: "amended on the trading platform after it was booked",
  deal_cancelled: "cancelled on the trading platform",
  unmatched_deal: "a deal of this service that no operation accounts for",
};

/**
 * What the log was told about its own past. The reader of deals compares the platform's history with the log all the time;
 * here it is a break for as long as nobody has decided about it.
 */
export async function listAmended(db: Queryable): Promise<Finding[]> {
  const rows = await many<Row>(
    db,
    sql`select told.id, told.login, case role when 'master' then told.login else '' end as master, told.amendment,
               told.deal_id as deal, told.deal_at as at, booked.operation_number as operation,
               coalesce(booked.amount_minor, 0) as "amountMinor"
        from log_entry as told
             join account on account.login = told.login
             left join log_entry as booked
               on booked.server = told.server and booked.deal_id = told.deal_id and booked.kind <> 'amendment'
             cross join lateral (
               select bool_or(state = 'DECIDED') and not bool_or(state in ('OPEN', 'PROPOSED')) as said
               from review_case
               where review_case.login = told.login
                 and (review_case.deal_id = told.deal_id or operation_id = booked.operation_number::text)
             ) as people
        where told.kind = 'amendment' and people.said is not true
        order by told.id desc
        limit ${MAX_FINDINGS}`,
  );
  return rows.map(findingOf);
}

function findingOf({ login, master, amendment, deal, operation, amountMinor, at }: Row): Finding {
  return {
    key: `${amendment}:${login}:${deal}`,
    login,
    masterLogin: master,
    atRiskMinor: amountMinor < 0n ? -amountMinor : amountMinor,
    operationIds: operation === null ? [] : [String(operation)],
    dealIds: [deal],
    message: `Deal ${deal}: ${MESSAGES[amendment] ?? amendment}.`,
    evidence: { amendment, booked_minor: String(amountMinor), deal_at: at.toISOString() },
  };
}
