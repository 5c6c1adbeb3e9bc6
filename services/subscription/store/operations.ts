import type { Labels } from "#kernel/labels.ts";
import { allOf, type Fragment, fragment, many, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { QueueState } from "#kernel/queue-until-flat.ts";
import {
  IS_NEWEST,
  isWith,
  OF_ASSIGNS,
  OF_UNASSIGNS,
  type OperationOutcome,
  outcomeAt,
  type Outcomes,
} from "./operation-outcomes.ts";

/** An assign or unassign with its outcome. */
export type RecordedOperation = {
  readonly commandId: string;
  readonly action: "assign" | "unassign";
  readonly subscriptionId: bigint;
  readonly investorLogin: string;
  readonly masterLogin: string;
  readonly outcome: OperationOutcome;
  readonly refusalCode: string | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
  /** Null for one that has never been to wait. */
  readonly queueState: QueueState | "ENDED" | null;
  readonly queueUntil: Date | null;
  readonly labels: Labels | null;
};

export type OperationFilter = {
  /** Login of an Investor or a Master; empty matches all. */
  readonly login: string;
  /** Undefined matches all. */
  readonly outcome: OperationOutcome | undefined;
  readonly action: RecordedOperation["action"] | undefined;
  readonly masterLogin: string | undefined;
  /** Ids from this one on. */
  readonly fromId: string | undefined;
  readonly externalId: string | undefined;
  /** The unassigns by which Investors have left these subscriptions. */
  readonly left?: readonly bigint[] | undefined;
  /** Unassigns in this state of the queue. */
  readonly queueState?: "WAITING" | "RUNNING" | undefined;
  /** Id of the last operation of the page before; empty to begin. */
  readonly beforeId: string;
  readonly limit: number;
};

/** Each assign that is recorded; a further condition may follow. */
function assignsAt(now: Date): Fragment {
  return fragment`
    select subscription.command_id as "commandId", 'assign' as action, subscription.id as "subscriptionId",
           subscription.investor_login as "investorLogin", subscription.master_login as "masterLogin", ${outcomeAt(OF_ASSIGNS, now)} as outcome,
           assignment.refusal ->> 'code' as "refusalCode", subscription.created_at as "createdAt", subscription.started_at as "finishedAt",
           null::text as "queueState", null::timestamptz as "queueUntil", labels
    from subscription
    join assignment on assignment.subscription_id = subscription.id
    left join operation_label on operation_label.command_id = subscription.command_id
    where subscription.command_id <> '' and ${IS_NEWEST}`;
}

const IS_QUEUED = fragment`departure.has_waited and not departure.is_closing`;
const QUEUED_STATES = {
  WAITING: fragment`departure.state = 'WAITING'`,
  RUNNING: fragment`departure.state in ('WANTED', 'DECIDED') and departure.lock_owner is not null`,
};

function unassignsAt(now: Date): Fragment {
  return fragment`
    select departure.operation_id as "commandId", 'unassign' as action, departure.subscription_id as "subscriptionId",
           departure.investor_login as "investorLogin", departure.master_login as "masterLogin", ${outcomeAt(OF_UNASSIGNS, now)} as outcome,
           departure.refusal ->> 'code' as "refusalCode", departure.requested_at as "createdAt", departure.ended_at as "finishedAt",
           case when ${IS_QUEUED}
                then case when ${QUEUED_STATES.WAITING} then 'WAITING' when ${QUEUED_STATES.RUNNING} then 'RUNNING' else 'ENDED' end
           end as "queueState",
           case when departure.has_waited then departure.queue_until end as "queueUntil", labels
    from departure
    left join operation_label on operation_label.command_id = departure.operation_id
    where departure.kind = 'EXIT'`;
}

export async function findOperation(
  db: Queryable,
  commandId: string,
  now: Date,
): Promise<RecordedOperation | undefined> {
  return maybeOne<RecordedOperation>(
    db,
    sql`${assignsAt(now)} and subscription.command_id = ${commandId}
        union all
        ${unassignsAt(now)} and departure.operation_id = ${commandId}`,
  );
}

/**
 * Newest first: ids grow with time, and are compared byte by byte, as in the other services. The ids of assigns and unassigns are each read in this
 * order by an index, up to the size of the page.
 */
export async function listOperations(db: Queryable, filter: OperationFilter, now: Date): Promise<RecordedOperation[]> {
  const { action, limit } = filter;
  const isOfUnassigns = filter.queueState !== undefined || filter.left !== undefined;
  const assigns = action === "unassign" || isOfUnassigns ? [] : await listAssigns(db, filter, now);
  const unassigns = action === "assign" ? [] : await listUnassigns(db, filter, now);
  return [...assigns, ...unassigns].toSorted(newestFirst).slice(0, limit);
}

function newestFirst(one: RecordedOperation, other: RecordedOperation): number {
  return one.commandId < other.commandId ? 1 : -1;
}

/** A repeated assign has a row for each try. */
async function listAssigns(db: Queryable, filter: OperationFilter, now: Date): Promise<RecordedOperation[]> {
  const { login, limit } = filter;
  const matches = fragment`subscription.command_id <> '' and ${conditionsOf(ASSIGNS, filter, now)}`;
  const ids = login === "" ? eachAssign(matches, limit) : allAssigns(matches);
  return many<RecordedOperation>(
    db,
    sql`${assignsAt(now)} and subscription.command_id = any(array(${ids} limit ${limit}))`,
  );
}

async function listUnassigns(db: Queryable, filter: OperationFilter, now: Date): Promise<RecordedOperation[]> {
  return many<RecordedOperation>(
    db,
    sql`${unassignsAt(now)} and departure.operation_id = any(array(${unassignsInOrder(filter, now)} limit ${filter.limit}))`,
  );
}

/** The range of an index: for a Master that is equal the planner expects few, and would read and sort all of them. */
function unassignsInOrder(filter: OperationFilter, now: Date): Fragment {
  const { masterLogin, outcome, fromId = "", beforeId } = filter;
  // Those that were not executed are few: they are read by an index of their own, also those of other Masters.
  const byMaster = masterLogin !== undefined && (outcome === undefined || outcome === "EXECUTED");
  const conditions = conditionsOf(UNASSIGNS, byMaster ? { ...filter, masterLogin: undefined } : filter, now);
  const inOrder = byMaster
    ? fragment`
      and (departure.master_login, departure.operation_id collate "C") >= (${masterLogin}, ${fromId})
      and (departure.master_login, departure.operation_id collate "C") < (${masterLogin}, ${beforeId || AFTER_ALL})
      order by departure.master_login desc, departure.operation_id collate "C" desc`
    : fragment`order by departure.operation_id collate "C" desc`;
  return fragment`
    select departure.operation_id
    from departure
    where departure.kind = 'EXIT' and ${conditions} ${inQueue(filter)} ${inOrder}`;
}

/** After each id: ids have letters, digits and signs before it. */
const AFTER_ALL = "~";

function inQueue({ queueState }: Pick<OperationFilter, "queueState">): Fragment {
  if (queueState === undefined) return fragment``;
  return fragment`and ${IS_QUEUED} and ${QUEUED_STATES[queueState]}`;
}

/** All that match are read: those of one login are few. */
function allAssigns(matches: Fragment): Fragment {
  return fragment`
    select distinct subscription.command_id collate "C"
    from subscription
    where ${matches}
    order by subscription.command_id collate "C" desc`;
}

/** One after the other by the index, over the further rows of each. */
function eachAssign(matches: Fragment, limit: number): Fragment {
  const next = (further: Fragment) => fragment`
    select subscription.command_id
    from subscription
    where ${matches} ${further}
    order by subscription.command_id collate "C" desc
    limit 1`;
  return fragment`
    with recursive page (command_id, number) as (
      (select newest.command_id, 1 from (${next(fragment``)}) as newest)
      union all
      select (${next(fragment`and subscription.command_id collate "C" < page.command_id`)}), number + 1
      from page
      where number < ${limit} and page.command_id is not null
    )
    select command_id from page where command_id is not null order by number`;
}

type Columns = {
  readonly outcomes: Outcomes;
  readonly id: Fragment;
  readonly subscription: Fragment;
  readonly master: Fragment;
};

const ASSIGNS: Columns = {
  outcomes: OF_ASSIGNS,
  id: fragment`subscription.command_id`,
  subscription: fragment`subscription.id`,
  master: fragment`subscription.master_login`,
};
const UNASSIGNS: Columns = {
  outcomes: OF_UNASSIGNS,
  id: fragment`departure.operation_id`,
  subscription: fragment`departure.subscription_id`,
  master: fragment`departure.master_login`,
};

function conditionsOf(of: Columns, filter: OperationFilter, now: Date): Fragment {
  const { login, outcome, masterLogin, externalId, left, fromId, beforeId } = filter;
  return allOf([
    login === ""
      ? undefined
      : fragment`${of.subscription} = any(array(
               select id from subscription where investor_login = ${login} or master_login = ${login}))`,
    outcome && isWith(outcome, of.outcomes, now),
    masterLogin === undefined ? undefined : fragment`${of.master} = ${masterLogin}`,
    externalId === undefined
      ? undefined
      : fragment`${of.id} = any(array(select command_id from operation_label where labels ->> 'externalId' = ${externalId}))`,
    left === undefined
      ? undefined
      : fragment`${of.id} = any(array(
               select operation_id from departure
               where kind = 'EXIT' and state in ('DECIDED', 'ENDED') and subscription_id = any(${left}::bigint[])))`,
    fromId === undefined ? undefined : fragment`${of.id} collate "C" >= ${fromId}`,
    beforeId === "" ? undefined : fragment`${of.id} collate "C" < ${beforeId}`,
  ]);
}

/** Keys of the exit transfers of each subscription, in their order, at most `limit` of each. */
export async function listExitKeys(
  db: Queryable,
  subscriptionIds: readonly bigint[],
  limit: number,
): Promise<ReadonlyMap<bigint, string[]>> {
  if (subscriptionIds.length === 0) return new Map();
  const rows = await many<{ readonly subscriptionId: bigint; readonly key: string }>(
    db,
    sql`select wanted.id as "subscriptionId", transfer.key
        from unnest(${subscriptionIds}::bigint[]) as wanted (id)
        cross join lateral (
          select key, number from exit_transfer where subscription_id = wanted.id order by number limit ${limit}
        ) as transfer
        order by wanted.id, transfer.number`,
  );
  const bySubscription = Map.groupBy(rows, ({ subscriptionId }) => subscriptionId);
  return new Map([...bySubscription].map(([id, transfers]) => [id, transfers.map(({ key }) => key)]));
}
