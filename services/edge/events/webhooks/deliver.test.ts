import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import type { Pool } from "#kernel/postgres/pool.ts";
import { column, execute, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { Secret } from "#kernel/values/secret.ts";
import { silent } from "#kernel/testing/feed.ts";
import { testDatabase } from "#test/support/database.ts";
import { waitFor } from "#test/support/wait-for.ts";
import { saveKeySystem } from "../../identity/store/api-keys.ts";
import { insertEvents } from "../store/events.ts";
import { claimDeliveries } from "../store/webhook-attempts.ts";
import { deliverWebhooks } from "./deliver.ts";
import { createSecretCipher } from "./secret-cipher.ts";
import { openWebhooks, type Webhooks } from "./webhooks.ts";

const CLIENT = "bootstrap";
const WAIT = { interval: 50 };
/** A machine that stands still for a second does not make an endpoint silent. */
const ANSWER_WITHIN_MS = 2_000;
const CIPHER = createSecretCipher([new Secret(Buffer.alloc(32, 7))]);

type Received = {
  readonly id: string;
  readonly login: string;
  readonly subject: string;
  readonly signatures: string[];
};
type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let pool: Pool;
let webhooks: Webhooks;
let commands = 0;

beforeEach(async () => {
  ({ pool } = await testDatabase("edge"));
  await saveKeySystem(pool, { environment: "test", hasBootstrapKey: true });
  webhooks = openWebhooks(pool, CIPHER);
});

const aCommand = () => ({ commandId: `command-${(commands += 1)}` });
const of = (id: bigint) => ({ clientId: CLIENT, id });

const ACCEPT: Answer = (_request, response) => void response.writeHead(204).end();

/** A receiver as the convention describes it: it keeps what has a valid signature. `answer` may do what it wants. */
async function aReceiver(answer: () => Answer = () => ACCEPT) {
  const received: Received[] = [];
  const open = new Set<string>();
  const secrets: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      const header = (name: string) => String(request.headers[name]);
      const signatures = header("webhook-signature").split(" ");
      expect(Math.abs(Date.now() / 1_000 - Number(header("webhook-timestamp")))).toBeLessThan(60);
      const signed = `${header("webhook-id")}.${header("webhook-timestamp")}.${body}`;
      const expected = secrets.map((secret) => {
        const key = Buffer.from(secret.replace("whsec_", ""), "base64");
        return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
      });
      if (!signatures.some((signature) => expected.includes(signature))) return void response.writeHead(401).end();
      const { type, timestamp, data } = JSON.parse(body) as Record<string, unknown> & { data: Record<string, string> };
      expect([type, timestamp]).toEqual([data["type"], "2026-01-02T03:04:05.678Z"]);
      const [id, login, subject] = [header("webhook-id"), String(data["login"]), String(data["subject_id"])];
      expect(id).toBe(data["key"]);
      expect(open.has(login), "two events of one account at the same time").toBe(false);
      open.add(login);
      response.on("close", () => open.delete(login));
      received.push({ id, login, subject, signatures });
      answer()(request, response);
    })();
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`;
  const { webhook, secret } = await webhooks.create({ clientId: CLIENT, url, types: "*" }, aCommand());
  secrets.push(secret.reveal());
  return { id: webhook.id, url, received, secrets };
}

/** The secret of a receiver, encrypted for another client. */
const secretFor = (client: string, secret: string): string => CIPHER.encrypt(new Secret(secret), client);

function aReplica() {
  const job = deliverWebhooks({
    pool,
    cipher: CIPHER,
    isRehearsal: true,
    look: () => {},
    log: silent,
    answerWithinMs: ANSWER_WITHIN_MS,
    workEveryMs: 100,
  });
  onTestFinished(() => job[Symbol.asyncDispose]());
  return job;
}

let keys = 0;

/** Records events of the accounts: subject n of an account is its nth. */
async function record(count: number, logins: readonly string[]): Promise<void> {
  const events = Array.from({ length: count }, (_, index) =>
    logins.map((login) => ({
      key: `funding-${(keys += 1)}`,
      type: "deposit.executed",
      state: "executed",
      subject: String(index),
      occurredAt: new Date("2026-01-02T03:04:05.678Z"),
      login,
      masterLogin: "",
      operationId: "",
      amountMinor: 100n,
      dealId: 9_007_199_254_740_993n,
      reason: "",
    })),
  );
  await inTransaction(pool, (tx) => insertEvents(tx, events.flat()));
}

/** Pauses are over. */
async function passTime(): Promise<void> {
  await execute(pool, sql`update webhook_delivery set next_try_at = clock_timestamp() where status = 'pending'`);
  await execute(pool, sql`update webhook set paused_until = '-infinity'`);
}

const statuses = (id: bigint) =>
  column<string>(pool, sql`select distinct status from webhook_delivery where webhook_id = ${id}`);

/** What a receiver keeps that leaves out ids that it knows. */
function onceEach(received: readonly Received[]): Received[] {
  return received.filter(({ id }, index) => received.findIndex((other) => other.id === id) === index);
}

function expectInOrder(received: readonly Received[], logins: readonly string[], count: number): void {
  for (const login of logins) {
    const own = onceEach(received).filter((one) => one.login === login);
    expect(own.map(({ subject }) => subject)).toEqual(Array.from({ length: count }, (_, index) => String(index)));
  }
}

test("two replicas send a receiver that fails, hangs, redirects and sends too much every event, in order per account", async () => {
  const logins = ["9001", "9002", "9003"];
  const faults: Answer[] = [
    (_request, response) => void response.writeHead(500).end("no"),
    // Hangs until the sender leaves.
    () => {},
    (_request, response) => void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
    (request) => void request.socket.destroy(),
    // Accepts, with an answer that never ends.
    (_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write("x".repeat(64 * 1024)), 1);
      response.on("close", () => clearInterval(timer));
    },
  ];
  let requests = 0;
  const receiver = await aReceiver(() =>
    (requests += 1) % 3 === 0 ? faults[(requests / 3) % faults.length]! : ACCEPT,
  );
  await record(8, logins);
  aReplica();
  aReplica();

  await waitFor(async () => {
    await passTime();
    expect(await statuses(receiver.id)).toEqual(["delivered"]);
  }, WAIT);

  expectInOrder(receiver.received, logins, 8);
  expect(await webhooks.get(of(receiver.id))).toMatchObject({ failingSince: undefined, lastError: "" });
});

test("a dead endpoint delays no other one, has one attempt at a time", async () => {
  const dead = await aReceiver(() => () => {});
  const healthy = await aReceiver();
  const logins = Array.from({ length: 20 }, (_, index) => String(9_000 + index));
  await record(5, logins);
  aReplica();

  await waitFor(() => expect(onceEach(healthy.received)).toHaveLength(100), WAIT);

  expectInOrder(healthy.received, logins, 5);
  const counts = await column<bigint>(
    pool,
    sql`select count(*) from webhook_delivery where webhook_id = ${dead.id} and status = 'pending'`,
  );
  expect(counts[0]).toBe(100n);
  const failing = { lastError: "timeout", failingSince: expect.any(Date) as Date, disabledAt: undefined };
  await waitFor(async () => expect(await webhooks.get(of(dead.id))).toMatchObject(failing), WAIT);
  expect(dead.received.length).toBeLessThan(30);
});

test("what was sent and not recorded is sent again under the same id by another replica", async () => {
  const receiver = await aReceiver();
  await record(2, ["9001"]);
  {
    const first = aReplica();
    await waitFor(() => expect(receiver.received).toHaveLength(2), WAIT);
    await waitFor(async () => expect(await statuses(receiver.id)).toEqual(["delivered"]), WAIT);
    await first[Symbol.asyncDispose]();
  }
  // As if the process had ended after the first send.
  await execute(
    pool,
    sql`update webhook_delivery set status = 'pending', finished_at = null, claimed_until = clock_timestamp() + interval '1 second'`,
  );
  expect(await claimDeliveries(pool, { claimMs: 1_000, perWebhook: 8, limit: 8 })).toEqual([]);
  aReplica();

  await waitFor(() => expect(receiver.received).toHaveLength(4), WAIT);
  const [first, second, again, last] = receiver.received.map(({ id }) => id);
  expect([again, last]).toEqual([first, second]);
});

test("a process that stops leaves what it is sending to others, at once", async () => {
  let isHanging = true;
  const receiver = await aReceiver(() => (isHanging ? () => {} : ACCEPT));
  await record(1, ["9001"]);
  const first = aReplica();
  await waitFor(() => expect(receiver.received).toHaveLength(1), WAIT);
  isHanging = false;
  await first[Symbol.asyncDispose]();
  aReplica();
  await waitFor(() => expect(receiver.received).toHaveLength(2), WAIT);
  expect(receiver.received[1]?.id).toBe(receiver.received[0]?.id);
});

test("for a day after a rotation both secrets sign, then the new one alone", async () => {
  const receiver = await aReceiver();
  const { secret } = await webhooks.rotate(of(receiver.id), aCommand());
  await record(1, ["9001"]);
  aReplica();
  // The receiver knows the old secret only.
  await waitFor(() => expect(receiver.received).toHaveLength(1), WAIT);
  expect(receiver.received[0]?.signatures).toHaveLength(2);

  receiver.secrets.splice(0, 1, secret.reveal());
  await execute(pool, sql`update webhook set previous_until = clock_timestamp()`);
  await record(1, ["9002"]);
  await waitFor(() => expect(receiver.received).toHaveLength(2), WAIT);
  expect(receiver.received[1]?.signatures).toHaveLength(1);
});

test("a replay sends what follows the event again, each under its id, and types select", async () => {
  const receiver = await aReceiver();
  await record(3, ["9001"]);
  aReplica();
  await waitFor(() => expect(receiver.received).toHaveLength(3), WAIT);
  const [first] = await column<bigint>(pool, sql`select min(id) from event`);
  await webhooks.replay({ ...of(receiver.id), after: first! }, aCommand());
  await waitFor(() => expect(receiver.received).toHaveLength(5), WAIT);
  expect(receiver.received.map(({ subject }) => subject)).toEqual(["0", "1", "2", "1", "2"]);
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(3);

  await webhooks.update({ ...of(receiver.id), url: undefined, types: "fee.*", isEnabled: undefined }, aCommand());
  await record(2, ["9001"]);
  await waitFor(async () => {
    const [newest] = await column<bigint>(pool, sql`select max(id) from event`);
    expect((await webhooks.get(of(receiver.id))).throughEvent).toBe(newest);
  }, WAIT);
  expect(receiver.received).toHaveLength(5);
});

const refuse =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    void response.writeHead(status, headers).end();
const page = { beforeId: 2n ** 62n, status: undefined, limit: 10 };
const enable = (id: bigint) =>
  webhooks.update({ ...of(id), url: undefined, types: undefined, isEnabled: true }, aCommand());

test("an endpoint that answers 410 is disabled with this reason, and gets what it has not got when it is enabled again", async () => {
  let answer = refuse(410);
  const receiver = await aReceiver(() => answer);
  const other = await aReceiver();
  const logins = ["9001", "9002", "9003"];
  await record(2, logins);
  aReplica();
  await waitFor(async () => expect((await webhooks.get(of(receiver.id))).disabledAt).toBeInstanceOf(Date), WAIT);
  await waitFor(() => expect(onceEach(other.received)).toHaveLength(6), WAIT);

  // Other attempts that were on their way say nothing about it any more.
  await waitFor(async () => {
    const { items } = await webhooks.deliveries({ ...of(receiver.id), ...page });
    expect(items.filter(({ lastStatus }) => lastStatus === 410)).toHaveLength(receiver.received.length);
  }, WAIT);
  expect(await webhooks.get(of(receiver.id))).toMatchObject({ lastError: "status_410" });
  await passTime();
  await record(1, ["9004"]);
  await waitFor(() => expect(onceEach(other.received)).toHaveLength(7), WAIT);
  const sent = receiver.received.length;
  expect(sent).toBeLessThanOrEqual(logins.length);

  answer = ACCEPT;
  await enable(receiver.id);
  await waitFor(async () => expect(await statuses(receiver.id)).toEqual(["delivered"]), WAIT);
  expectInOrder(receiver.received.slice(sent), logins, 2);
  expect(await webhooks.get(of(receiver.id))).toMatchObject({ disabledAt: undefined, lastError: "" });
});

test.each([
  [429, () => "120"],
  [503, () => new Date(Date.now() + 120_000).toUTCString()],
])(
  "an endpoint that answers %i with Retry-After is sent nothing until then, also by another replica",
  async (status, retryAfter) => {
    let answer = refuse(status, { "retry-after": retryAfter() });
    const receiver = await aReceiver(() => answer);
    const other = await aReceiver();
    // As if it had failed for so long that one more failure disables it.
    await execute(
      pool,
      sql`update webhook set failures = 2, failing_since = clock_timestamp() - interval '72 hours', last_error = 'timeout' where id = ${receiver.id}`,
    );
    await record(2, ["9001"]);
    {
      await using _first = aReplica();
      await waitFor(async () => expect((await webhooks.get(of(receiver.id))).askedUntil).toBeInstanceOf(Date), WAIT);
    }
    const { askedUntil, failingSince, disabledAt, lastError } = await webhooks.get(of(receiver.id));
    const secondsLeft = (askedUntil!.getTime() - Date.now()) / 1_000;
    expect(secondsLeft).toBeGreaterThan(105);
    expect(secondsLeft).toBeLessThanOrEqual(121);
    expect({ disabledAt, lastError }).toEqual({ disabledAt: undefined, lastError: `status_${status}` });
    // The time that it has asked for is not counted.
    expect(Date.now() - failingSince!.getTime()).toBeLessThan(72 * 3_600_000 - 100_000);
    const { items } = await webhooks.deliveries({ ...of(receiver.id), ...page });
    expect(items.map(({ attempts, status: state }) => [attempts, state])).toEqual([
      [0, "pending"],
      [1, "pending"],
    ]);
    expect(items.map(({ nextTryAt }) => nextTryAt)).toEqual([askedUntil, askedUntil]);

    aReplica();
    await passTime();
    await record(1, ["9002"]);
    await waitFor(() => expect(onceEach(other.received)).toHaveLength(3), WAIT);
    expect(receiver.received).toHaveLength(1);

    answer = ACCEPT;
    await execute(pool, sql`update webhook set asked_until = clock_timestamp()`);
    await waitFor(() => expect(onceEach(receiver.received)).toHaveLength(3), WAIT);
    await waitFor(async () => {
      expect(await webhooks.get(of(receiver.id))).toMatchObject({ failingSince: undefined, lastError: "" });
    }, WAIT);
  },
);

test("429 without a time, and Retry-After of another status, are failures", async () => {
  const [busy, broken] = [
    await aReceiver(() => refuse(429)),
    await aReceiver(() => refuse(500, { "retry-after": "86400" })),
  ];
  await record(1, ["9001"]);
  aReplica();

  const failing = { failingSince: expect.any(Date) as Date, askedUntil: undefined };
  for (const [{ id }, lastError] of [
    [busy, "status_429"],
    [broken, "status_500"],
  ] as const) {
    await waitFor(async () => expect(await webhooks.get(of(id))).toMatchObject({ ...failing, lastError }), WAIT);
  }
});

test.each([410, 429])(
  "what an endpoint says with %i outlasts the answers of attempts that were on their way",
  async (status) => {
    const slow: Answer[] = [
      (_request, response) => void setTimeout(() => response.writeHead(204).end(), 200),
      (_request, response) => void setTimeout(() => response.writeHead(500).end(), 250),
    ];
    const receiver = await aReceiver(() => slow.shift() ?? refuse(status, { "retry-after": "120" }));
    const other = await aReceiver();
    await record(1, ["9001", "9002", "9003"]);
    aReplica();
    await waitFor(async () => {
      const { items } = await webhooks.deliveries({ ...of(receiver.id), ...page });
      expect(items.map(({ lastStatus }) => lastStatus).toSorted()).toEqual([204, status, 500].toSorted());
    }, WAIT);

    const { disabledAt, askedUntil, lastError } = await webhooks.get(of(receiver.id));
    if (status === 410) expect([disabledAt, lastError]).toEqual([expect.any(Date), "status_410"]);
    else expect(askedUntil!.getTime() - Date.now()).toBeGreaterThan(100_000);
    await passTime();
    await record(1, ["9004"]);
    await waitFor(() => expect(other.received).toHaveLength(4), WAIT);
    expect(receiver.received).toHaveLength(3);
  },
);

test("an endpoint that has another address, or is enabled again, need not wait", async () => {
  const receiver = await aReceiver(() => refuse(429, { "retry-after": "9999999" }));
  await record(1, ["9001"]);
  aReplica();
  await waitFor(async () => expect((await webhooks.get(of(receiver.id))).askedUntil).toBeInstanceOf(Date), WAIT);
  const { askedUntil } = await webhooks.get(of(receiver.id));
  expect(askedUntil!.getTime() - Date.now()).toBeLessThanOrEqual(86_400_000);

  await enable(receiver.id);
  await waitFor(() => expect(receiver.received).toHaveLength(2), WAIT);
});

test("a webhook is sent what the keys of its client may read, also when one has lost a scope since", async () => {
  const client = "KeyOfTests01";
  const setScopes = (scopes: string[]) => execute(pool, sql`update api_key set scopes = ${scopes}::text[]`);
  await execute(
    pool,
    sql`insert into api_key (id, environment, name, pepper_id, hash, scopes, allowed_addresses, client_id, created_at)
        values (${client}, 'test', 'crm', 'p', ${Buffer.alloc(32)}, '{webhooks,fees:read}', '{}', ${client}, clock_timestamp())`,
  );
  let isHeld = true;
  const receiver = await aReceiver(() => (isHeld ? refuse(500) : ACCEPT));
  await execute(
    pool,
    sql`update webhook set client_id = ${client}, secret = ${secretFor(client, receiver.secrets[0]!)}`,
  );
  const newest = async () => (await column<bigint>(pool, sql`select max(id) from event`))[0];
  const reached = () =>
    waitFor(async () => {
      const [through] = await column<bigint>(pool, sql`select through_event from webhook`);
      expect(through).toBe(await newest());
    }, WAIT);
  aReplica();

  // Deposits are not for it: it is not sent them, and none is listed.
  await record(1, ["9001"]);
  await reached();
  expect(await statuses(receiver.id)).toEqual([]);

  await setScopes(["webhooks", "investors:read"]);
  await record(2, ["9002"]);
  await waitFor(() => expect(receiver.received).toHaveLength(1), WAIT);

  // What waits is not sent any more when the scope is gone.
  await setScopes(["webhooks", "ops"]);
  isHeld = false;
  await waitFor(async () => {
    await passTime();
    expect(await statuses(receiver.id)).toEqual(["failed"]);
  }, WAIT);
  const reasons = await column<string>(pool, sql`select distinct last_error from webhook_delivery`);
  expect(reasons).toEqual(["insufficient_scope"]);
  expect(receiver.received).toHaveLength(1);
});

test("after 72 hours an event is given up and its endpoint disabled; enabled again, it gets what waits", async () => {
  let isDead = true;
  const receiver = await aReceiver(() =>
    isDead ? (_request, response) => void response.writeHead(503).end() : ACCEPT,
  );
  // With another one a replica looks for work all the time.
  await aReceiver();
  await record(2, ["9001"]);
  aReplica();
  await waitFor(() => expect(receiver.received).toHaveLength(1), WAIT);
  await waitFor(async () => expect((await webhooks.get(of(receiver.id))).lastError).toBe("status_503"), WAIT);
  await execute(
    pool,
    sql`update webhook_delivery set first_try_at = first_try_at - interval '73 hours' where attempts > 0`,
  );
  await execute(pool, sql`update webhook set failing_since = failing_since - interval '73 hours'`);
  await passTime();
  await waitFor(async () => expect((await webhooks.get(of(receiver.id))).disabledAt).toBeInstanceOf(Date), WAIT);

  const first = { ...page, limit: 1 };
  const newest = await webhooks.deliveries({ ...of(receiver.id), ...first });
  expect(newest).toMatchObject({ items: [{ status: "pending", attempts: 0 }], hasMore: true });
  const failed = await webhooks.deliveries({ ...of(receiver.id), ...first, status: "failed" });
  expect(failed).toMatchObject({ items: [{ attempts: 2, lastStatus: 503, lastError: "status_503" }], hasMore: false });
  // What waits is sent at once, however long ago it was made, and is not given up at its first failure.
  await execute(
    pool,
    sql`update webhook_delivery
        set first_try_at = clock_timestamp() - interval '73 hours', next_try_at = clock_timestamp() + interval '1 hour'
        where status = 'pending'`,
  );
  await enable(receiver.id);
  await waitFor(async () => {
    const { items } = await webhooks.deliveries({ ...of(receiver.id), ...first });
    expect(items).toMatchObject([{ status: "pending", attempts: 1, lastError: "status_503" }]);
  }, WAIT);
  isDead = false;
  await enable(receiver.id);
  await waitFor(() => expect(receiver.received.at(-1)?.subject).toBe("1"), WAIT);
  expect(await webhooks.get(of(receiver.id))).toMatchObject({ disabledAt: undefined });
});
