import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, Events, type NatsConnection } from "nats";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type NatsServer, startNats } from "../local/nats.ts";
import { natsPermissions } from "./nats-users.ts";
import { type Service, SERVICES } from "./services.ts";

const folder = mkdtempDisposableSync(join(tmpdir(), "nats-users-"));
const passwordOf = (service: Service): string => `secret-of-${service}`;
let server: NatsServer;

beforeAll(async () => {
  server = await startNats({ dir: folder.path, password: "secret", passwordOf });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** A connection of a process that has the password of the service, and the subjects that the broker has refused to it. */
async function intruder(service: Service) {
  const inboxPrefix = `_INBOX.${service}`;
  const servers = `127.0.0.1:${server.port}`;
  const connection = await connect({ servers, user: service, pass: passwordOf(service), inboxPrefix });
  const refused: string[] = [];
  const watch = async (): Promise<void> => {
    for await (const { type, permissionContext } of connection.status()) {
      if (type !== Events.Error || permissionContext === undefined) continue;
      refused.push(`${permissionContext.operation} ${permissionContext.subject}`);
    }
  };
  void watch();
  return { connection, refused, [Symbol.asyncDispose]: () => connection.close() };
}

/** The broker reports each refusal by a message of its own. */
async function expectRefused(
  { connection, refused }: Awaited<ReturnType<typeof intruder>>,
  expected: readonly string[],
) {
  await connection.flush();
  await vi.waitFor(() => expect(refused.toSorted()).toEqual(expected), { timeout: 30_000, interval: 20 });
}

function subscribe(connection: NatsConnection, subject: string): void {
  connection.subscribe(subject, { callback: () => undefined });
}

const FOREIGN_COMMANDS = SERVICES.filter((service) => service !== "edge").map(
  (service) => `pamm.v1.${service}.Anything`,
);
/** Creates, changes or reads what is not the service's own. */
const JETSTREAM = [
  "$JS.API.STREAM.CREATE.CAPTURE",
  "$JS.API.STREAM.LIST",
  ...["PLATFORM_MOVEMENTS", "SUBSCRIPTION_EVENTS"].flatMap((stream) => [
    ...["CREATE", "UPDATE", "DELETE", "PURGE", "RESTORE", "SNAPSHOT", "MSG.DELETE"].map(
      (call) => `$JS.API.STREAM.${call}.${stream}`,
    ),
    `$JS.API.DIRECT.GET.${stream}`,
    `$JS.API.CONSUMER.CREATE.${stream}`,
    ...["spy", "subscription"].flatMap((consumer) => [
      `$JS.API.CONSUMER.CREATE.${stream}.${consumer}`,
      `$JS.API.CONSUMER.CREATE.${stream}.${consumer}._INBOX.edge.x`,
      `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${consumer}`,
      `$JS.API.CONSUMER.DELETE.${stream}.${consumer}`,
    ]),
  ]),
];

test.each(SERVICES.filter((service) => service !== "edge"))(
  "with the user of %s no command, signal or event of another service can be sent, and no stream be administered",
  async (service) => {
    await using own = await intruder(service);
    const others = SERVICES.filter((name) => name !== service).map((name) => `feed.v1.published.${name}.things`);
    const events = service === "platform" ? ["exit.v1.requested.1"] : ["mirror.v1.moved.1"];
    const subjects = [...FOREIGN_COMMANDS, ...others, ...events, ...JETSTREAM, "edge.v1.keys.changed", "_INBOX.edge.x"];
    for (const subject of subjects) own.connection.publish(subject, "forged");
    await expectRefused(own, subjects.map((subject) => `publish ${subject}`).toSorted());
  },
);

test("with the user of the edge only commands and the signal of changed keys can be sent", async () => {
  await using own = await intruder("edge");
  // It answers the services with reviews, and no other one.
  const inboxes = ["_INBOX.account.x", "_INBOX.funding.x", "_INBOX.x"];
  const subjects = ["mirror.v1.moved.1", "feed.v1.published.platform.movements", ...inboxes, ...JETSTREAM];
  for (const subject of [...subjects, "edge.v1.keys.changed"]) own.connection.publish(subject, "forged");
  await expectRefused(own, subjects.map((subject) => `publish ${subject}`).toSorted());
});

test.each(SERVICES)("with the user of %s nothing of another service can be read", async (service) => {
  await using own = await intruder(service);
  const others = SERVICES.filter((name) => name !== service);
  const subjects = [
    ">",
    "*.>",
    "_INBOX.>",
    "pamm.v1.>",
    ...others.flatMap((name) => [`_INBOX.${name}.>`, `pamm.v1.${name}.>`]),
    "$JS.>",
  ];
  for (const subject of subjects) subscribe(own.connection, subject);
  await expectRefused(own, subjects.map((subject) => `subscription ${subject}`).toSorted());
});

test("a service answers a request once, on the inbox of the edge", async () => {
  await using edge = await intruder("edge");
  await using fee = await intruder("fee");
  fee.connection.subscribe("pamm.v1.fee.*", { callback: (_error, message) => void message.respond("answer") });
  await fee.connection.flush();
  const reply = await edge.connection.request("pamm.v1.fee.ListBreaks", "", { timeout: 20_000 });
  expect(reply.string()).toBe("answer");
  expect([...edge.refused, ...fee.refused]).toEqual([]);
});

test("with the user of the edge nothing can be sent by answering a message of its own", async () => {
  await using own = await intruder("edge");
  own.connection.subscribe("edge.v1.keys.changed", { callback: (_error, message) => void message.respond("forged") });
  const subjects = ["$JS.API.STREAM.UPDATE.PLATFORM_MOVEMENTS", "mirror.v1.moved.1", "_INBOX.funding.x"];
  for (const reply of subjects) own.connection.publish("edge.v1.keys.changed", "", { reply });
  await own.connection.flush();
  await expectRefused(own, subjects.map((subject) => `publish ${subject}`).toSorted());
});

test("the edge answers a service with reviews", async () => {
  await using edge = await intruder("edge");
  await using fee = await intruder("fee");
  edge.connection.subscribe("pamm.v1.edge.*", { callback: (_error, message) => void message.respond("answer") });
  await edge.connection.flush();
  const reply = await fee.connection.request("pamm.v1.edge.ConfirmVotes", "", { timeout: 20_000 });
  expect(reply.string()).toBe("answer");
  expect([...edge.refused, ...fee.refused]).toEqual([]);
});

test("without a password, or with a wrong one, there is no connection", async () => {
  const servers = `127.0.0.1:${server.port}`;
  await expect(connect({ servers })).rejects.toThrow();
  await expect(connect({ servers, user: "fee", pass: passwordOf("platform") })).rejects.toThrow();
});

test("of JetStream a service may use its own stream, and its own consumer", () => {
  const used = SERVICES.flatMap((service) =>
    natsPermissions(service)
      .publish.filter((subject) => subject.startsWith("$JS."))
      .map((subject) => `${service} ${subject}`),
  );
  expect(used).toEqual([
    "platform $JS.API.STREAM.INFO.PLATFORM_MOVEMENTS",
    "platform $JS.API.STREAM.MSG.GET.PLATFORM_MOVEMENTS",
    "subscription $JS.API.STREAM.INFO.SUBSCRIPTION_EVENTS",
    "subscription $JS.API.STREAM.MSG.GET.SUBSCRIPTION_EVENTS",
    "subscription $JS.API.STREAM.INFO.PLATFORM_MOVEMENTS",
    "subscription $JS.API.CONSUMER.INFO.PLATFORM_MOVEMENTS.subscription",
    "subscription $JS.API.CONSUMER.MSG.NEXT.PLATFORM_MOVEMENTS.subscription",
    "subscription $JS.ACK.PLATFORM_MOVEMENTS.subscription.>",
  ]);
});
