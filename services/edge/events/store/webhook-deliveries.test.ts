import { beforeEach, expect, test } from "vitest";
import type { Pool } from "#kernel/postgres/pool.ts";
import { execute, sql } from "#kernel/postgres/query.ts";
import { testDatabase } from "#test/support/database.ts";
import { saveKeySystem } from "../../identity/store/api-keys.ts";
import { readWebhookState } from "./webhook-deliveries.ts";

let pool: Pool;

beforeEach(async () => {
  ({ pool } = await testDatabase("edge"));
  await saveKeySystem(pool, { environment: "test", hasBootstrapKey: true });
});

/** `minutes` ago. */
const ago = (minutes: number): Date => new Date(Date.now() - minutes * 60_000);

type Columns = {
  failingSince?: Date;
  disabledAt?: Date;
  isEnabled?: boolean;
  throughEvent?: bigint;
  clientId?: string;
  askedUntil?: Date;
};

async function aWebhook(columns: Columns = {}) {
  const { failingSince, disabledAt, isEnabled = true, throughEvent = 9n, clientId, askedUntil } = columns;
  await execute(
    pool,
    sql`insert into webhook (client_id, command_id, url, types, secret, through_event, is_enabled, failures, failing_since, disabled_at, asked_until)
        select ${clientId ?? "bootstrap"}, 'command-' || count(*), 'https://crm.example.com', '*', 'k.s', ${throughEvent}, ${isEnabled},
               ${failingSince === undefined ? 0 : 1}, ${failingSince ?? null}, ${disabledAt ?? null},
               coalesce(${askedUntil ?? null}::timestamptz, '-infinity')
        from webhook`,
  );
}

/** For the webhook that was inserted last. */
async function aDelivery(createdAt: Date, status = "pending") {
  await execute(
    pool,
    sql`insert into webhook_delivery (webhook_id, event_id, type, login, created_at, status, finished_at)
        select max(id), 9, 'deposit.executed', '9001', ${createdAt}, ${status}, case when ${status} <> 'pending' then now() end
        from webhook`,
  );
}

async function anEvent(id: bigint, recordedAt: Date) {
  await execute(
    pool,
    sql`insert into event (id, key, type, state, subject, occurred_at, recorded_at, login, master_login, operation_id, deal_id, reason)
        overriding system value
        values (${id}, ${`funding-${id}`}, 'deposit.executed', 'executed', '1', now(), ${recordedAt}, '9001', '', '', 0, '')`,
  );
}

const NONE = { enabled: 0, failing: 0, deferred: 0, paused: 0, disabled: 0 };
const minutes = (seconds: number): number => Math.round(seconds / 60);

test("without webhooks nothing fails and nothing waits", async () => {
  await anEvent(9n, ago(60));
  expect(await readWebhookState(pool)).toEqual({
    ...NONE,
    failingSeconds: 0,
    disabledAt: 0,
    waiting: 0,
    oldestSeconds: 0,
  });
});

test("an endpoint that fails is not late, and what it has not got waits", async () => {
  await aWebhook({ failingSince: ago(300) });
  await aDelivery(ago(299));
  await aDelivery(ago(298));
  await aDelivery(ago(400), "delivered");
  const { failingSeconds, ...state } = await readWebhookState(pool);
  expect(state).toEqual({ ...NONE, failing: 1, disabledAt: 0, waiting: 2, oldestSeconds: 0 });
  expect(minutes(failingSeconds)).toBe(300);
});

test.each(["delivery", "event"])("an endpoint that accepts events is late when a %s waits", async (kind) => {
  await aWebhook();
  if (kind === "delivery") await aDelivery(ago(7));
  else await anEvent(10n, ago(7));
  const state = await readWebhookState(pool);
  expect(state).toMatchObject({ ...NONE, enabled: 1, waiting: kind === "delivery" ? 1 : 0 });
  expect(minutes(state.oldestSeconds)).toBe(7);
});

test("an endpoint that has asked to be sent nothing is not late, and afterwards only by what it does not take then", async () => {
  await aWebhook({ askedUntil: ago(-60) });
  await aDelivery(ago(600));
  expect(await readWebhookState(pool)).toMatchObject({ ...NONE, deferred: 1, waiting: 1, oldestSeconds: 0 });
  await execute(pool, sql`update webhook set asked_until = ${ago(6)}`);
  const state = await readWebhookState(pool);
  expect(state).toMatchObject({ ...NONE, enabled: 1, waiting: 1 });
  expect(minutes(state.oldestSeconds)).toBe(6);
});

test("what is paused, disabled, or without a key of its client, is never late", async () => {
  await anEvent(10n, ago(60));
  const disabledAt = ago(30);
  for (const webhook of [{ isEnabled: false }, { disabledAt, failingSince: ago(5_000) }, { clientId: "gone" }]) {
    await aWebhook(webhook);
    await aDelivery(ago(60));
  }
  const state = await readWebhookState(pool);
  expect(state).toMatchObject({ ...NONE, paused: 1, disabled: 1, failingSeconds: 0, waiting: 0, oldestSeconds: 0 });
  expect(state.disabledAt).toBeCloseTo(disabledAt.getTime() / 1_000, 0);
});
