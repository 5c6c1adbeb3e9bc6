import { MAX_TRANSFER_KEYS } from "#kernel/values/limits.ts";
import { type Labels, labelsText } from "#kernel/values/labels.ts";
import {
  allOf,
  execute,
  type Fragment,
  fragment,
  many,
  maybeOne,
  type Queryable,
  sql,
  withoutNulls,
} from "#kernel/postgres/query.ts";

/** PENDING: the caller still waits. UNKNOWN: the deadline has passed, and the operation may still be executed. */
export type OperationOutcome = "PENDING" | "EXECUTED" | "NOT_EXECUTED" | "UNKNOWN";

/** An assign or unassign with its outcome. */
export type RecordedOperation = {
  readonly operationId: string;
  readonly action: "assign" | "unassign";
  readonly subscriptionId: bigint;
  /** Of the Investor. */
  readonly login: string;
  readonly masterLogin: string;
  readonly outcome: OperationOutcome;
  /** Empty unless it was refused. */
  readonly refusalCode: string;
  readonly createdAt: Date;
  /** Undefined until its outcome is final. */
  readonly finishedAt: Date | undefined;
  /** Undefined for one that has never been to wait. */
  readonly queueState: "WAITING" | "RUNNING" | "ENDED" | undefined;
  readonly queuedUntil: Date | undefined;
  readonly labels: Labels | undefined;
  /** Of the exit transfers of an executed unassign, in their order. */
  readonly transferKeys: string[];
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

/** Where the operations of one action are. Those that are not executed have an index for each outcome. */
type Action = {
  readonly name: RecordedOperation["action"];
  readonly table: Fragment;
  /** A row of the table is one. */
  readonly isOne: Fragment;
  readonly id: Fragment;
  readonly subscription: Fragment;
  readonly times: Fragment;
  readonly queue: Fragment;
  /** Keys of its transfers. */
  readonly keys: Fragment;
  readonly executed: Fragment;
  readonly refused: Fragment;
  readonly open: Fragment;
  /** Of an open one: its caller waits no longer. */
  readonly overdue: (now: Date) => Fragment;
};

/** One has its instant in the pool before its fee configuration is confirmed: until then its outcome is not known. */
const ASSIGNS: Action = {
  name: "assign",
  table: fragment`subscription`,
  isOne: fragment`subscription.command_id <> ''`,
  id: fragment`subscription.command_id`,
  subscription: fragment`subscription.id`,
  times: fragment`created_at as "createdAt", case when status <> 'ASSIGNING' then started_at end as "finishedAt"`,
  queue: fragment`null::text as "queueState", null::timestamptz as "queuedUntil"`,
  keys: fragment`'{}'::text[]`,
  executed: fragment`status in ('ACTIVE', 'PAUSED', 'CANCELLED')`,
  refused: fragment`status = 'ABORTED'`,
  open: fragment`status = 'ASSIGNING'`,
  overdue: (now) => fragment`deadline_at <= ${now}`,
};

const IS_QUEUED = fragment`has_waited and not is_closing`;
const QUEUED_STATES = {
  WAITING: fragment`state = 'WAITING'`,
  RUNNING: fragment`state in ('WANTED', 'DECIDED') and lock_owner is not null`,
};

/** One that may wait is open without a deadline. */
const UNASSIGNS: Action = {
  name: "unassign",
  table: fragment`departure`,
  isOne: fragment`kind = 'EXIT'`,
  id: fragment`operation_id`,
  subscription: fragment`subscription_id`,
  times: fragment`requested_at as "createdAt", ended_at as "finishedAt"`,
  queue: fragment`
    case when ${IS_QUEUED} then case state when 'WAITING' then 'WAITING' when 'WANTED' then 'RUNNING' else 'ENDED' end end as "queueState",
    case when has_waited then queue_until end as "queuedUntil"`,
  keys: fragment`coalesce((
    select array_agg(key order by number)
    from exit_transfer
    where departure.state in ('DECIDED', 'ENDED') and exit_transfer.subscription_id = departure.subscription_id
      and number <= ${MAX_TRANSFER_KEYS}
  ), '{}')`,
  executed: fragment`state in ('DECIDED', 'ENDED')`,
  refused: fragment`state = 'REFUSED'`,
  open: fragment`state in ('WANTED', 'WAITING')`,
  overdue: (now) => fragment`queue_until is null and not is_closing and deadline_at <= ${now}`,
};

/** All of them; a further condition may follow. */
function rowsOf({ executed, refused, overdue, ...of }: Action, now: Date): Fragment {
  return fragment`
    select ${of.id} as "operationId", ${of.name}::text as action, ${of.subscription} as "subscriptionId", investor_login as login,
           master_login as "masterLogin", coalesce(refusal ->> 'code', '') as "refusalCode", ${of.times}, ${of.queue}, labels, ${of.keys} as "transferKeys",
           case when ${executed} then 'EXECUTED' when ${refused} then 'NOT_EXECUTED' when ${overdue(now)} then 'UNKNOWN'
                else 'PENDING' end as outcome
    from ${of.table} left join operation_label on operation_label.command_id = ${of.id}
    where ${of.isOne}`;
}

function isWith(outcome: OperationOutcome, { executed, refused, open, overdue }: Action, now: Date): Fragment {
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

export async function findOperation(
  db: Queryable,
  commandId: string,
  now: Date,
): Promise<RecordedOperation | undefined> {
  const row = await maybeOne<RecordedOperation>(
    db,
    sql`${rowsOf(ASSIGNS, now)} and ${ASSIGNS.id} = ${commandId}
        union all
        ${rowsOf(UNASSIGNS, now)} and ${UNASSIGNS.id} = ${commandId}`,
  );
  return row && withoutNulls(row);
}

/**
 * Newest first: ids grow with time, and are compared byte by byte, as in the other services. The ids of assigns and unassigns are each read in this
 * order by an index, up to the size of the page.
 */
export async function listOperations(db: Queryable, filter: OperationFilter, now: Date): Promise<RecordedOperation[]> {
  const { action, limit } = filter;
  const isOfUnassigns = filter.queueState !== undefined || filter.left !== undefined;
  const assigns = action === "unassign" || isOfUnassigns ? [] : await listOf(db, ASSIGNS, filter, now);
  const unassigns = action === "assign" ? [] : await listOf(db, UNASSIGNS, filter, now);
  return [...assigns, ...unassigns].toSorted(newestFirst).slice(0, limit);
}

function newestFirst(one: RecordedOperation, other: RecordedOperation): number {
  return one.operationId < other.operationId ? 1 : -1;
}

async function listOf(db: Queryable, of: Action, filter: OperationFilter, now: Date): Promise<RecordedOperation[]> {
  const rows = await many<RecordedOperation>(
    db,
    sql`${rowsOf(of, now)} and ${of.id} = any(array(${idsInOrder(of, filter, now)} limit ${filter.limit}))`,
  );
  return rows.map(withoutNulls);
}

/** The range of an index: for a Master that is equal the planner expects few, and would read and sort all of them. */
function idsInOrder(of: Action, filter: OperationFilter, now: Date): Fragment {
  const { masterLogin, outcome, fromId = "", beforeId } = filter;
  // Those that were not executed are few: they are read by an index of their own, also those of other Masters.
  const byMaster = masterLogin !== undefined && (outcome === undefined || outcome === "EXECUTED");
  const conditions = conditionsOf(of, byMaster ? { ...filter, masterLogin: undefined } : filter, now);
  const inOrder = byMaster
    ? fragment`
      and (master_login, ${of.id} collate "C") >= (${masterLogin}, ${fromId})
      and (master_login, ${of.id} collate "C") < (${masterLogin}, ${beforeId || AFTER_ALL})
      order by master_login desc, ${of.id} collate "C" desc`
    : fragment`order by ${of.id} collate "C" desc`;
  return fragment`select ${of.id} from ${of.table} where ${of.isOne} and ${conditions} ${inOrder}`;
}

/** After each id: ids have letters, digits and signs before it. */
const AFTER_ALL = "~";

function conditionsOf(of: Action, filter: OperationFilter, now: Date): Fragment {
  const { login, outcome, masterLogin, externalId, left, queueState, fromId, beforeId } = filter;
  return allOf([
    login === ""
      ? undefined
      : fragment`${of.subscription} = any(array(
               select id from subscription where investor_login = ${login} or master_login = ${login}))`,
    outcome && isWith(outcome, of, now),
    queueState && fragment`${IS_QUEUED} and ${QUEUED_STATES[queueState]}`,
    masterLogin === undefined ? undefined : fragment`master_login = ${masterLogin}`,
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

/** What its client calls a command, recorded before anything else of it. A repeated command has those of the first one. */
export async function insertOperationLabels(
  db: Queryable,
  commandId: string,
  labels: Labels | undefined,
): Promise<void> {
  const text = labelsText(labels);
  if (text === undefined || commandId === "") return;
  await execute(
    db,
    sql`insert into operation_label (command_id, labels) values (${commandId}, ${text}::jsonb) on conflict do nothing`,
  );
}
