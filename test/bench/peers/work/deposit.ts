import type { Pool, PoolClient } from "pg";
import { v7 as uuid } from "uuid";
import type { Mt5Client } from "../../../../services/platform/mt5/client.ts";

/** A deposit as the peers do it: the rows of the service in the commits of the service, one deposit at a time. */
export type DepositRequest = { readonly login: string; readonly amountMinor: number; readonly comment: string };

export type Deps = { readonly pool: Pool; readonly platform: Mt5Client };

type Leg = { readonly number: bigint; readonly transferId: bigint; readonly key: string };

const SERVER = "mt5";
const KEY_ID = "PeerOfBench1";
const CALLER_WAITS_MS = 20_000;
const PERMIT_MS = 5_000;
/** As long as an event of the service. */
const EVENT = Buffer.alloc(90, 1);
/** Minutes between an answer and the first look whether its deal is still there. */
const VERIFY_AFTER_MINUTES = 1;

/** Nothing was sent to the trading platform. */
export class NotExecuted extends Error {
  override readonly name = "NotExecuted";
}

/** Intent before permit, permit before the bytes, record before the answer. Returns the ticket of the deal. */
export async function deposit({ pool, platform }: Deps, request: DepositRequest): Promise<string> {
  const cashflowId = await recordIntent(pool, request);
  using session = await platform.acquireForCommand();
  const leg = await grantPermit(pool, cashflowId, request, session.sessionId);
  const outcome = await session.changeBalance({
    login: request.login,
    amountMinor: BigInt(request.amountMinor),
    comment: `${leg.number} ${request.comment}`,
    checkMargin: false,
    isShownToCaller: true,
    mayWrite: () => true,
  });
  if (outcome.kind !== "applied") throw new Error(`the platform answered ${outcome.kind}`);
  await recordApplied(pool, leg, request, outcome.ticket);
  await settle(pool, cashflowId, outcome.ticket);
  return String(outcome.ticket);
}

async function recordIntent(pool: Pool, { login, amountMinor, comment }: DepositRequest): Promise<bigint> {
  return await inTransaction(pool, async (client) => {
    const { rows: funded } = await client.query({
      name: "has-posted-deposit",
      text: `select exists (select from funding.cashflow
             where login = $1 and action = 'deposit' and state = 'POSTED') as is_funded`,
      values: [login],
    });
    const deadline = new Date(Date.now() + CALLER_WAITS_MS);
    const { rows } = await client.query<{ id: bigint }>({
      name: "insert-cashflow",
      text: `insert into funding.cashflow (operation_id, action, login, amount_minor, comment, state, deadline,
               created_at, next_try_at, duplicate_scope_key, first_deposit_checked, min_deposit_minor)
             values ($1, 'deposit', $2, $3, $4, 'RECORDED', $5, clock_timestamp(), $5, $6, $7, 0)
             on conflict do nothing
             returning id`,
      values: [uuid(), login, amountMinor, comment, deadline, KEY_ID, funded[0]?.is_funded !== true],
    });
    const { rows: duplicates } = await client.query({
      name: "executed-duplicate",
      text: `select operation_id from funding.cashflow
             where duplicate_scope_key = $1 and login = $2 and action = 'deposit' and amount_minor = $3
               and comment = $4 and state = 'POSTED' and finished_at >= clock_timestamp() - interval '24 hours'
             order by finished_at desc
             limit 1`,
      values: [KEY_ID, login, amountMinor, comment],
    });
    if (rows[0] === undefined || duplicates.length > 0) throw new NotExecuted("a duplicate");
    return rows[0].id;
  });
}

async function grantPermit(
  pool: Pool,
  cashflowId: bigint,
  { login, amountMinor, comment }: DepositRequest,
  session: string,
): Promise<Leg> {
  return await inTransaction(pool, async (client) => {
    await lockAccount(client, login);
    const { rows: obstacles } = await client.query({
      name: "obstacle",
      text: `select number from platform.leg
             where login = $1 and is_exclusive and (state in ('SENDING', 'UNKNOWN') or came_from in ('SENDING', 'UNKNOWN'))
             order by number
             limit 1`,
      values: [login],
    });
    if (obstacles.length > 0) throw new NotExecuted("the account is busy");
    const key = `funding:deposit:${cashflowId}`;
    const { rows: transfers } = await client.query<{ id: bigint }>({
      name: "insert-transfer",
      text: `insert into platform.transfer (key, lock_owner, leg_count, is_enqueued, releases_lock, send_before, comment, request_id)
             values ($1, '', 1, false, false, $2, $3, '')
             returning id`,
      values: [key, new Date(Date.now() + CALLER_WAITS_MS), comment],
    });
    const transferId = transfers[0]!.id;
    const { rows: legs } = await client.query<{ number: bigint }>({
      name: "insert-leg",
      text: `insert into platform.leg (number, transfer_id, ordinal, login, kind, requested_minor, amount_minor, is_exclusive,
               is_ready, state, attempt)
             values (nextval('platform.leg_number'), $1, 1, $2, 'deposit', $3, $3, true, true, 'SENDING', 1)
             returning number`,
      values: [transferId, login, amountMinor],
    });
    const number = legs[0]!.number;
    await client.query({
      name: "insert-attempt",
      text: `insert into platform.attempt (leg_number, number, reference, state, sender_epoch, database, session, permit_expires_at)
             values ($1, 1, $2, 'SENDING', 1, (select platform.database_identity()), $3, $4)`,
      values: [number, `P${number}`, session, new Date(Date.now() + PERMIT_MS)],
    });
    return { number, transferId, key };
  });
}

async function recordApplied(
  pool: Pool,
  { number, transferId, key }: Leg,
  { login, amountMinor }: DepositRequest,
  ticket: bigint,
): Promise<void> {
  await inTransaction(pool, async (client) => {
    await lockAccount(client, login);
    await client.query({
      name: "lock-leg",
      text: "select state, attempt from platform.leg where number = $1 for no key update",
      values: [number],
    });
    await client.query({
      name: "end-attempt",
      text: `update platform.attempt set state = 'APPLIED', fenced_at = clock_timestamp(), answer_code = 0
             where leg_number = $1 and number = 1`,
      values: [number],
    });
    await client.query({
      name: "apply-leg",
      text: `update platform.leg
             set state = 'APPLIED', server = $2, deal_id = $3, applied_at = clock_timestamp(), changed_at = clock_timestamp(),
                 next_scan_at = clock_timestamp() + ${VERIFY_AFTER_MINUTES} * interval '1 minute'
             where number = $1 and state = 'SENDING'`,
      values: [number, SERVER, ticket],
    });
    await client.query({
      name: "append-to-log",
      text: `with entry as (
               insert into platform.log_entry (login, number, kind, amount_minor, leg_number, transfer_id, key, server, deal_id,
                 deal_at)
               select login, log_number + 1, 'deposit', $2, $3, $4, $5, $6, $7, clock_timestamp()
               from platform.account
               where login = $1
               returning id, number
             )
             update platform.account
             set log_number = entry.number, log_entry_id = entry.id, log_minor = log_minor + $2
             from entry
             where login = $1`,
      values: [login, amountMinor, number, transferId, key, SERVER, ticket],
    });
    await client.query({
      name: "insert-event",
      text: `insert into platform.outbox (feed, number, type, subject, payload)
             values ('platform.movements', nextval('platform.leg_number'), 'pamm.platform.v1.AccountMoved', $1, $2)`,
      values: [`pamm.platform.movements.${login}`, EVENT],
    });
  });
}

async function settle(pool: Pool, cashflowId: bigint, ticket: bigint): Promise<void> {
  await pool.query({
    name: "settle",
    text: `update funding.cashflow set state = 'POSTED', deal_id = $2, finished_at = clock_timestamp()
           where id = $1 and state = 'RECORDED'`,
    values: [cashflowId, ticket],
  });
}

async function lockAccount(client: PoolClient, login: string): Promise<void> {
  const { rowCount } = await client.query({
    name: "lock-account",
    text: `select log_number, log_entry_id, log_minor, locked_by, reading_until
           from platform.account
           where login = $1
           for no key update`,
    values: [login],
  });
  if (rowCount === 0) throw new NotExecuted("the account is not managed");
}

async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const result = await work(client);
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
}
