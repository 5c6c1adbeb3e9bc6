import { allOf, column, fragment, many, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";

/** PENDING: the caller still waits. UNKNOWN: the deadline has passed, and the operation may still be executed. */
export type OperationOutcome = "PENDING" | "EXECUTED" | "NOT_EXECUTED" | "UNKNOWN";

/** An assign or unassign with its outcome. */
export type RecordedOperation = {
  readonly commandId: string;
  readonly action: "assign" | "unassign";
  readonly subscriptionId: bigint;
  readonly investorLogin: string;
  readonly outcome: OperationOutcome;
  readonly refusalCode: string | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
};

export type OperationFilter = {
  /** Login of an Investor or a Master; empty matches all. */
  readonly login: string;
  /** Undefined matches all. */
  readonly outcome: OperationOutcome | undefined;
  /** Id of the last operation of the page before; empty to begin. */
  readonly beforeId: string;
  readonly limit: number;
};

export async function findOperation(
  db: Queryable,
  commandId: string,
  now: Date,
): Promise<RecordedOperation | undefined> {
  return maybeOne<RecordedOperation>(
    db,
    sql`select "commandId", action, "subscriptionId", "investorLogin",
               case when phase = 'OPEN' and "deadlineAt" <= ${now} then 'UNKNOWN'
                    when phase = 'BETWEEN_TRIES' and "deadlineAt" <= ${now} then 'NOT_EXECUTED'
                    when phase in ('OPEN', 'BETWEEN_TRIES') then 'PENDING'
                    else phase end as outcome,
               "refusalCode", "createdAt", "finishedAt"
        from operation_row
        where "commandId" = ${commandId}`,
  );
}

/** Newest first: ids grow with time. Ids are compared byte by byte, as in the other services. */
export async function listOperations(db: Queryable, filter: OperationFilter, now: Date): Promise<RecordedOperation[]> {
  const { login, outcome, beforeId, limit } = filter;
  const conditions = allOf([
    login === "" ? undefined : fragment`("investorLogin" = ${login} or "masterLogin" = ${login})`,
    beforeId === "" ? undefined : fragment`"commandId" collate "C" < ${beforeId}`,
    outcome === undefined ? undefined : fragment`outcome = ${outcome}`,
  ]);
  return many<RecordedOperation>(
    db,
    sql`select "commandId", action, "subscriptionId", "investorLogin", outcome, "refusalCode", "createdAt", "finishedAt"
        from (select "commandId", action, "subscriptionId", "investorLogin", "masterLogin",
                     case when phase = 'OPEN' and "deadlineAt" <= ${now} then 'UNKNOWN'
                          when phase = 'BETWEEN_TRIES' and "deadlineAt" <= ${now} then 'NOT_EXECUTED'
                          when phase in ('OPEN', 'BETWEEN_TRIES') then 'PENDING'
                          else phase end as outcome,
                     "refusalCode", "createdAt", "finishedAt"
              from operation_row) as operation
        where ${conditions}
        order by "commandId" collate "C" desc
        limit ${limit}`,
  );
}

/** Keys of the exit transfers of a subscription, in their order. */
export async function listExitKeys(db: Queryable, subscriptionId: bigint, limit: number): Promise<string[]> {
  return await column<string>(
    db,
    sql`select key from exit_transfer where subscription_id = ${subscriptionId} order by number limit ${limit}`,
  );
}
