import { type Fragment, fragment } from "#kernel/postgres/query.ts";

/** PENDING: the caller still waits. UNKNOWN: the deadline has passed, and the operation may still be executed. */
export type OperationOutcome = "PENDING" | "EXECUTED" | "NOT_EXECUTED" | "UNKNOWN";

/** Undefined matches all. */
type OfOutcome = { readonly outcome: OperationOutcome | undefined };

/** Of a row of operation_row. */
export function outcomeAt(now: Date): Fragment {
  return fragment`case when phase = 'OPEN' and "deadlineAt" <= ${now} then 'UNKNOWN'
                    when phase = 'OPEN' then 'PENDING'
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

/** The unassigns of one outcome, as operation_row has them. */
export function unassignsWith({ outcome }: OfOutcome, now: Date): Fragment {
  const isOpenWith = (deadline: Fragment) => fragment`and departure.state in ('WANTED', 'WAITING') and ${deadline}`;
  const isQueued = fragment`(departure.queue_until is not null or departure.is_closing)`;
  switch (outcome) {
    case undefined:
      return fragment``;
    case "EXECUTED":
      return fragment`and departure.state in ('DECIDED', 'ENDED')`;
    case "NOT_EXECUTED":
      return fragment`and departure.state = 'REFUSED'`;
    case "PENDING":
      return isOpenWith(fragment`(${isQueued} or departure.deadline_at > ${now})`);
    case "UNKNOWN":
      return isOpenWith(fragment`not ${isQueued} and departure.deadline_at <= ${now}`);
  }
}
