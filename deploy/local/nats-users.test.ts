import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, Events, type NatsConnection } from "nats";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type NatsServer, startNats } from "./nats.ts";
import { natsPermissions } from "./nats-users.ts";
import { type Service, SERVICES } from "./settings.ts";

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
  await vi.waitFor(() => expect(refused.toSorted()).toEqual(expected), { timeout: 5_000, interval: 20 });
}

function subscribe(connection: NatsConnection, subject: string): void {
  connection.subscribe(subject, { callback: () => undefined });
}

const FOREIGN_COMMANDS = SERVICES.filter((service) => service !== "edge").map(
  (service) => `pamm.v1.${service}.Anything`,
);
const JETSTREAM = [
  "$JS.API.STREAM.DELETE.PLATFORM_MOVEMENTS",
  "$JS.API.STREAM.PURGE.PLATFORM_MOVEMENTS",
  "$JS.API.STREAM.CREATE.CAPTURE",
  "$JS.API.STREAM.LIST",
  "$JS.API.CONSUMER.CREATE.PLATFORM_MOVEMENTS.spy",
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
  const subjects = ["mirror.v1.moved.1", "feed.v1.published.platform.movements", "_INBOX.fee.x", ...JETSTREAM];
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
  const reply = await edge.connection.request("pamm.v1.fee.ListBreaks", "", { timeout: 2_000 });
  expect(reply.string()).toBe("answer");
  expect([...edge.refused, ...fee.refused]).toEqual([]);
});

test("without a password, or with a wrong one, there is no connection", async () => {
  const servers = `127.0.0.1:${server.port}`;
  await expect(connect({ servers })).rejects.toThrow();
  await expect(connect({ servers, user: "fee", pass: passwordOf("platform") })).rejects.toThrow();
});

test("only platform and subscription may create streams, by name", () => {
  const creators = SERVICES.flatMap((service) => natsPermissions(service).publish).filter((subject) =>
    /STREAM\.(CREATE|UPDATE)/.test(subject),
  );
  expect(new Set(creators.map((subject) => subject.split(".").at(-1)))).toEqual(
    new Set(["PLATFORM_MOVEMENTS", "SUBSCRIPTION_EVENTS"]),
  );
});
