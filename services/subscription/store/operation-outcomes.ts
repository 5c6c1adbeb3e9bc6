import { type Fragment, fragment } from "#kernel/postgres/query.ts";

/** PENDING: the caller still waits. UNKNOWN: the deadline has passed, and the operation may still be executed. */
export type OperationOutcome = "PENDING" | "EXECUTED" | "NOT_EXECUTED" | "UNKNOWN";

/** Undefined matches all. */
type OfOutcome = { readonly outcome: OperationOutcome | undefined };

/** Of a row of operation_row. */
export function outcomeAt(now: Date): Fragment {
  return fragment`case when phase = 'OPEN' and "deadlineAt" <= ${now} then 'UNKNOWN'
                    when phase = 'BETWEEN_TRIES' and "deadlineAt" <= ${now} then 'NOT_EXECUTED'
                    when phase in ('OPEN', 'BETWEEN_TRIES') then 'PENDING'
                    else phase end`;
}

/**
 * The assigns of one outcome, as operation_row has them. Those that are refused or open have an index each; of a refused one that was
 * repeated the last try counts.
 */
export function assignsWith({ outcome }: OfOutcome, now: Date): Fragment {
  const isOpenUntil = (until: Fragment) => fragment`
    and subscription.status = 'ASSIGNING'
    and exists (select from assignment where subscription_id = subscription.id and deadline_at ${until})`;
  switch (outcome) {
    case undefined:
      return fragment``;
    case "EXECUTED":
      return fragment`and subscription.status in ('ACTIVE', 'PAUSED', 'CANCELLED')`;
    case "NOT_EXECUTED":
      return fragment`
    and subscription.status = 'ABORTED'
    and not exists (select from subscription newer
                    where newer.command_id = subscription.command_id and newer.id > subscription.id)`;
    case "PENDING":
      return isOpenUntil(fragment`> ${now}`);
    case "UNKNOWN":
      return isOpenUntil(fragment`<= ${now}`);
  }
}

/** Of an unassign it follows from several rows, which are read only for those that may have it. */
export function unassignsWith({ outcome }: OfOutcome, now: Date): Fragment {
  if (outcome === undefined) return fragment``;
  return fragment`and ${MAY_BE[outcome]}
    and ${outcome} = (select ${outcomeAt(now)} from operation_row
                      where action = 'unassign' and "commandId" = unassignment.command_id)`;
}

/** One whose caller has got a refusal is open again while the same command, sent once more, has a try. */
const MAY_BE_OPEN = fragment`unassignment.command_id = any(array(
      select command_id from unassignment where ended_at is null
      union all
      select command_id from exit where lock_owner is not null))`;

/** One whose end a crash has lost may have any outcome. */
const MAY_BE: Readonly<Record<OperationOutcome, Fragment>> = {
  EXECUTED: fragment`true`,
  NOT_EXECUTED: fragment`(unassignment.ended_at is null or unassignment.refusal is not null)`,
  PENDING: MAY_BE_OPEN,
  UNKNOWN: MAY_BE_OPEN,
};
