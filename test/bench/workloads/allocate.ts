import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { type Bench, Violated, type Workload } from "../bench.ts";
import { openBreaks } from "../contest/service.ts";
import { allocateAlone, createAllocationTable } from "../limit/allocate.ts";
import { number, spread } from "../report/format.ts";
import type { Section } from "../section.ts";
import { median, ratioOfPairs, spreadOf } from "../statistics.ts";
import { createPools, expectMirrored, type Pool } from "../system/accounts.ts";
import type { System } from "../system/start-system.ts";

/** Deals of a Master that are booked at once: the wait for the next read of the platform is shared by all of them. */
const DEALS = 20;
/** Dollars; the sum of the parts of every deal has to be exactly this. */
const RESULT = "1234.57";
const RESULT_MINOR = 123_457n;
const WITHIN_MS = 600_000;
const POLL_MS = 20;

export const allocate: Workload = {
  name: "allocate",
  title: "Allocation of results",
  about: `Deals of one Master, booked ${DEALS} at a time, are allocated to all of its Investors and posted to their accounts. An allocation is compared to its
arithmetic and one insert of its rows alone (\`test/bench/limit/allocate.ts\`); its time includes the read of the deal from the platform.`,

  async run(bench) {
    const system = await bench.system();
    const { pool: investors, rounds } = bench.options;
    const [pool] = await createPools(system.client, 1, investors);
    if (pool === undefined) throw new Error("there is no pool");
    await using client = await connect(system);
    await using alone = await connect(system);
    await createAllocationTable(alone.client);
    const units = Array.from({ length: investors }, (_, index) => BigInt(100_000 + index));
    const found: Found[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const times = await allocateDeals(system, client.client, pool);
      const limits: number[] = [];
      for (let deal = 0; deal < DEALS; deal += 1) limits.push(await allocateAlone(alone.client, units));
      found.push({ ...times, limitMs: median(limits) });
      bench.print(`${number(times.allocationMs)} ms per deal, alone ${number(median(limits))} ms`);
    }
    await requireExact(bench, { system, client: client.client, pool });
    return sectionOf(found, investors);
  },
};

type Times = {
  /** Of one deal. */
  readonly allocationMs: number;
  readonly postingsPerSecond: number;
};
type Found = Times & { readonly limitMs: number };

async function allocateDeals(system: System, client: pg.Client, { login, investors }: Pool): Promise<Times> {
  const goal = (await count(client, login)).rows + DEALS * investors.length;
  for (let deal = 0; deal < DEALS; deal += 1) {
    await system.client.control("POST", "results", { login, profit: RESULT });
  }
  const bookedMs = performance.now();
  await until(async () => (await count(client, login)).rows >= goal);
  const allocatedMs = performance.now();
  await until(async () => (await count(client, login)).unposted === 0);
  const postedMs = performance.now();
  return {
    allocationMs: (allocatedMs - bookedMs) / DEALS,
    // Results that wait for the same account are posted together, so each account has one at least.
    postingsPerSecond: (investors.length * 1_000) / (postedMs - bookedMs),
  };
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  for (const byMs = performance.now() + WITHIN_MS; !(await isDone()); await sleep(POLL_MS)) {
    if (performance.now() > byMs) throw new Violated(["results are not allocated and posted in time"]);
  }
}

async function count(client: pg.Client, login: string): Promise<{ readonly rows: number; readonly unposted: number }> {
  const { rows } = await client.query<{ rows: string; unposted: string }>({
    name: "count",
    text: `select (select count(*) from subscription.allocation_row where master_login = $1) as rows,
                  (select count(*) from subscription.investor_account where unposted_minor <> 0) as unposted`,
    values: [login],
  });
  return { rows: Number(rows[0]?.rows), unposted: Number(rows[0]?.unposted) };
}

/** The parts of each deal add up to its result, the accounts have what they were allocated, and no check reports a break. */
async function requireExact(
  bench: Bench,
  { system, client, pool }: { readonly system: System; readonly client: pg.Client; readonly pool: Pool },
): Promise<void> {
  const { rows } = await client.query<{ number: string; parts: string; result: string }>(
    `select number, result_minor::text as result, (suspense_minor + sum(amount_minor))::text as parts
     from subscription.allocation_entry
     join subscription.allocation_row using (master_login, number)
     where master_login = $1 and kind = 'RESULT'
     group by master_login, number, result_minor, suspense_minor`,
    [pool.login],
  );
  const wrong = rows.filter(({ parts, result }) => parts !== result || BigInt(result) !== RESULT_MINOR);
  if (wrong.length > 0) throw new Violated(wrong.map((each) => `allocation ${JSON.stringify(each)}`));
  if (rows.length !== bench.options.rounds * DEALS) throw new Violated([`${rows.length} deals were allocated`]);
  await expectMirrored(system.client, pool);
  const breaks = await openBreaks(system);
  if (breaks.length > 0) throw new Violated(breaks);
}

type Connected = AsyncDisposable & { readonly client: pg.Client };

async function connect({ postgresUrl }: System): Promise<Connected> {
  const url = new URL(postgresUrl);
  url.pathname = "/pamm";
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  return { client, [Symbol.asyncDispose]: () => client.end() };
}

function sectionOf(found: readonly Found[], investors: number): Section {
  const times = found.map(({ allocationMs }) => allocationMs);
  const limits = found.map(({ limitMs }) => limitMs);
  const postings = found.map(({ postingsPerSecond }) => postingsPerSecond);
  const who = `${investors.toLocaleString("en-US")} Investors`;
  return {
    comparisons: [
      {
        what: `time to allocate a deal to ${who}`,
        comparedTo: "arithmetic and insert alone",
        value: ratioOfPairs(times, limits),
        unit: "times",
        pairs: found.length,
        target: { atMost: 2 },
      },
      {
        what: `accounts posted, ${who}`,
        comparedTo: "",
        value: spreadOf(postings),
        unit: "per second",
        pairs: found.length,
        target: { atLeast: 2_000 },
      },
    ],
    tables: [
      {
        title: who,
        columns: ["what", "median (min - max)"],
        rows: [
          ["allocation of a deal", `${spread(spreadOf(times))} ms`],
          ["arithmetic and insert alone", `${spread(spreadOf(limits))} ms`],
          ["accounts posted", `${spread(spreadOf(postings))} per second`],
        ],
      },
    ],
    charts: [],
  };
}
