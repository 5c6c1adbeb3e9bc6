import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { itemsOf, type JsonObject, textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, eventually } from "../../journey/support/client.ts";
import { newInvestor, newMaster } from "../../journey/support/client-requests.ts";
import { countFigures } from "../../support/figures.ts";
import { IS_PROOF, sized } from "../../support/proof.ts";
import { repeatUntilDone } from "../repeat-until-done.ts";
import {
  accept,
  type Answer,
  type Received,
  type Receiver,
  startReceiver,
} from "../../../deploy/rehearse/webhook-receiver.ts";
import type { SystemUnderTest } from "../system-under-test.ts";
import { startSecondEdge } from "./second-edge.ts";

/** A claim of a replica that was killed ends after half a minute, and the pauses of an endpoint that fails are as long. */
const TIMEOUT = { timeout: 300_000 };
const SETTLED_MS = 150_000;
/** Long enough for the work of several seconds to be delivered. */
const MEASURED_MS = 6_000;
/** A healthy endpoint waits for the next look of the edge, which is at most a second, whatever another one does. */
const MOST_SLOWED = 2;
const PAUSE_MS = 60;
const SLOW_MS = 2_000;
const AWAY_MS = 3_000;
const TYPES = /^(?:deposit|withdrawal|subscription|mirror)\./;
const BOTH_SECRETS = [0, 1];

type World = Pick<SystemUnderTest, "client" | "arm"> & {
  readonly logins: readonly string[];
  readonly healthy: Receiver;
  readonly faulty: Receiver;
  /** Kills both edges, and waits until they run again. */
  readonly killEdges: () => Promise<void>;
};

export function webhooksThroughDeaths(tested: () => SystemUnderTest): void {
  test(
    "a receiver that fails, hangs, lies and restarts gets each event under one id, in order per account, while edges are killed",
    TIMEOUT,
    async () => {
      await using stack = new AsyncDisposableStack();
      const { client, system, arm } = tested();
      const second = stack.use(await startSecondEdge(system.stateDir));
      const [healthy, faulty] = [stack.use(await startReceiver()), stack.use(await startReceiver())];
      const { login: master } = await newMaster(client);
      const logins = await Promise.all([1, 2, 3, 4].map(() => newInvestor(client, "500")));
      const killEdges = async (): Promise<void> => {
        const killed = await Promise.all([system.kill("edge"), second.kill()]);
        countFigures({ "processes killed between the send and the record of a webhook": killed.length });
      };
      const world: World = { client, logins, healthy, faulty, killEdges, arm };

      const ids = new Map<Receiver, string>();
      ids.set(healthy, await createWebhook(client, healthy));
      // In `make test` the sender alone is tested beside a dead endpoint.
      if (IS_PROOF) await expectNotSlowed(world);
      ids.set(faulty, await createWebhook(client, faulty));
      const first = textOf(await webhookOf(client, ids.get(faulty)!), "through_event_id");
      const traffic = startTraffic(client, logins);
      for (const login of logins.slice(0, 2)) {
        const fee = { rate: 0.2, enabled: true };
        const assigned = { master_login: master, investor_login: login, perf_fee: fee };
        await repeatUntilDone(client, "/api/v1/investor/assign", assigned);
      }
      const rotatedAt = await goThroughFaults(world, ids.get(faulty)!);
      await traffic.end();
      for (const id of ids.values()) await untilDelivered(client, id);

      const events = (await eventsAfter(client, first)).filter(({ login }) => logins.includes(login));
      expect(new Set(events.map(({ type }) => type.split(".")[0]))).toEqual(
        new Set(["deposit", "withdrawal", "subscription", "mirror"]),
      );
      for (const receiver of [healthy, faulty]) expectInOrder(receiver, events);
      expectRepeated([healthy, faulty]);
      expectSigned(faulty, rotatedAt);
      expect(healthy.received.every(({ signedBy }) => signedBy.length === 1)).toBe(true);
      await expectReplay(world, ids.get(faulty)!, events);
    },
  );
}

/** Customers who deposit and withdraw, one after the other, however often an answer is lost. */
function startTraffic(client: Client, logins: readonly string[]) {
  let isOver = false;
  let count = 0;
  const customers = logins.map(async (login) => {
    for (let turn = 1; !isOver; turn += 1) {
      const action = turn % 3 === 0 ? "withdraw" : "deposit";
      const comment = `hook-${(count += 1)}`;
      await repeatUntilDone(
        client,
        `/api/v1/investor/${action}?login=${login}&amount=1.0${turn % 9}&comment=${comment}`,
      );
      await sleep(PAUSE_MS);
    }
  });
  return {
    async end() {
      isOver = true;
      await Promise.all(customers);
    },
  };
}

async function createWebhook(client: Client, receiver: Receiver): Promise<string> {
  const { body } = await repeatUntilDone(client, "/api/v1/webhooks", { url: receiver.url, types: "*" });
  receiver.secrets.push(textOf(body, "secret"));
  return textOf(body, "id");
}

async function webhookOf(client: Client, id: string): Promise<JsonObject> {
  const { status, text, body } = await client.get(`/api/v1/webhooks/${id}`);
  expect(status, text).toBe(200);
  return body;
}

/** Alone, then beside an endpoint that never answers. */
async function expectNotSlowed({ client, logins, healthy }: World): Promise<void> {
  const measure = async (): Promise<number> => {
    const begun = healthy.received.length;
    const traffic = startTraffic(client, logins);
    await sleep(MEASURED_MS);
    await traffic.end();
    const delays = healthy.received.slice(begun).map(({ delayMs }) => delayMs);
    expect(delays.length).toBeGreaterThan(20);
    return delays.toSorted((left, right) => left - right)[Math.floor(delays.length / 2)]!;
  };
  await eventually(async () => expect(healthy.received.length).toBeGreaterThan(0));
  const alone = await measure();
  await using dead = await startReceiver();
  dead.setDefault(() => {});
  const id = await createWebhook(client, dead);
  const beside = await measure();
  expect(dead.received.length).toBeGreaterThan(0);
  await client.send(`/api/v1/webhooks/${id}`, { method: "DELETE" });
  expect(beside / alone, `${beside} ms beside a dead endpoint, ${alone} ms alone`).toBeLessThan(MOST_SLOWED);
}

/** Returns when the secret was rotated, in seconds since 1970. */
async function goThroughFaults(world: World, id: string): Promise<number> {
  const { client, faulty, killEdges, arm } = world;
  const fail: Answer = (response) => response.writeHead(500).end("no");
  const hang: Answer = () => {};
  const cut: Answer = (response) => response.destroy();
  const slow: Answer = (response) => setTimeout(() => accept(response), SLOW_MS);
  const untilMet = (): Promise<void> => eventually(async () => expect(faulty.unmet()).toBe(0), SETTLED_MS);
  faulty.meet(...sized({ test: [accept, fail], proof: [accept, slow, hang, accept, fail, accept, slow, cut] }));
  await untilMet();

  let isArmed = (): boolean => true;
  // The client believes that the sender knows of its answer, and the sender dies before it has recorded it.
  const lie: Answer = (response) => {
    isArmed = arm("edge/after_answer.webhook");
    accept(response);
  };
  faulty.meet(accept, lie);
  await untilMet();
  await eventually(async () => expect(isArmed(), "no edge reached the failpoint").toBe(false));

  // The request has arrived and is not answered yet, so no edge can have recorded it.
  const killed = Promise.withResolvers<void>();
  faulty.meet((response) => {
    killEdges().then(killed.resolve, killed.reject);
    response.destroy();
  });
  await killed.promise;

  const { body } = await repeatUntilDone(client, `/api/v1/webhooks/${id}/rotate`);
  faulty.secrets.push(textOf(body, "secret"));
  const rotatedAt = Date.now() / 1_000;
  await faulty.restart(() => sleep(AWAY_MS));
  return rotatedAt;
}

async function untilDelivered(client: Client, id: string): Promise<void> {
  await eventually(async () => {
    const [newest = ""] = (await eventsAfter(client, "0")).map((event) => event.id).slice(-1);
    expect(BigInt(textOf(await webhookOf(client, id), "through_event_id"))).toBeGreaterThanOrEqual(BigInt(newest));
    const { body } = await client.get(`/api/v1/webhooks/${id}/deliveries?status=pending`);
    expect(itemsOf(body["items"])).toEqual([]);
  }, SETTLED_MS);
}

type Event = { readonly id: string; readonly key: string; readonly login: string; readonly type: string };

async function eventsAfter(client: Client, first: string): Promise<Event[]> {
  const events: Event[] = [];
  for (let after = first; ;) {
    const { status, text, body } = await client.get(`/api/v1/events?after=${after}&limit=500`);
    expect(status, text).toBe(200);
    for (const item of itemsOf(body["items"])) {
      const { login } = item;
      const [id, key, type] = ["id", "key", "type"].map((name) => textOf(item, name));
      if (typeof login === "string" && TYPES.test(type!)) events.push({ id: id!, key: key!, type: type!, login });
    }
    after = textOf(body, "next_cursor");
    if (body["has_more"] === false) return events;
  }
}

/** What a client keeps that leaves out ids that it has accepted is the list of events, of each account in its order. */
function expectInOrder({ received }: Receiver, events: readonly Event[]): void {
  const accepted = received.filter(({ isAccepted }) => isAccepted);
  const firstOfEach = accepted.filter(({ id }, index) => accepted.findIndex((other) => other.id === id) === index);
  for (const login of new Set(events.map((event) => event.login))) {
    const wanted = events.filter((event) => event.login === login).map(({ key }) => key);
    const got = firstOfEach.filter((item) => item.login === login).map(({ id }) => id);
    expect(got.filter((id) => wanted.includes(id))).toEqual(wanted);
  }
}

/** The process that ended with an answer has not recorded what was accepted. Answers of both receivers come, so it may be of either. */
function expectRepeated(receivers: readonly Receiver[]): void {
  const repeated = receivers.flatMap(({ received }) => {
    const accepted = received.filter(({ isAccepted }) => isAccepted).map(({ id }) => id);
    return accepted.filter((id, index) => accepted.indexOf(id) !== index);
  });
  expect(repeated, "accepted events that were sent again").not.toEqual([]);
}

function expectSigned({ received }: Receiver, rotatedAt: number): void {
  expect(received.every(({ signedBy }) => signedBy.length > 0)).toBe(true);
  // A request that was claimed before the rotation carries the signature of then.
  const later = received.filter(({ sentAt }) => sentAt > rotatedAt + 2);
  expect(later.length).toBeGreaterThan(0);
  for (const item of later) expect([item.signatures, item.signedBy]).toEqual([2, BOTH_SECRETS]);
}

async function expectReplay({ client, faulty }: World, id: string, events: readonly Event[]): Promise<void> {
  const [from, ...rest] = events.slice(Math.floor(events.length / 2));
  const begun = faulty.received.length;
  await repeatUntilDone(client, `/api/v1/webhooks/${id}/replay?after=${from!.id}`);
  await untilDelivered(client, id);
  const again: Received[] = faulty.received.slice(begun);
  for (const login of new Set(rest.map((event) => event.login))) {
    const wanted = rest.filter((event) => event.login === login).map(({ key }) => key);
    const got = again.filter((item) => item.login === login && TYPES.test(item.type)).map((item) => item.id);
    expect([...new Set(got)]).toEqual(wanted);
  }
}
