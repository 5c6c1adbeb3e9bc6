import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { connect, Events } from "nats";
import pg from "pg";
import { beforeAll, expect, test } from "vitest";
import { callContext } from "#kernel/contract/context.ts";
import { methodsOf } from "#kernel/contract/contract.ts";
import type { ServiceName } from "#catalogue/services.ts";
import { grpcClient } from "#kernel/grpc/client.ts";
import { readIdentity } from "#kernel/certificates/identity.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { recordedProcess } from "../../deploy/local/process-id.ts";
import { SERVICES } from "../../deploy/provision/services.ts";
import { pidFile } from "../../deploy/local/state.ts";
import { environmentOf } from "../bench/system/environment.ts";
import { type Callable, CALLABLE, SERVED } from "../support/contracts.ts";
import { forgeTransfer } from "./support/intruder.ts";
import { sharedSystem, START_TIMEOUT_MS } from "./support/shared-system.ts";

/** What an intruder finds in the environment of each process of the running system. */
const found = new Map<ServiceName, Record<string, string>>();

beforeAll(async () => {
  const { stateDir } = await sharedSystem();
  const processes = () =>
    new Map(
      SERVICES.flatMap((name) => {
        const pid = recordedProcess(pidFile(stateDir, name));
        return pid === undefined ? [] : [[name, pid] as const];
      }),
    );
  for (const name of SERVICES) found.set(name, environmentOf({ processes }, name));
}, START_TIMEOUT_MS);

function variable(service: ServiceName, name: string): string {
  const value = found.get(service)?.[name];
  if (value === undefined) throw new Error(`${service} has no ${name}`);
  return value;
}

async function refusedCalls(service: Callable): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${variable(service, "PAMM_METRICS_PORT")}/metrics`)).text();
  return [...metrics.matchAll(/^pamm_calls_refused_total\{[^}]*\} (\d+)$/gm)].reduce(
    (sum, [, n]) => sum + Number(n),
    0,
  );
}

test.each(CALLABLE)(
  "with the stolen certificate of %s no method of another service is open that it does not use",
  async (thief) => {
    const identity = readIdentity(thief, {
      PAMM_TLS_CA_FILE: variable(thief, "PAMM_TLS_CA_FILE"),
      PAMM_TLS_CERT_FILE: variable(thief, "PAMM_TLS_CERT_FILE"),
      PAMM_TLS_KEY_FILE: variable(thief, "PAMM_TLS_KEY_FILE"),
    });
    for (const service of CALLABLE) {
      const { contract, permissions } = SERVED[service];
      const before = await refusedCalls(service);
      using client = grpcClient(variable("edge", `${service.toUpperCase()}_GRPC_URL`), { contract, service, identity });
      const foreign = methodsOf(contract).filter(({ name }) => permissions[name]?.includes(thief) !== true);
      for (const { name, requestDeserialize } of foreign) {
        const call = client[name] as (request: unknown, context: unknown) => Promise<unknown>;
        // The name that a caller writes into its request does not count.
        const context = callContext({ caller: "edge", withinMs: 5_000 });
        await expect(call(requestDeserialize(Buffer.alloc(0)), context), `${service}.${name}`).rejects.toMatchObject({
          code: "not_permitted",
        });
      }
      expect(await refusedCalls(service), service).toBe(before + foreign.length);
    }
  },
);

/** What each service requests of platform, and under which keys. */
const REQUESTS = {
  funding: { key: "funding:deposit:0198c0de-0000-7000-8000-000000000002", kind: MovementKind.DEPOSIT },
  fee: { key: "fee:3000001:2000001:DEBT:1", kind: MovementKind.FEE_CREDIT },
  subscription: { key: "posting:3000001:1000000", kind: MovementKind.RESULT },
} as const;
const REQUESTERS = Object.keys(REQUESTS) as (keyof typeof REQUESTS)[];

test.each(REQUESTERS)(
  "with the stolen certificate of %s no transfer of another service is requested, under no key and of no kind",
  async (thief) => {
    const system = await sharedSystem();
    const others = REQUESTERS.filter((name) => name !== thief);
    const forged = others.flatMap((name) => [
      REQUESTS[name],
      { ...REQUESTS[thief], key: REQUESTS[name].key },
      { ...REQUESTS[thief], kind: REQUESTS[name].kind },
    ]);
    const before = await refusedCalls("platform");
    for (const own of forged) {
      const transfer = forgeTransfer(system, { as: thief, login: "3000001", minor: 1_000_000_00n, ...own });
      await expect(transfer, own.key).rejects.toMatchObject({ code: "not_permitted", outcome: "not_executed" });
    }
    expect(await refusedCalls("platform")).toBe(before + forged.length);
  },
);

test.each(SERVICES)("with the stolen password of %s the broker gives nothing of another service", async (thief) => {
  const { username, password, host } = new URL(variable(thief, "NATS_URL"));
  const caFile = variable(thief, "NATS_CA_FILE");
  await expect(connect({ servers: host, user: username, pass: password })).rejects.toThrow();
  const connection = await connect({ servers: host, user: username, pass: password, tls: { caFile } });
  const refused: string[] = [];
  const watch = async (): Promise<void> => {
    for await (const { type, permissionContext } of connection.status()) {
      if (type === Events.Error && permissionContext !== undefined) refused.push(permissionContext.subject);
    }
  };
  void watch();
  const others = SERVICES.filter((name) => name !== thief);
  const subjects = [">", ...others.flatMap((name) => [`_INBOX.${name}.>`, `pamm.v1.${name}.>`])];
  for (const subject of subjects) connection.subscribe(subject, { callback: () => undefined });
  const streams = ["PLATFORM_MOVEMENTS", "SUBSCRIPTION_EVENTS"];
  const published = [
    "_INBOX.edge.x",
    `feed.v1.published.${others[0]}.x`,
    ...streams.flatMap((stream) => ["CREATE", "UPDATE", "DELETE"].map((call) => `$JS.API.STREAM.${call}.${stream}`)),
    ...streams.map((stream) => `$JS.API.CONSUMER.CREATE.${stream}.${thief}`),
  ];
  for (const subject of published) connection.publish(subject);
  await expect.poll(() => refused.toSorted()).toEqual([...subjects, ...published].toSorted());
  await connection.close();
});

test.each(SERVICES)("with the stolen password of %s the database gives no table of another service", async (thief) => {
  const client = new pg.Client({ connectionString: variable(thief, `${thief.toUpperCase()}_DATABASE_URL`) });
  await client.connect();
  const others = SERVICES.filter((name) => name !== thief);
  const { rows } = await client.query<{ name: string }>(
    "select c.oid::regclass::text as name from pg_class c where c.relkind in ('r', 'p') and c.relnamespace = any($1::regnamespace[])",
    [others],
  );
  expect(rows.length).toBeGreaterThan(20);
  for (const { name } of rows) {
    for (const statement of [`select from ${name}`, `delete from ${name}`]) {
      await expect(client.query(statement), statement).rejects.toMatchObject({ code: "42501" });
    }
  }
  await client.end();
});

test("the certificate of the broker proves the name of no service", () => {
  const { NATS_CA_FILE: authority = "" } = found.get("edge") ?? {};
  const certificate = new X509Certificate(readFileSync(authority.replace("ca.pem", "nats.pem")));
  expect(SERVICES.filter((service) => certificate.checkHost(service) !== undefined)).toEqual([]);
});
