/**
 * Measures the transfers per second of the platform service against the simulator: 1,000 postings of results, then as many
 * fees of two legs. Postgres with fsync, NATS, simulator and platform are separate processes, as in production.
 *
 *   node test/bench/transfers.ts [investors]
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { callContext } from "#kernel/contract/context.ts";
import type { Client } from "#kernel/contract/contract.ts";
import { inBatches } from "#kernel/in-batches.ts";
import { identityVariables } from "#kernel/testing/identity.ts";
import { owningClient } from "#test/support/owning-client.ts";
import { AccountRole, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import {
  type PlatformServiceService,
  type TransferAnswer,
  type TransferRequest,
  TransferState,
} from "#proto/pamm/platform/v1/platform.ts";
import { startNats } from "../../deploy/local/nats.ts";
import { setUpAllStreams } from "../../deploy/nats/streams.ts";
import { freePort } from "../../deploy/local/ports.ts";
import { startPostgres } from "../../deploy/local/postgres.ts";
import { processorSeconds } from "./processor-time.ts";
import { serviceDatabases } from "./service-databases.ts";
import { startService } from "./start-service.ts";

const BATCH = 500;
const CREATIONS_AT_ONCE = 16;
const CALL_MS = 60_000;
const START_MS = 30_000;
const MANAGER = { MT5_LOGIN: "1005", MT5_PASSWORD: "Manager#1005" };

/** Processes whose processor time is printed, by name. */
const processes = new Map<string, number>();

type Platform = Client<PlatformServiceService>;

await using stack = new AsyncDisposableStack();
const investors = Number(process.argv[2] ?? 1_000);
const folder = mkdtempSync(join(tmpdir(), "pamm-bench-"));
stack.defer(() => rmSync(folder, { recursive: true, force: true }));
const platform = await startPlatform();
const payment = await createAccount(platform, AccountRole.PAYMENT, 0);
const logins = await createAccounts(platform);
print(`${logins.length} Investors`);

const EMPTY = {
  lockOwner: "",
  upTo: undefined,
  enqueue: false,
  comment: "",
  sendBefore: undefined,
  releaseLock: false,
};

await measure("results", (login, index) => ({
  ...EMPTY,
  key: `posting:${index}:1`,
  legs: [{ login, kind: MovementKind.RESULT, amount: money(10_00n) }],
}));
await measure("fees, two legs each", (login, index) => ({
  ...EMPTY,
  key: `fee:${index}`,
  upTo: { floor: money(0n) },
  legs: [
    { login, kind: MovementKind.FEE_DEBIT, amount: money(-3_00n) },
    { login: payment, kind: MovementKind.FEE_CREDIT, amount: money(3_00n) },
  ],
}));

async function startPlatform(): Promise<Platform> {
  const database = stack.use(
    await startPostgres({ dataDir: join(folder, "postgres"), logFile: join(folder, "postgres.log"), isDurable: true }),
  );
  const broker = stack.use(await startNats({ dir: join(folder, "nats") }));
  await setUpAllStreams({ url: broker.url, replicas: 1 });
  const [web, control, grpc] = [await freePort(), await freePort(), await freePort()];
  const simulator = { SIM_PORT: String(web), SIM_CONTROL_PORT: String(control), PAMM_STATE_DIR: folder, ...MANAGER };
  const trading = startService("simulator", { ...simulator, LOG_LEVEL: "error" }, join(folder, "simulator.log"));
  stack.use(trading);
  await until(() => Promise.resolve(readFileSync(join(folder, "simulator/ports.json"), "utf8")));
  const env = {
    ...(await serviceDatabases(database.url)).variablesOf("platform"),
    NATS_URL: broker.url,
    MT5_URL: `https://127.0.0.1:${web}`,
    MT5_CA_FILE: join(folder, "simulator/ca.pem"),
    MT5_TIME_ZONE: "Europe/Athens",
    PAMM_QUIET_PERIOD: "PT20S",
    PAMM_REHEARSAL: "true",
    GRPC_PORT: String(grpc),
    // No service answers: the checks of the rows behind transfers and accounts fail.
    ACCOUNT_GRPC_URL: "127.0.0.1:1",
    FEE_GRPC_URL: "127.0.0.1:1",
    FUNDING_GRPC_URL: "127.0.0.1:1",
    SUBSCRIPTION_GRPC_URL: "127.0.0.1:1",
    LOG_LEVEL: "error",
    ...MANAGER,
    ...(await identityVariables("platform")),
  };
  const service = stack.use(startService("platform", env, join(folder, "platform.log"), process.execArgv));
  for (const [name, pid] of [
    ["postgres", database.process.pid],
    ["simulator", trading.pid],
    ["platform", service.pid],
  ] as const) {
    processes.set(name, pid);
  }
  const client = stack.use(await owningClient(`127.0.0.1:${grpc}`));
  await until(() => client.getStatus({}, call()));
  return client;
}

async function measure(what: string, request: (login: string, index: number) => TransferRequest): Promise<void> {
  const requests = logins.map(request);
  const before = usage();
  const startedAt = performance.now();
  const answers: TransferAnswer[] = [];
  for (const batch of inBatches(requests, BATCH)) {
    const answered = await platform.transferBatch({ requests: batch }, call());
    answers.push(...answered.answers);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const applied = answers.filter(
    ({ answer }) => answer?.$case === "result" && answer.value.state === TransferState.APPLIED,
  ).length;
  print(
    `${what}: ${applied} of ${requests.length} applied in ${seconds.toFixed(2)} s, ${(applied / seconds).toFixed(0)}/s`,
  );
  const used = usage().map(([name, total], index) => {
    const ms = ((total - (before[index]?.[1] ?? 0)) * 1_000) / requests.length;
    return `${name} ${ms.toFixed(2)}`;
  });
  print(`  processor ms each: ${used.join(", ")}; load of the machine ${loadavg()[0]?.toFixed(1)}`);
}

function usage(): [string, number][] {
  return [...processes].map(([name, pid]) => [name, processorSeconds(pid)]);
}

async function createAccounts(client: Platform): Promise<string[]> {
  const made: string[] = [];
  const queue = Array.from({ length: investors }, (_, index) => index + 1).values();
  const worker = async (): Promise<void> => {
    for (const index of queue) made.push(await createAccount(client, AccountRole.INVESTOR, index));
  };
  await Promise.all(Array.from({ length: CREATIONS_AT_ONCE }, worker));
  return made;
}

async function createAccount(client: Platform, role: AccountRole, index: number): Promise<string> {
  const { login } = await client.createAccount(
    {
      key: `account:${role}:${index}`,
      role,
      group: role === AccountRole.PAYMENT ? "" : "pamm\\investor",
      firstName: "Ann",
      lastName: `Bench ${index}`,
      email: "ann@example.com",
      leverage: 100,
      mainPassword: "Main#2026pw",
      investorPassword: "View#2026pw",
    },
    call(),
  );
  return login;
}

function call() {
  return callContext({ caller: "bench", withinMs: CALL_MS, commandId: crypto.randomUUID() });
}

function money(minorUnits: bigint) {
  return { currencyCode: "USD", minorUnits };
}

async function until<T>(attempt: () => Promise<T>): Promise<T> {
  const byMs = performance.now() + START_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > byMs) throw error;
      await sleep(100);
    }
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
