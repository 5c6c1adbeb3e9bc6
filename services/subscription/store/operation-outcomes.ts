import { type Fragment, fragment } from "#kernel/postgres/query.ts";

/** PENDING: the caller still waits. UNKNOWN: the deadline has passed, and the operation may still be executed. */
export type OperationOutcome = "PENDING" | "EXECUTED" | "NOT_EXECUTED" | "UNKNOWN";

/** The conditions of rows of one action. Of an open one it depends on the time whether its caller still waits. */
export type Outcomes = {
  readonly executed: Fragment;
  readonly refused: Fragment;
  readonly open: Fragment;
  readonly overdue: (now: Date) => Fragment;
};

/** An assign that was refused and repeated has several rows: the newest one counts. */
export const IS_NEWEST = fragment`not exists (
  select from subscription newer where newer.command_id = subscription.command_id and newer.id > subscription.id)`;

/** Those that are refused or open have an index each. */
export const OF_ASSIGNS: Outcomes = {
  executed: fragment`subscription.status in ('ACTIVE', 'PAUSED', 'CANCELLED')`,
  refused: fragment`subscription.status = 'ABORTED' and ${IS_NEWEST}`,
  open: fragment`subscription.status = 'ASSIGNING'`,
  overdue: (now) => fragment`exists (
    select from assignment where assignment.subscription_id = subscription.id and assignment.deadline_at <= ${now})`,
};

/** One that may wait is open without a deadline. */
export const OF_UNASSIGNS: Outcomes = {
  executed: fragment`departure.state in ('DECIDED', 'ENDED')`,
  refused: fragment`departure.state = 'REFUSED'`,
  open: fragment`departure.state in ('WANTED', 'WAITING')`,
  overdue: (now) =>
    fragment`departure.queue_until is null and not departure.is_closing and departure.deadline_at <= ${now}`,
};

export function outcomeAt({ executed, refused, overdue }: Outcomes, now: Date): Fragment {
  return fragment`case when ${executed} then 'EXECUTED'
                    when ${refused} then 'NOT_EXECUTED'
                    when ${overdue(now)} then 'UNKNOWN'
                    else 'PENDING' end`;
}

export function isWith(outcome: OperationOutcome, { executed, refused, open, overdue }: Outcomes, now: Date): Fragment {
  switch (outcome) {
    case "EXECUTED":
      return executed;
    case "NOT_EXECUTED":
      return refused;
    case "PENDING":
      return fragment`${open} and not (${overdue(now)})`;
    case "UNKNOWN":
      return fragment`${open} and ${overdue(now)}`;
  }
}
