import type { Subjects } from "#proto/pamm/common/v1/subjects.ts";
import { holdsLease, type Lease } from "../postgres/lease.ts";
import { allOf, column, execute, fragment, many, type Queryable, sql } from "../postgres/query.ts";
import type { Transaction } from "../postgres/transaction.ts";
import type { Check, CheckRun, Finding, PendingBreak, RunRequest } from "./check.ts";

/** A check without a complete run for this many intervals is stale. */
const STALE_AFTER_INTERVALS = 3;
/** A run that failed, or has not caught up, is not repeated after a whole long interval: a resume may wait for it. */
const RETRY_AFTER_MS = 60_000;
const NEW_ROWS_LEFT = "New rows are not compared yet. The next run continues with them.";

export type CheckState = {
  readonly name: string;
  readonly title: string;
  readonly everyMs: bigint;
  readonly knownAt: Date;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
  readonly fullPassAt: Date | null;
  readonly error: string;
  readonly isStale: boolean;
  /** 0 or less when it is due. */
  readonly dueInMs: number;
  readonly openBreaks: number;
  readonly atRiskMinor: bigint;
  /** 0 without an open break. */
  readonly oldestBreakSeconds: number;
};

export type OpenBreak = Required<Finding> & {
  readonly id: bigint;
  readonly check: string;
  readonly openedAt: Date;
  readonly seenAt: Date;
};

/** Inserts or updates the checks of this version. Checks that it does not have stay recorded and do not run. */
export async function insertChecks(
  db: Queryable,
  checks: readonly Omit<Check, "run" | "confirmations">[],
): Promise<void> {
  await execute(
    db,
    sql`insert into reconciliation_check (name, title, every_ms)
        select name, title, every_ms
        from unnest(
          ${checks.map(({ name }) => name)}::text[],
          ${checks.map(({ title }) => title)}::text[],
          ${checks.map(({ everyMs }) => BigInt(everyMs))}::bigint[]
        ) as item (name, title, every_ms)
        on conflict (name) do update set title = excluded.title, every_ms = excluded.every_ms
        where (reconciliation_check.title, reconciliation_check.every_ms) is distinct from (excluded.title, excluded.every_ms)`,
  );
}

export function listChecks(db: Queryable): Promise<CheckState[]> {
  return many<CheckState>(
    db,
    sql`select name, title, every_ms as "everyMs", known_at as "knownAt", started_at as "startedAt",
               completed_at as "completedAt", full_pass_at as "fullPassAt", error,
               coalesce(completed_at, known_at) < clock_timestamp() - every_ms * ${STALE_AFTER_INTERVALS} * interval '1 millisecond' as "isStale",
               coalesce(case when error = '' then every_ms else least(every_ms, ${RETRY_AFTER_MS}) end
                          - extract(epoch from clock_timestamp() - started_at) * 1000, 0)::double precision as "dueInMs",
               breaks.open as "openBreaks", breaks.at_risk as "atRiskMinor", breaks.age as "oldestBreakSeconds"
        from reconciliation_check
             cross join lateral (
               select count(*)::integer as open, coalesce(sum(at_risk_minor), 0)::bigint as at_risk,
                      coalesce(extract(epoch from clock_timestamp() - min(opened_at)), 0)::double precision as age
               from reconciliation_break
               where check_name = name and opened_at is not null and closed_at is null
             ) as breaks
        order by name`,
  );
}

export type OpenBreaks = {
  readonly afterId: bigint;
  /** Only breaks that name one of these; undefined for all. */
  readonly about: Subjects | undefined;
  readonly limit: number;
};

/** Ascending by id. All that are open are looked through for what they name: each check has about MAX_FINDINGS of them at most. */
export async function listOpenBreaks(db: Queryable, { afterId, about, limit }: OpenBreaks): Promise<OpenBreak[]> {
  const conditions = allOf([
    fragment`closed_at is null and opened_at is not null and id > ${afterId}`,
    about && fragment`(operation_ids && ${about.operationIds}::text[] or deal_ids && ${about.dealIds}::bigint[])`,
  ]);
  return many<OpenBreak>(
    db,
    sql`select id, check_name as "check", key, login, master_login as "masterLogin", at_risk_minor as "atRiskMinor",
               operation_ids as "operationIds", deal_ids as "dealIds", message, evidence, opened_at as "openedAt",
               seen_at as "seenAt"
        from reconciliation_break
        where ${conditions}
        order by id
        limit ${limit}`,
  );
}

/**
 * Returns where the run begins, and the breaks that are not closed, the oldest first. The start is recorded first, so that
 * a run that crashes is not repeated at once without end.
 */
export async function beginRun(db: Queryable, name: string, maxPending: number): Promise<RunRequest> {
  const rows = await many<{ cursor: string } & (PendingBreak | { key: null; login: null })>(
    db,
    sql`with started as (
          update reconciliation_check set started_at = clock_timestamp() where name = ${name} returning name, cursor
        )
        select cursor, pending.key, pending.login
        from started
             left join lateral (
               select id, key, login
               from reconciliation_break
               where check_name = started.name and closed_at is null
               order by id
               limit ${maxPending}
             ) as pending on true
        order by pending.id`,
  );
  return {
    cursor: rows[0]?.cursor ?? "",
    pendingBreaks: rows.flatMap(({ key, login }) => (key === null ? [] : [{ key, login }])),
  };
}

/** Has no effect when the lease is lost; without a lease it always has. */
export async function completeRun(
  db: Queryable,
  name: string,
  { nextCursor, endsPass, leavesNewRows = false }: Pick<CheckRun, "nextCursor" | "endsPass" | "leavesNewRows">,
  lease: Lease | undefined,
): Promise<void> {
  const isHeld = lease === undefined ? fragment`true` : holdsLease(lease);
  await execute(
    db,
    sql`update reconciliation_check
        set completed_at = case when ${leavesNewRows} then completed_at else clock_timestamp() end,
            completed_from = case when ${leavesNewRows} then completed_from else started_at end,
            error = ${leavesNewRows ? NEW_ROWS_LEFT : ""}, cursor = ${nextCursor},
            pass_from = case when cursor = '' then started_at else pass_from end,
            full_pass_at = case when ${endsPass} then clock_timestamp() else full_pass_at end,
            full_pass_from = case when not ${endsPass} then full_pass_from when cursor = '' then started_at else pass_from end
        where name = ${name} and ${isHeld}`,
  );
}

/** With a run, the next one continues behind it: what it has found more often than it stores must not hold back the rest. */
export async function failRun(db: Queryable, name: string, error: string, run?: CheckRun): Promise<void> {
  await execute(
    db,
    sql`update reconciliation_check set error = ${error}, cursor = coalesce(${run?.nextCursor}, cursor) where name = ${name}`,
  );
}

/** Inserts or confirms the breaks, and opens those with enough confirmations. Returns the keys of the breaks it opened. */
export async function recordFindings(
  tx: Transaction,
  check: Pick<Check, "name" | "confirmations">,
  findings: readonly Finding[],
): Promise<string[]> {
  const rows = await many<{ key: string; opened: boolean }>(
    tx,
    sql`insert into reconciliation_break (check_name, key, seen_at, opened_at, login, master_login, at_risk_minor,
               operation_ids, deal_ids, message, evidence)
        select ${check.name}, key, now(), case when ${check.confirmations} = 1 then now() end, login, master_login, at_risk,
               array(select jsonb_array_elements_text(operations)), array(select jsonb_array_elements_text(deals)::bigint), message,
               evidence
        from unnest(
          ${findings.map(({ key }) => key)}::text[],
          ${findings.map(({ login }) => login)}::text[],
          ${findings.map(({ masterLogin = "" }) => masterLogin)}::text[],
          ${findings.map(({ atRiskMinor }) => atRiskMinor)}::bigint[],
          ${findings.map(({ operationIds = [] }) => JSON.stringify(operationIds))}::jsonb[],
          ${findings.map(({ dealIds = [] }) => JSON.stringify(dealIds.map(String)))}::jsonb[],
          ${findings.map(({ message }) => message)}::text[],
          ${findings.map(({ evidence }) => JSON.stringify(evidence))}::jsonb[]
        ) with ordinality as found (key, login, master_login, at_risk, operations, deals, message, evidence, rank)
        order by rank
        on conflict (check_name, key) where closed_at is null do update
        set confirmations = reconciliation_break.confirmations + 1, seen_at = now(),
            opened_at = coalesce(
              reconciliation_break.opened_at,
              case when reconciliation_break.confirmations + 1 >= ${check.confirmations} then now() end
            ),
            login = excluded.login, master_login = excluded.master_login, at_risk_minor = excluded.at_risk_minor,
            operation_ids = excluded.operation_ids, deal_ids = excluded.deal_ids, message = excluded.message,
            evidence = excluded.evidence
        returning key, coalesce(opened_at = now(), false) as opened`,
  );
  return rows.filter(({ opened }) => opened).map(({ key }) => key);
}

/** For breaks that no longer exist: closes open ones and deletes those that were never opened. Returns the closed keys. */
export async function closeBreaks(tx: Transaction, name: string, keys: readonly string[]): Promise<string[]> {
  await execute(
    tx,
    sql`delete from reconciliation_break
        where check_name = ${name} and opened_at is null and closed_at is null and key = any (${keys}::text[])`,
  );
  return await column<string>(
    tx,
    sql`update reconciliation_break set closed_at = now()
        where check_name = ${name} and closed_at is null and key = any (${keys}::text[])
        returning key`,
  );
}
