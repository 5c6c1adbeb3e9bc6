/**
 * Measures how the closed weeks of one large pool are decided by subscription and recorded by fee: the first one after a year of daily
 * deals, further ones in a row, and one after rates of the past, for which results are added again. Postgres with fsync, NATS,
 * subscription and fee are separate processes, as in production.
 *
 *   node test/bench/fee-weeks.ts [Investors] [deals of the past] [weeks]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { identityVariables } from "#kernel/testing/identity.ts";
import { startNats } from "../../deploy/local/nats.ts";
import { setUpAllStreams } from "../../deploy/nats/streams.ts";
import { freePort } from "../../deploy/local/ports.ts";
import { startPostgres } from "../../deploy/local/postgres.ts";
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
  payAll,
} from "./fee-weeks/books.ts";
import { logStatements, statementReader } from "./fee-weeks/statements.ts";

const START_MS = 60_000;
const POLL_MS = 10;
const MEBIBYTE = 1024 * 1024;
const MAX_MEBIBYTES = 200;
/** Weeks at each end of the row that are compared. */
const COMPARED = 5;

await using stack = new AsyncDisposableStack();
const [holdings = 10_000, deals = 250, weeks = 52] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), "pamm-bench-"));
stack.defer(() => rmSync(folder, { recursive: true, force: true }));
const logFile = join(folder, "postgres.log");
const { pids, client } = await startServices();
await createPool(client, holdings);
let last = await allocateDeals(client, holdings, 0, deals);
await client.query("analyze");
await logStatements(client);
const statements = statementReader(logFile);
let mostMebibytes = 0;

last = await closeWeek(client, holdings, last);
await step(`week after ${deals} deals`);
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

/** From when the job begins, which looks once a second, until all pages of the week are decided and recorded. */
async function step(what: string): Promise<Taken> {
  await untilNone("select from subscription.open_week where tries = 0");
  const startedAt = performance.now();
  const before = pids.map(processorSeconds);
  await untilNone(
    "select from subscription.open_week union all select from subscription.fee_decision where recorded_at is null",
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  const [decided = 0, recorded = 0] = pids.map((pid, index) => processorSeconds(pid) - (before[index] ?? 0));
  const mebibytes = Math.max(...pids.map(residentBytes)) / MEBIBYTE;
  mostMebibytes = Math.max(mostMebibytes, mebibytes);
  const { longestMs, timeOuts } = statements();
  if (timeOuts.length > 0) process.exitCode = 1;
  for (const line of timeOuts) print(line);
  print(
    `${what}: ${seconds.toFixed(2)} s, ${decided.toFixed(2)} s of subscription's processor and ${recorded.toFixed(2)} s of fee's, ` +
      `longest statement ${longestMs.toFixed(0)} ms, ${timeOuts.length} time-outs, ${mebibytes.toFixed(0)} MiB, load ${loadavg()[0]?.toFixed(1)}`,
  );
  return { seconds, processorSeconds: decided + recorded };
}

async function untilNone(query: string): Promise<void> {
  while ((await client.query(query)).rowCount !== 0) await sleep(POLL_MS);
}

/** Of subscription and fee. */
type Started = { readonly pids: readonly number[]; readonly client: pg.Client };

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
  const started: number[] = [];
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
    started.push(stack.use(startService(name, env, join(folder, `${name}.log`), process.execArgv)).pid);
  }
  const db = new pg.Client({ connectionString: databases.url, application_name: "bench" });
  await db.connect();
  stack.defer(() => db.end());
  await untilReady(db);
  return { pids: started, client: db };
}

async function untilReady(db: pg.Client): Promise<void> {
  for (const byMs = performance.now() + START_MS; ; await sleep(100)) {
    try {
      await db.query("select from subscription.open_week, fee.fee_run");
      return;
    } catch (error) {
      if (performance.now() > byMs) throw error;
    }
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
