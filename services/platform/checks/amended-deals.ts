import { abs, type Finding, MAX_FINDINGS } from "#kernel/reconcile/check.ts";
import { many, type Queryable, sql } from "#kernel/postgres/query.ts";

type Row = {
  readonly id: bigint;
  readonly login: string;
  readonly master: string;
  readonly amendment: string;
  readonly deal: bigint;
  readonly leg: bigint | null;
  readonly amountMinor: bigint;
  readonly at: Date;
};

/** A review that names a deal as the cause of its stop, and decides nothing about the deal. */
const ABOUT_ALL_ACCOUNTS = "database_behind";
/** The review of an account whose deals were amended: it is about all that were amended before the decision. */
const ABOUT_THE_HISTORY = "history_changed";

const MESSAGES: Readonly<Record<string, string>> = {
  deal_gone: "deleted on the trading platform",
  deal_changed: "amended on the trading platform after it was booked",
  deal_cancelled: "cancelled on the trading platform",
  unmatched_deal: "a deal of this service that no leg accounts for",
};

/**
 * Amendments in the log. The reader of deals compares the platform's history with the log continuously and records
 * amendments; each is a break until operators have decided its review.
 */
export async function listAmended(db: Queryable): Promise<Finding[]> {
  const rows = await many<Row>(
    db,
    sql`select amended.id, amended.login, case role when 'master' then amended.login else '' end as master, amended.amendment,
               amended.deal_id as deal, amended.deal_at as at, booked.leg_number as leg,
               coalesce(booked.amount_minor, 0) as "amountMinor"
        from log_entry as amended
             join account on account.login = amended.login
             left join log_entry as booked
               on booked.server = amended.server and booked.deal_id = amended.deal_id and booked.kind <> 'amendment'
             cross join lateral (
               select bool_or(state = 'DECIDED') and not bool_or(state in ('OPEN', 'PROPOSED')) as decided
               from review_case
               where review_case.login = amended.login
                 and case when amended.shown_as is null
                          then review_case.deal_id = amended.deal_id and reason <> ${ABOUT_ALL_ACCOUNTS}
                          else reason = ${ABOUT_THE_HISTORY} and confirmed_at >= amended.logged_at end
             ) as reviews
        where amended.kind = 'amendment' and reviews.decided is not true
        order by amended.id desc
        limit ${MAX_FINDINGS}`,
  );
  return rows.map(findingOf);
}

function findingOf({ login, master, amendment, deal, leg, amountMinor, at }: Row): Finding {
  return {
    key: `${amendment}:${login}:${deal}`,
    login,
    masterLogin: master,
    atRiskMinor: abs(amountMinor),
    operationIds: leg === null ? [] : [String(leg)],
    dealIds: [deal],
    message: `Deal ${deal}: ${MESSAGES[amendment] ?? amendment}.`,
    evidence: { amendment, booked_minor: String(amountMinor), deal_at: at.toISOString() },
  };
}
