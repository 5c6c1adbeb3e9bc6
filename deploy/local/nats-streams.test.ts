import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type Msg } from "nats";
import { expect, test } from "vitest";
import { createLog } from "#kernel/process/log.ts";
import { type Broker, connectNats } from "#kernel/nats/connect.ts";
import { jetStreamPublisher } from "#kernel/nats/publisher.ts";
import { pullWakeUps } from "#kernel/nats/pull.ts";
import { jetStreamManager, requireStreams } from "#kernel/nats/streams.ts";
import streams from "#streams" with { type: "json" };
import { setUpAllStreams } from "../nats/streams.ts";
import { startNats } from "./nats.ts";
import type { Service } from "../provision/services.ts";

const PUSHED_WITHIN_MS = 200;

type Json = { readonly config?: object; readonly message?: object };
const OWN_STREAM = { platform: streams.movements, subscription: streams.subscriptionEvents } as const;

const CASES = (["platform", "subscription"] as const).flatMap((owner) =>
  [true, false].map((isSetUp) => [owner, isSetUp ? "with its streams" : "without streams", isSetUp] as const),
);

test.each(CASES)(
  "with the user of %s no stream of a broker %s is given the replies to the edge, and none sends commands",
  async (owner, _streams, isSetUp) => {
    const { received, stolen } = await attack({ by: owner, owner, isSetUp });

    expect(received).toEqual(["pamm.v1.funding.GetBalance"]);
    expect(stolen).toBeUndefined();
  },
);

test.each(CASES)(
  "the same attack on the stream of %s of a broker %s succeeds with the user of the operator",
  async (owner, _streams, isSetUp) => {
    const { received, stolen } = await attack({ by: "operator", owner, isSetUp });

    const reply = expect.stringMatching(/^_INBOX\.edge\./) as string;
    expect(received).toEqual(expect.arrayContaining(["pamm.v1.funding.Deposit", reply]));
    expect(stolen).toMatchObject({ subject: reply });
  },
);

type Attack = { readonly by: Service | "operator"; readonly owner: keyof typeof OWN_STREAM; readonly isSetUp: boolean };

/** Returns what the consumers of funding received, and a reply to the edge that the stream has stored. */
async function attack({ by, owner, isSetUp }: Attack): Promise<{ received: string[]; stolen: object | undefined }> {
  using folder = mkdtempDisposableSync(join(tmpdir(), "nats-streams-"));
  await using server = await startNats({ dir: folder.path, password: "operator", passwordOf: (service) => service });
  if (isSetUp) await setUpAllStreams({ url: server.url, replicas: 1 });
  const as = (user: Service | "operator") =>
    connect({ servers: `127.0.0.1:${server.port}`, user, pass: user, inboxPrefix: `_INBOX.${user}` });
  const [own, edge, funding] = [await as(by), await as("edge"), await as("funding")];
  const received: string[] = [];
  const callback = (_error: unknown, message: Msg): void => {
    received.push(message.subject);
    message.respond("a secret");
  };
  // As the service does: the broker pushes to such subscriptions only.
  for (const rpc of ["Deposit", "GetBalance"]) {
    funding.subscribe(`pamm.v1.funding.${rpc}`, { queue: "funding", callback });
  }
  await funding.flush();
  const { name, subjects } = OWN_STREAM[owner];
  const subject = (subjects[0] ?? "").replace("*", "1");
  const ask = async (call: string, body: object): Promise<Json> =>
    await own
      .request(`$JS.API.${call}`, JSON.stringify(body), { timeout: 1_000 })
      .then((answer) => answer.json<Json>())
      .catch(() => ({}));
  // What a service that owns a stream may do with it. An update names all properties that stay.
  const { config = {} } = await ask(`STREAM.INFO.${name}`, {});
  const usual = { name, retention: "limits", storage: "file", ...config };
  for (const call of ["CREATE", "UPDATE"]) {
    const republish = { src: subject, dest: "pamm.v1.funding.Deposit" };
    await ask(`STREAM.${call}.${name}`, { ...usual, republish, subjects: [...subjects, "_INBOX.edge.>"] });
  }
  const target = { deliver_subject: "pamm.v1.funding.Deposit", deliver_group: "funding" };
  const pushes = { stream_name: name, config: { durable_name: owner, ack_policy: "explicit", ...target } };
  for (const call of ["DURABLE.CREATE", "CREATE"]) await ask(`CONSUMER.${call}.${name}.${owner}`, pushes);
  own.publish(subject, "forged command");
  await edge.request("pamm.v1.funding.GetBalance", "", { timeout: 20_000 });
  await sleep(PUSHED_WITHIN_MS);
  const { message } = await ask(`STREAM.MSG.GET.${name}`, { last_by_subj: "_INBOX.edge.>" });
  for (const connection of [own, edge, funding]) await connection.close();
  return { received, stolen: message };
}

test("platform and subscription need nothing else: they start, publish, receive and acknowledge without a refused subject", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "nats-streams-"));
  await using server = await startNats({ dir: folder.path, password: "secret", passwordOf: (service) => service });
  await setUpAllStreams({ url: server.url, replicas: 1 });
  const refused: string[] = [];
  const log = createLog({ service: "test", level: "warn", to: { write: (line) => void refused.push(line) } });
  const as = async (service: Service): Promise<Broker> =>
    await connectNats({ url: `nats://${service}:${service}@127.0.0.1:${server.port}`, name: service, log });
  await using platform = await as("platform");
  await using subscription = await as("subscription");
  const { movements, subscriptionEvents } = streams;

  await requireStreams(platform, [movements], "platform");
  await requireStreams(subscription, [movements, subscriptionEvents], "subscription");
  const received: bigint[] = [];
  const catchUp = async (number: bigint): Promise<void> => void received.push(number);
  await using _pull = pullWakeUps(subscription, { stream: movements.name, consumer: "subscription", catchUp, log });
  const forward = jetStreamPublisher(platform);
  const entry = { "Nats-Msg-Id": "platform:1", "Feed-Number": "1" };
  for (const _twice of [1, 2]) await forward("mirror.v1.moved.7", Buffer.from("moved"), entry);
  await jetStreamPublisher(subscription)("exit.v1.requested.7", Buffer.from("requested"), entry);

  await expect.poll(() => received).toEqual([1n]);
  const { consumers } = await jetStreamManager(subscription);
  const unread = async (): Promise<number[]> => {
    const { num_ack_pending, num_pending } = await consumers.info(movements.name, "subscription");
    return [num_ack_pending, num_pending];
  };
  await expect.poll(unread).toEqual([0, 0]);
  expect(refused).toEqual([]);
});
