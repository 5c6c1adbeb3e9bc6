import { allOf, type Fragment, fragment, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { QueueState } from "#catalogue/queue-until-flat.ts";
import type { Cashflow, CurrentOutcome } from "../domain/cashflow.ts";
import { selectCashflows } from "./cashflows.ts";

type Named = { readonly operationId: string } | { readonly importedDeal: bigint };

export type LedgerFilter = {
  /** Empty matches all. */
  readonly login: string;
  /** Undefined matches all. */
  readonly comment: string | undefined;
  readonly outcome: CurrentOutcome | undefined;
  readonly action: Cashflow["action"] | undefined;
  readonly masterLogin: string | undefined;
  /** Ids from this one on. */
  readonly fromId: string | undefined;
  readonly externalId: string | undefined;
  /** Operations that one of these names. */
  readonly named?: readonly Named[] | undefined;
  /** Open operations in this state of the queue. */
  readonly queueState?: QueueState | undefined;
  /** Id of the last operation of the page before; empty to begin. */
  readonly beforeId: string;
  readonly limit: number;
};

/** A request that has repeated an operation with another command id. */
export type Repetition = { readonly commandId: string; readonly operationId: string };

/** Those of the ids that are repetitions. */
export async function listRepetitions(db: Queryable, commandIds: readonly string[]): Promise<Repetition[]> {
  return await many<Repetition>(
    db,
    sql`select command_id as "commandId", operation_id as "operationId"
        from cashflow_repetition join cashflow on cashflow.id = cashflow_id
        where command_id = any(${commandIds}::text[])`,
  );
}

/** Written out, because a partial index has the condition. */
const ACTION_IS = { deposit: fragment`action = 'deposit'`, withdraw: fragment`action = 'withdraw'` };

const OPEN_IN_QUEUE = fragment`queue_state in ('WAITING', 'RUNNING') and finished_at is null`;
const QUEUE_STATE_IS = {
  WANTED: fragment`queue_state = 'WANTED' and finished_at is null`,
  WAITING: fragment`${OPEN_IN_QUEUE} and queue_state = 'WAITING'`,
  RUNNING: fragment`${OPEN_IN_QUEUE} and queue_state = 'RUNNING'`,
};

type OpenOutcome = Exclude<CurrentOutcome, "EXECUTED" | "NOT_EXECUTED">;

/** Newest first. */
export async function listOperations(db: Queryable, filter: LedgerFilter, now: Date): Promise<Cashflow[]> {
  const { outcome, limit } = filter;
  const conditions = conditionsOf(filter);
  const matches =
    outcome === undefined
      ? conditions
      : outcome === "EXECUTED" || outcome === "NOT_EXECUTED"
        ? fragment`${conditions} and ${FINISHED_AS[outcome]}`
        : isOpenWith(fragment`${conditions} and ${openAs(outcome, now)}`, limit);
  return await selectCashflows(db, fragment`${matches} ${NEWEST_FIRST} limit ${limit}`);
}

const NEWEST_FIRST = fragment`order by operation_id collate "C" desc`;

function conditionsOf(filter: LedgerFilter): Fragment {
  const { login, comment, action, masterLogin, externalId, named, queueState, fromId, beforeId } = filter;
  return allOf([
    login === "" ? undefined : fragment`login = ${login}`,
    comment === undefined ? undefined : fragment`comment = ${comment}`,
    action && ACTION_IS[action],
    masterLogin === undefined ? undefined : fragment`master_login = ${masterLogin}`,
    externalId === undefined ? undefined : fragment`labels ->> 'externalId' = ${externalId}`,
    named && isNamed(named),
    queueState && QUEUE_STATE_IS[queueState],
    fromId === undefined ? undefined : fragment`operation_id collate "C" >= ${fromId}`,
    beforeId === "" ? undefined : fragment`operation_id collate "C" < ${beforeId}`,
  ]);
}

const FINISHED_AS = { EXECUTED: fragment`state = 'POSTED'`, NOT_EXECUTED: fragment`state = 'REFUSED'` };

/** Of an open operation, as currentOutcome of domain/cashflow.ts decides it. */
function openAs(outcome: OpenOutcome, now: Date): Fragment {
  return fragment`${outcome} =
               case when doubt is not null then doubt
                    when queue_state in ('WAITING', 'RUNNING') then 'PENDING'
                    when deadline <= ${now} then 'UNKNOWN'
                    else 'PENDING'
               end`;
}

/** The condition of the index cashflow_newest_left_open. */
const IS_LEFT_OPEN = fragment`finished_at is null and (tries > 0 or doubt is not null or queue_state is not null)`;
/** The others, of the index cashflow_to_settle: as many as are in progress. */
const IS_IN_FIRST_TRY = fragment`state = 'RECORDED' and tries = 0 and doubt is null and queue_state is null`;

function isOpenWith(matches: Fragment, limit: number): Fragment {
  return fragment`cashflow.id = any(array(
               (select id from cashflow where ${IS_LEFT_OPEN} and ${matches} ${NEWEST_FIRST} limit ${limit})
               union all
               select id from cashflow where ${IS_IN_FIRST_TRY} and ${matches}))`;
}

/** They are looked up first: a page of operations by their ids would look for them among all. */
function isNamed(named: readonly Named[]): Fragment {
  const ids = named.flatMap((each) => ("operationId" in each ? each.operationId : []));
  const deals = named.flatMap((each) => ("importedDeal" in each ? each.importedDeal : []));
  return fragment`cashflow.id = any(array(
               select id from cashflow where operation_id = any(${ids}::text[])
               union all
               select id from cashflow where is_imported and deal_id = any(${deals}::bigint[])))`;
}
