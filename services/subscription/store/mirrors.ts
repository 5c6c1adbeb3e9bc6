import { SECOND_MS } from "#kernel/values/duration.ts";
import { column, execute, fragment, many, type Queryable, sql, unnest } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { retryAt, workQueue } from "#kernel/work-queue/work-queue.ts";
import { hasFlowToMirror } from "./flows.ts";
import { GENERATION } from "./permit-generation.ts";
import { endMarginWait } from "./market-waits.ts";
import { ARE_BOOKS_WHOLE } from "./settled-database.ts";

/** A mirror that is not applied on the Master yet. */
export type OpenMirror = {
  readonly id: bigint;
  readonly key: string;
  readonly masterLogin: string;
  readonly amount: bigint;
  /** Of platform's permits, in which the amount was calculated. */
  readonly generation: bigint;
  readonly tries: number;
};

export type NewMirror = {
  readonly masterLogin: string;
  readonly amount: bigint;
  /** The part of its flows that imported transfers have moved already; same sign as the flows. */
  readonly imported: bigint;
  readonly flows: readonly { readonly id: bigint }[];
};

/**
 * Masters with open flows and without an open mirror that are not stopped or delayed after a refusal; outflows that wait for free margin
 * do not count. With `before`, only those whose first open flow is older.
 */
export async function listMastersToMirror(
  db: Queryable,
  { before, limit }: { readonly before: Date | undefined; readonly limit: number },
): Promise<string[]> {
  return await column<string>(
    db,
    sql`select login
        from master_pool as pool
        where stopped_reason is null and ${ARE_BOOKS_WHOLE} and mirror_next_at <= statement_timestamp() and ${hasFlowToMirror}
          and not exists (select from mirror where mirror.master_login = login and mirror.state = 'OPEN')
          and (
            ${before}::timestamptz is null
            or ${before} > (
              select created_at
              from flow
              where flow.master_login = login and flow.mirror_id is null
              order by flow.id
              limit 1
            )
          )
        order by mirror_next_at, login
        limit ${limit}`,
  );
}

/** Expression: when the next mirror of a Master with open flows may be opened. */
const NEXT_TO_MIRROR = fragment`(
  select min(greatest(mirror_next_at, case when ${hasFlowToMirror} then '-infinity' else margin_next_at end))
  from master_pool as pool
  where stopped_reason is null and ${ARE_BOOKS_WHOLE}
    and (${hasFlowToMirror} or exists (select from flow where flow.master_login = pool.login and flow.mirror_id is null and flow.amount_minor < 0))
    and not exists (select from mirror where mirror.master_login = login and mirror.state = 'OPEN')
)`;

/** Locks those of the Masters that may get a mirror and that no other transaction has locked; returns what imported mirrors have moved on them. */
export async function lockMastersForMirror(
  tx: Transaction,
  logins: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await many<{ login: string; imported: bigint }>(
    tx,
    sql`select login, imported_mirrors_minor as imported
        from master_pool
        where login = any(${logins}::text[]) and stopped_reason is null and ${ARE_BOOKS_WHOLE} and mirror_next_at <= statement_timestamp()
        order by login
        for no key update skip locked`,
  );
  return new Map(rows.map(({ login, imported }) => [login, imported]));
}

/** Opens mirrors, each with its flows; at most one for each Master. */
export async function insertMirrors(tx: Transaction, mirrors: readonly NewMirror[], at: Date): Promise<OpenMirror[]> {
  if (mirrors.length === 0) return [];
  const nets = mirrors.map(({ masterLogin, amount, imported }) => ({ masterLogin, amount, imported }));
  const taken = mirrors.flatMap(({ masterLogin, flows }) => flows.map(({ id: flowId }) => ({ flowId, masterLogin })));
  return await many<OpenMirror>(
    tx,
    sql`with opened as (
          insert into mirror (master_login, amount_minor, imported_minor, generation, state, created_at, next_try_at)
          select net.master_login, amount, imported, ${GENERATION}, 'OPEN', ${at}::timestamptz, clock_timestamp()
          from ${unnest(nets)} as net (master_login text, amount bigint, imported bigint)
          returning id, key, master_login, amount_minor, generation, tries
        ), carried as (
          update flow
          set mirror_id = opened.id
          from ${unnest(taken)} as taken (flow_id bigint, master_login text)
               join opened on opened.master_login = taken.master_login
          where flow.id = taken.flow_id
        )
        select id, key, master_login as "masterLogin", amount_minor as amount, generation, tries from opened`,
  );
}

/** Platform sends what it has recorded, and the log shows it soon: only a refusal has to be asked for. */
const LOOK_AGAIN_MS = 2 * SECOND_MS;

/** Mirrors that are not applied. Those of a stopped Master wait, and so do those that bring money to a pool in deficit. */
export const mirrorQueue = workQueue<OpenMirror>({
  table: fragment`mirror`,
  key: fragment`id`,
  keyType: fragment`bigint`,
  isOpen: fragment`work.state = 'OPEN'`,
  mayStart: fragment`exists (
    select from master_pool
    where login = work.master_login and stopped_reason is null and ${ARE_BOOKS_WHOLE} and (not is_in_deficit or work.amount_minor <= 0)
  )`,
  columns: fragment`id, key, master_login as "masterLogin", amount_minor as amount, generation`,
  claimMs: LOOK_AGAIN_MS,
});

/** Expression: when the next mirror may be opened or sent. */
export const nextMirrorDue = fragment`least(${NEXT_TO_MIRROR}, ${mirrorQueue.nextDue})`;

/** Whether one of their Masters has further flows, which can be mirrored now. A mirror that took money proves free margin. */
export async function markMirrorsApplied(
  tx: Transaction,
  mirrors: readonly { readonly id: bigint; readonly dealId: bigint }[],
  at: Date,
): Promise<boolean> {
  if (mirrors.length === 0) return false;
  const arrived = mirrors.map(({ id, dealId }) => ({ id, dealId }));
  const rows = await many<{ login: string; hasFlows: boolean; hasMargin: boolean }>(
    tx,
    sql`with applied as (
          update mirror
          set state = 'APPLIED', deal_id = arrived.deal_id, closed_at = ${at}, reason = null
          from ${unnest(arrived)} as arrived (id bigint, deal_id bigint)
          where mirror.id = arrived.id and mirror.state = 'OPEN'
          returning mirror.master_login, mirror.amount_minor, mirror.imported_minor
        )
        update master_pool
        set mirror_refusals = 0, mirror_reason = null,
            imported_mirrors_minor = imported_mirrors_minor - (
              select sum(applied.imported_minor)::bigint from applied where applied.master_login = login
            )
        where login in (select master_login from applied)
        returning login,
                  exists (select from flow where flow.master_login = login and flow.mirror_id is null) as "hasFlows",
                  exists (select from applied where applied.master_login = login and applied.amount_minor < 0)
                  or not exists (
                    select from flow
                    where flow.master_login = login and flow.mirror_id is null and flow.amount_minor < 0
                    union all
                    select from exit_transfer
                    where exit_transfer.master_login = login and exit_transfer.state = 'OPEN' and exit_transfer.refusals > 0
                  ) as "hasMargin"`,
  );
  await endMarginWait(
    tx,
    rows.filter(({ hasMargin }) => hasMargin).map(({ login }) => login),
  );
  return rows.some(({ hasFlows }) => hasFlows);
}

/** The mirror was certainly not executed: its flows go into the next one. False when it is no longer open. */
export async function refuseMirror(
  tx: Transaction,
  mirror: Pick<OpenMirror, "id">,
  reason: string,
  at: Date,
): Promise<boolean> {
  const refused = await execute(
    tx,
    sql`update mirror
        set state = 'REFUSED', closed_at = ${at}, reason = ${reason}
        where id = ${mirror.id} and state = 'OPEN'`,
  );
  if (refused === 0) return false;
  await execute(tx, sql`update flow set mirror_id = null where mirror_id = ${mirror.id}`);
  return true;
}

const AFTER_REFUSAL = retryAt(fragment`mirror_refusals + 1`);

/** Counts a refused mirror: the next one is opened after a pause. */
export async function countMirrorRefusal(tx: Transaction, masterLogin: string, reason: string): Promise<void> {
  await execute(
    tx,
    sql`update master_pool
        set mirror_refusals = mirror_refusals + 1, mirror_reason = ${reason}, mirror_next_at = ${AFTER_REFUSAL}
        where login = ${masterLogin}`,
  );
}
