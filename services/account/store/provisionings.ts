import assert from "node:assert/strict";
import {
  column,
  execute,
  type Fragment,
  fragment,
  many,
  matchesRow,
  maybeOne,
  type Queryable,
  sql,
  withoutNulls,
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { recordedAs, Refusal, type RefusalFacts } from "#kernel/values/refusal.ts";
import { workQueue } from "#kernel/work-queue/work-queue.ts";
import type { NewProvisioning, Provisioning, ProvisionedRole } from "../domain/provisioning.ts";

type Row = Omit<Provisioning, "refusal"> & { readonly refusal: RefusalFacts | undefined };

/** Recorded before platform is called. Undefined: the operation id is recorded already. */
export async function insertProvisioning(
  tx: Transaction,
  details: NewProvisioning,
  { at, recoverInMs }: { at: Date; recoverInMs: number },
): Promise<Provisioning | undefined> {
  const row = await maybeOne<{ id: bigint }>(
    tx,
    sql`insert into provisioning (operation_id, kind, state, first_name, last_name, name, email, platform_group, leverage,
                                  min_deposit_minor, strategy_name, strategy, created_at, next_try_at)
        values (${details.operationId}, ${details.kind}, 'PENDING', ${details.firstName}, ${details.lastName}, ${details.name}, ${details.email},
                ${details.platformGroup}, ${details.leverage}, ${details.minDeposit}, ${details.strategyName}, ${details.strategy},
                ${at}, clock_timestamp() + ${recoverInMs} * interval '1 millisecond')
        on conflict (operation_id) do nothing
        returning id`,
  );
  return row && (await getProvisioning(tx, details.operationId));
}

export async function findProvisioning(db: Queryable, operationId: string): Promise<Provisioning | undefined> {
  const row = await maybeOne<Row>(
    db,
    sql`select id, operation_id as "operationId", kind, state, first_name as "firstName", last_name as "lastName", name, email,
               platform_group as "platformGroup", leverage, min_deposit_minor as "minDeposit",
               strategy_name as "strategyName", strategy, login, payment_login as "paymentLogin", became_id as "becameId",
               refusal, created_at as "createdAt"
        from provisioning where operation_id = ${operationId}`,
  );
  return row && provisioningOf(row);
}

export async function getProvisioning(db: Queryable, operationId: string): Promise<Provisioning> {
  const provisioning = await findProvisioning(db, operationId);
  assert(provisioning !== undefined, `Provisioning ${operationId} is not recorded.`);
  return provisioning;
}

export async function markLogin(db: Queryable, id: bigint, role: ProvisionedRole, login: string): Promise<void> {
  const isPayment = role === "payment";
  await execute(
    db,
    sql`update provisioning
        set login = case when ${isPayment} then login else ${login} end,
            payment_login = case when ${isPayment} then ${login} else payment_login end
        where id = ${id} and state = 'PENDING'`,
  );
}

/** Locks the provisioning until commit. False when another process has ended it. */
export async function lockPending(tx: Transaction, id: bigint): Promise<boolean> {
  return await matchesRow(tx, sql`select id from provisioning where id = ${id} and state = 'PENDING' for update`);
}

/** The provisioning must be locked. */
export async function markActive(tx: Transaction, id: bigint, becameId: bigint): Promise<void> {
  await execute(tx, sql`update provisioning set state = 'ACTIVE', became_id = ${becameId} where id = ${id}`);
}

/** Of the logins, those of unfinished provisionings: they exist on the trading platform before they have a role here. */
export async function listPendingLogins(db: Queryable, logins: readonly string[]): Promise<string[]> {
  return await column<string>(
    db,
    sql`select login from unnest(${logins}::text[]) login
        where exists (select from provisioning
                      where state = 'PENDING' and login.login in (provisioning.login, provisioning.payment_login))`,
  );
}

/** Its profile ends, so that another request may have the external id. */
export async function markFailed(db: Queryable, id: bigint, refusal: Refusal): Promise<boolean> {
  return await endRefused(db, fragment`id = ${id}`, refusal, false);
}

/** As markFailed, but only while neither the recovery job nor a repetition works on it and no account exists: nothing was created. */
export async function markNeverSent(db: Queryable, id: bigint, refusal: Refusal): Promise<boolean> {
  return await endRefused(db, fragment`id = ${id} and tries = 0 and login is null`, refusal, true);
}

async function endRefused(db: Queryable, which: Fragment, refusal: Refusal, isTidied: boolean): Promise<boolean> {
  return await matchesRow(
    db,
    sql`with refused as (
          update provisioning set state = 'FAILED', refusal = ${recordedAs(refusal)}::jsonb, is_tidied = ${isTidied}
          where state = 'PENDING' and ${which}
          returning operation_id
        ), freed as (delete from profile using refused where profile.operation_id = refused.operation_id)
        select from refused`,
  );
}

/** From now on several requests work on the row, so none of them may conclude alone that nothing was sent. */
export async function markRepeated(db: Queryable, id: bigint): Promise<void> {
  await execute(db, sql`update provisioning set tries = greatest(tries, 1) where id = ${id} and state = 'PENDING'`);
}

/** Longer than an attempt, so that two replicas never resume one provisioning at once. */
const CLAIM_MS = 30_000;

/** Provisionings that have not ended. */
export const provisioningQueue = workQueue<{
  readonly id: bigint;
  readonly operationId: string;
  readonly tries: number;
}>({
  table: fragment`provisioning`,
  key: fragment`id`,
  keyType: fragment`bigint`,
  isOpen: fragment`work.state = 'PENDING'`,
  columns: fragment`id, operation_id as "operationId"`,
  claimMs: CLAIM_MS,
});

/** Expression: an instant in the past when a failed pair has to be tidied. */
export const nextUntidied = fragment`(
  select '-infinity'::timestamptz from provisioning where state = 'FAILED' and not is_tidied limit 1
)`;

/** Failed pairs whose first account still has to be disabled, unless operators have registered it. */
export async function listUntidied(db: Queryable, limit: number): Promise<{ id: bigint; login: string | null }[]> {
  return await many<{ id: bigint; login: string | null }>(
    db,
    sql`select id, case when account.login is null then provisioning.login end as login
        from provisioning left join account using (login)
        where state = 'FAILED' and not is_tidied
        order by id
        limit ${limit}`,
  );
}

export async function markTidied(db: Queryable, id: bigint): Promise<void> {
  await execute(db, sql`update provisioning set is_tidied = true where id = ${id}`);
}

function provisioningOf(row: Row): Provisioning {
  const { refusal, ...provisioning } = withoutNulls(row);
  return { ...provisioning, refusal: refusal && new Refusal(refusal) };
}
