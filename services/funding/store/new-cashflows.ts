import { labelsText } from "#kernel/values/labels.ts";
import { type Fragment, fragment, many, one, type Queryable, sql, withoutNulls } from "#kernel/postgres/query.ts";
import type { NewCashflow } from "../domain/cashflow.ts";
import { DUPLICATE_WINDOW_MS, type Duplicates, type KeyedOperation } from "../domain/duplicate.ts";

/** What a request was decided with. */
export type Considered = Duplicates & {
  /** Its row, when it is recorded. */
  readonly id: bigint | undefined;
  readonly firstDepositChecked: boolean | undefined;
  readonly minDeposit: bigint | undefined;
  readonly masterLogin: string | undefined;
  /** The row that the id of the operation stood for before. */
  readonly knownId: bigint | undefined;
  /** Another operation has the key of the client. */
  readonly keyed: KeyedOperation | undefined;
  /** This service knows everything about the Investor that the request has to be decided with. */
  readonly hasFacts: boolean;
};

type Row = Pick<Considered, "id" | "firstDepositChecked" | "minDeposit" | "masterLogin" | "knownId" | "hasFacts"> & {
  readonly requested: string;
  readonly keyedId: bigint | undefined;
  readonly keyedOperation: string | undefined;
  readonly hasKey: boolean | undefined;
  readonly isSame: boolean | undefined;
  readonly isInProgress: boolean | undefined;
} & EqualRow;

type EqualRow = {
  readonly equalId: string | undefined;
  readonly equalDeal: bigint | undefined;
  readonly isRecent: boolean | undefined;
};

/** The condition of the index cashflow_equal. */
const IS_IN_CHAIN = fragment`duplicate_scope_key is not null and (deal_id is not null or state = 'RECORDED')`;

/** The last operation that equals a request, and whether it was executed within the window. */
const EQUAL = fragment`left join lateral (
                 select id, operation_id, deal_id, finished_at
                 from cashflow
                 where duplicate_scope_key = scope_key and login = requested.login and action = requested.action
                   and amount_minor = amount and comment = requested.comment
                   and ${IS_IN_CHAIN}
                 order by follows desc
                 limit 1
               ) as equal on true`;
const IS_RECENT = fragment`equal.finished_at >= at - ${DUPLICATE_WINDOW_MS} * interval '1 millisecond'`;

/** What a request finds: the row that its id stands for, and the last one under its key. */
const RECORDED = fragment`left join lateral (
                 select id from cashflow where operation_id = requested.operation_id
                 union all
                 select cashflow_id from cashflow_repetition where command_id = requested.operation_id
                 limit 1
               ) as known on true
               left join lateral (
                 select id, operation_id, action, login, amount_minor, comment, state, deadline, finished_at, queue_state, labels
                 from cashflow
                 where cashflow.key_client = requested.client and cashflow.key_hash = requested.hash
                 order by key_follows desc
                 limit 1
               ) as keyed on true`;

/** Whether the last operation under the key of a request has the key, and is what the request asks for. */
const OF_KEY = fragment`keyed.id as keyed_id, keyed.operation_id as keyed_operation,
                 keyed.state <> 'REFUSED' and coalesce(keyed.finished_at >= kept_since, true) as has_key,
                 keyed.action = requested.action and keyed.login = requested.login and keyed.amount_minor = amount
                   and keyed.comment = requested.comment
                   and keyed.labels is not distinct from requested.labels::jsonb as is_same,
                 keyed.finished_at is null and keyed.deadline > at
                   and (keyed.queue_state is null or keyed.queue_state = 'WANTED') as is_in_progress`;

/** What the feeds say of the Investor of a request, and whether it was funded before. */
const FACTS = fragment`left join lateral (
                 select known_investor.login, known_investor.master_login, min_deposit_minor as minimum
                 from known_investor left join known_master on known_master.login = known_investor.master_login
                 where known_investor.login = requested.login
                   and (known_investor.master_login is null or known_master.login is not null)
                 limit 1
               ) as facts on true
               left join lateral (
                 select id
                 from cashflow
                 where login = requested.login and action = 'deposit' and state = 'POSTED'
                 limit 1
               ) as funded on true`;

/**
 * Records requested operations before another service is called, so that a crash leaves rows to settle rather than lost money.
 * One statement reads what each is decided with and inserts those that nothing forbids: known facts, a deposit that is not the
 * first or has facts that were asked for, no open duplicate, no executed one that the API key rejects, and no other operation that has the key of the client. The
 * id of a request that asks for that operation again stands for it from now on. A row that was inserted by another transaction after this
 * statement began is left out without a reason; the next call finds that. All statements insert equal operations in one sequence, so that
 * two never wait for each other. By operation id.
 */
export async function insertCashflows(
  db: Queryable,
  requested: readonly NewCashflow[],
): Promise<ReadonlyMap<string, Considered>> {
  const rows = await many<Row>(
    db,
    sql`with considered as (
          select requested.*, known.id as known_id, funded.id is not null as is_funded,
                 has_asked or (facts.login is not null and (requested.action = 'withdraw' or funded.id is not null)) as has_facts,
                 case when has_asked then asked_minimum else facts.minimum end as minimum,
                 case when has_asked then asked_master else facts.master_login end as followed,
                 equal.id as equal_id, equal.operation_id as equal_operation, equal.deal_id as equal_deal,
                 ${IS_RECENT} as is_recent,
                 ${OF_KEY}
          from ${rowsOf(requested)}
               ${RECORDED}
               ${FACTS}
               ${EQUAL}
        ), inserted as (
          insert into cashflow (operation_id, action, login, amount_minor, comment, duplicate_scope_key, state,
                                deadline, created_at, next_try_at, first_deposit_checked, min_deposit_minor, follows,
                                possible_duplicate_of, key_client, key_hash, key_follows, master_login,
                                labels, queue_state, queue_until)
          select operation_id, action, login, amount, comment, scope_key, 'RECORDED', deadline, at, deadline,
                 case when action = 'deposit' then not is_funded and minimum is not null end,
                 case when action = 'deposit' then coalesce(minimum, 0) end,
                 coalesce(equal_id, 0), case when is_recent then equal_deal end,
                 client, hash, coalesce(keyed_id, 0), followed,
                 labels::jsonb, case when queue_until is not null then 'WANTED' end, queue_until
          from considered
          where known_id is null and has_key is not true and has_facts
            and (equal_id is null or (equal_deal is not null and not (rejects and is_recent)))
          order by scope_key nulls first, login, action, amount, comment, operation_id
          on conflict do nothing
          returning id, operation_id, first_deposit_checked, min_deposit_minor, master_login
        ), repetitions as (
          insert into cashflow_repetition (command_id, cashflow_id)
          select operation_id, keyed_id from considered where known_id is null and has_key and is_same
          order by operation_id
          on conflict do nothing
        )
        select considered.operation_id as requested, inserted.id, first_deposit_checked as "firstDepositChecked",
               min_deposit_minor as "minDeposit", master_login as "masterLogin", known_id as "knownId", keyed_id as "keyedId",
               keyed_operation as "keyedOperation", has_key as "hasKey", is_same as "isSame", is_in_progress as "isInProgress",
               has_facts as "hasFacts", equal_operation as "equalId", equal_deal as "equalDeal", is_recent as "isRecent"
        from considered left join inserted on inserted.operation_id = considered.operation_id`,
  );
  return new Map(rows.map((row) => [row.requested, consideredOf(withoutNulls(row))]));
}

/** The operations that a request would find equal to it; nothing is recorded. */
export async function findDuplicates(db: Queryable, requested: NewCashflow): Promise<Duplicates> {
  const row = await one<EqualRow>(
    db,
    sql`select equal.operation_id as "equalId", equal.deal_id as "equalDeal", ${IS_RECENT} as "isRecent"
        from ${rowsOf([requested])}
             ${EQUAL}`,
  );
  return duplicatesOf(withoutNulls(row));
}

function rowsOf(requested: readonly NewCashflow[]): Fragment {
  return fragment`unnest(
                 ${requested.map(({ operationId }) => operationId)}::text[],
                 ${requested.map(({ action }) => action)}::text[],
                 ${requested.map(({ login }) => login)}::text[],
                 ${requested.map(({ amount }) => amount)}::bigint[],
                 ${requested.map(({ comment }) => comment)}::text[],
                 ${requested.map(({ duplicates }) => duplicates?.clientId)}::text[],
                 ${requested.map(({ duplicates }) => duplicates?.rejectsDuplicates ?? false)}::boolean[],
                 ${requested.map(({ deadline }) => deadline)}::timestamptz[],
                 ${requested.map(({ at }) => at)}::timestamptz[],
                 ${requested.map(({ asked }) => asked !== undefined)}::boolean[],
                 ${requested.map(({ asked }) => asked?.masterMinimum)}::bigint[],
                 ${requested.map(({ asked }) => asked?.masterLogin)}::text[],
                 ${requested.map(({ clientKey }) => clientKey?.clientId)}::text[],
                 ${requested.map(({ clientKey }) => clientKey && Buffer.from(clientKey.hash))}::bytea[],
                 ${requested.map(({ clientKey }) => clientKey?.keptSince)}::timestamptz[],
                 ${requested.map(({ labels }) => labelsText(labels))}::text[],
                 ${requested.map(({ queueUntil }) => queueUntil)}::timestamptz[]
               ) as requested (operation_id, action, login, amount, comment, scope_key, rejects, deadline, at,
                               has_asked, asked_minimum, asked_master, client, hash, kept_since, labels, queue_until)`;
}

function consideredOf({ requested: _id, equalId, equalDeal, isRecent, ...row }: Row): Considered {
  const { keyedId, keyedOperation, hasKey, isSame, isInProgress, ...considered } = row;
  const keyed =
    keyedId !== undefined && keyedOperation !== undefined && hasKey === true
      ? { id: keyedId, operationId: keyedOperation, isSame: isSame === true, isInProgress: isInProgress === true }
      : undefined;
  return { ...considered, keyed, ...duplicatesOf({ equalId, equalDeal, isRecent }) };
}

function duplicatesOf({ equalId, equalDeal, isRecent }: EqualRow): Duplicates {
  if (equalId === undefined || equalDeal === undefined) return { openDuplicate: equalId, executed: undefined };
  return {
    openDuplicate: undefined,
    executed: isRecent === true ? { operationId: equalId, dealId: equalDeal } : undefined,
  };
}
