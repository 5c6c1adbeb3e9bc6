/**
 * Measures how fee reads a year of daily deals of one large pool, decides its first week, then further weeks in a row, and adds
 * results again after rates of the past. Postgres with fsync, NATS, subscription and fee are separate processes, as in production.
 *
 *   node test/bench/fee-weeks.ts [Investors] [deals of the past] [weeks]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { callContext } from "#kernel/contract/context.ts";
import type { Client } from "#kernel/contract/contract.ts";
import { Refusal } from "#kernel/refusal.ts";
import { identityVariables } from "#kernel/testing/identity.ts";
import { permittedClient } from "#test/support/permitted-client.ts";
import { FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import { startNats } from "../../deploy/local/nats.ts";
import { setUpAllStreams } from "../../deploy/nats/streams.ts";
import { freePort } from "../../deploy/local/ports.ts";
import { startPostgres } from "../../deploy/local/postgres.ts";
import { PERMISSIONS } from "../../services/fee/permissions.ts";
import { processorSeconds, residentBytes } from "./processor-time.ts";
import { serviceDatabases } from "./service-databases.ts";
import { startService } from "./start-service.ts";
import { median } from "./statistics.ts";
import {
  addRatesOfThePast,
  allocateDeals,
  closeWeek,
  createPool,
  DEALS_A_WEEK,
  instantOf,
  MASTER,
  payAll,
} from "./fee-weeks/books.ts";
import { logStatements, statementReader } from "./fee-weeks/statements.ts";

/** As long as subscription waits for fee before a withdrawal. */
const CALL_MS = 10_000;
const START_MS = 60_000;
/** A call that ends in the middle of a step has no answer. */
const TOO_LONG = new Set<string>(["unavailable", "unknown_outcome"]);
const MEBIBYTE = 1024 * 1024;
const MAX_MEBIBYTES = 200;
/** Weeks at each end of the row that are compared. */
const COMPARED = 5;

await using stack = new AsyncDisposableStack();
const [holdings = 10_000, deals = 250, weeks = 52] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), "pamm-bench-"));
stack.defer(() => rmSync(folder, { recursive: true, force: true }));
const logFile = join(folder, "postgres.log");
const { fee, pid, client } = await startServices();
await createPool(client, holdings);
let last = await allocateDeals(client, holdings, 0, deals);
await client.query("analyze");
await logStatements(client);
const statements = statementReader(logFile);
let mostMebibytes = 0;

await step(`${deals} deals of the past read`);
last = await closeWeek(client, holdings, last);
await step("first week decided");
print(`${await payAll(client)} fees`);
const taken: Taken[] = [];
for (let week = 1; week <= weeks; week += 1) {
  last = await allocateDeals(client, holdings, last, DEALS_A_WEEK);
  last = await closeWeek(client, holdings, last);
  taken.push(await step(`week ${week}`));
  await payAll(client);
}
await addRatesOfThePast(client, holdings, instantOf(Math.floor(deals / 2)));
last = await closeWeek(client, holdings, last);
await step(`week after ${holdings / 10} rates of the past`);
for (const what of ["seconds", "processorSeconds"] as const) {
  const each = taken.map((week) => week[what]);
  const [first = 1, end = 0] = [each.slice(0, COMPARED), each.slice(-COMPARED)].map(median);
  print(`${what} of the last ${COMPARED} weeks against the first: ${(end / first).toFixed(2)} times`);
}
if (mostMebibytes > MAX_MEBIBYTES) process.exitCode = 1;

type Taken = { readonly seconds: number; readonly processorSeconds: number };

/** Until fee has read, and decided, all allocations. */
async function step(what: string): Promise<Taken> {
  const startedAt = performance.now();
  const before = processorSeconds(pid);
  let calls = 1;
  while (!(await prepare())) calls += 1;
  const seconds = (performance.now() - startedAt) / 1_000;
  const ownSeconds = processorSeconds(pid) - before;
  const mebibytes = residentBytes(pid) / MEBIBYTE;
  mostMebibytes = Math.max(mostMebibytes, mebibytes);
  const { longestMs, timeOuts } = statements();
  if (timeOuts.length > 0) process.exitCode = 1;
  for (const line of timeOuts) print(line);
  print(
    `${what}: ${seconds.toFixed(2)} s in ${calls} calls, ${ownSeconds.toFixed(2)} s of fee's processor, ` +
      `longest statement ${longestMs.toFixed(0)} ms, ${timeOuts.length} time-outs, ${mebibytes.toFixed(0)} MiB, load ${loadavg()[0]?.toFixed(1)}`,
  );
  return { seconds, processorSeconds: ownSeconds };
}

/** False when the time of the call ended before: the next one continues after the last committed step. */
async function prepare(): Promise<boolean> {
  try {
    await fee.prepare({ masterLogin: MASTER }, call());
    return true;
  } catch (error) {
    if (error instanceof Refusal && TOO_LONG.has(error.status)) return false;
    throw error;
  }
}

function call() {
  return callContext({ caller: "bench", withinMs: CALL_MS, commandId: crypto.randomUUID() });
}

type Started = { readonly fee: Client<FeeServiceService>; readonly pid: number; readonly client: pg.Client };

async function startServices(): Promise<Started> {
  const postgres = await startPostgres({ dataDir: join(folder, "postgres"), logFile, isDurable: true });
  const database = stack.use(postgres);
  const databases = await serviceDatabases(database.url);
  const broker = stack.use(await startNats({ dir: join(folder, "nats") }));
  await setUpAllStreams({ url: broker.url, replicas: 1 });
  const [feePort, subscriptionPort, absentPort] = [await freePort(), await freePort(), await freePort()];
  // Nothing is asked of the services that are not started.
  const absent = `127.0.0.1:${absentPort}`;
  const common = {
    NATS_URL: broker.url,
    PLATFORM_GRPC_URL: absent,
    ACCOUNT_GRPC_URL: absent,
    FEE_GRPC_URL: `127.0.0.1:${feePort}`,
    SUBSCRIPTION_GRPC_URL: `127.0.0.1:${subscriptionPort}`,
    LOG_LEVEL: "error",
    NODE_OPTIONS: "--max-semi-space-size=8",
    MALLOC_ARENA_MAX: "1",
  };
  const pids = new Map<string, number>();
  for (const [name, port] of [
    ["subscription", subscriptionPort],
    ["fee", feePort],
  ] as const) {
    const env = {
      ...common,
      ...databases.variablesOf(name),
      GRPC_PORT: String(port),
      ...(await identityVariables(name)),
    };
    pids.set(name, stack.use(startService(name, env, join(folder, `${name}.log`), process.execArgv)).pid);
  }
  const target = { contract: FeeServiceService, service: "fee", permissions: PERMISSIONS } as const;
  const fees = stack.use(await permittedClient(`127.0.0.1:${feePort}`, target));
  const db = new pg.Client({ connectionString: databases.url, application_name: "bench" });
  await db.connect();
  await untilReady(fees, db);
  // No platform answers here, and fee decides nothing before it has asked for fees that it may have lost.
  await db.query(`set search_path = fee;
    insert into fee_search (database) values (database_identity())
    on conflict (is_only) do update
    set database = excluded.database, begun_in = null, begun_at = null, after_transfer_id = null;
    set search_path = public`);
  stack.defer(() => db.end());
  return { fee: fees, pid: pids.get("fee") ?? 0, client: db };
}

async function untilReady(fees: Client<FeeServiceService>, db: pg.Client): Promise<void> {
  for (const byMs = performance.now() + START_MS; ; await sleep(100)) {
    try {
      await db.query("select from subscription.holding limit 1");
      await fees.listDueItems({ key: "none" }, call());
      return;
    } catch (error) {
      if (performance.now() > byMs) throw error;
    }
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
