import { abs, type Check, type Finding, findsAll, MAX_FINDINGS } from "#kernel/reconcile/check.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import type { Deps } from "../deps.ts";

/** The outcome of a lost answer is usually determined within seconds; a longer time is reported to operators. */
const WARN_AFTER_MS = 30_000;

type Row = {
  readonly number: bigint;
  readonly login: string;
  readonly key: string;
  readonly state: string;
  readonly amountMinor: bigint;
  readonly since: Date;
  readonly attempts: unknown;
};

/** unresolved_operations. Legs whose outcome has been unknown for too long. */
export function unresolved({ pool }: Pick<Deps, "pool">): Check {
  return findsAll("unresolved_operations", async () => (await many<Row>(pool, unresolvedLegs())).map(findingOf));
}

function unresolvedLegs() {
  return sql`
    select leg.number, leg.login, transfer.key, leg.state, leg.amount_minor as "amountMinor",
           first.granted_at as since,
           (select jsonb_agg(jsonb_build_object('number', number, 'reference', reference, 'state', state) order by number)
            from attempt
            where leg_number = leg.number) as attempts
    from leg
         join transfer on transfer.id = transfer_id
         join attempt as first on first.leg_number = leg.number and first.number = 1
    where leg.state in ('SENDING', 'UNKNOWN')
      and first.granted_at < clock_timestamp() - ${WARN_AFTER_MS} * interval '1 millisecond'
    order by first.granted_at
    limit ${MAX_FINDINGS}`;
}

function findingOf({ number, login, key, state, amountMinor, since, attempts }: Row): Finding {
  return {
    key: `operation:${number}`,
    login,
    // No Master is stopped: the login accepts no other leg until the scans have determined the outcome.
    atRiskMinor: abs(amountMinor),
    operationIds: [String(number)],
    message: `The outcome of leg ${number} is unknown since ${since.toISOString()}.`,
    evidence: { key, state, since: since.toISOString(), attempts },
  };
}
