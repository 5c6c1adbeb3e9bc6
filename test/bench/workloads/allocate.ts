import type pg from "pg";
import { Violated, type Workload } from "../bench.ts";
import { requireNoBreaks } from "../checks/breaks.ts";
import { requirePoolsAtRest } from "../checks/pools.ts";
import { loginOf } from "../large/sizes.ts";
import { costsOf, limitOf, medianCosts, type Usage } from "../limit-of.ts";
import { allocateAlone, createAllocationTable } from "../limit/allocate.ts";
import { number, spread } from "../report/format.ts";
import { type Comparison, figure, ratio, type Section } from "../section.ts";
import { median, ratiosOf, spreadOf } from "../statistics.ts";
import { openDatabase } from "../system/database.ts";
import type { System } from "../system/start-system.ts";
import { startStopwatch } from "../system/stopwatch.ts";
import { until } from "../until.ts";

/** Dollars; the sum of the parts of every deal has to be exactly this. */
const RESULT = "1234.57";
const RESULT_MINOR = 123_457n;
const WITHIN_MS = 900_000;
/** Of the books after the last posting. */
const RESTS_WITHIN_MS = 60_000;

/** Deals that are booked at once: the wait for the next read of the platform is shared by all of them. */
type Plan = { readonly size: "medium" | "large"; readonly deals: number; readonly maxRounds: number };
/** After each round every Investor has its posting, so a round of the large pool takes minutes. */
const PLANS: readonly Plan[] = [
  { size: "medium", deals: 20, maxRounds: 3 },
  { size: "large", deals: 8, maxRounds: 1 },
];

export const allocate: Workload = {
  name: "allocate",
  title: "Allocation of results",
  about: `Deals of one Master, several booked at once, are allocated to all of its Investors and posted to their accounts. An allocation is compared to its
arithmetic and one insert of its rows alone (\`test/bench/limit/allocate.ts\`); its time includes the read of the deals from the platform.`,
  isLarge: true,

  async run(bench) {
    const large = await bench.large();
    await large.load();
    await using database = await openDatabase(large.system);
    await using alone = await openDatabase(large.system);
    await createAllocationTable(alone.client);
    const measured: Measured[] = [];
    for (const { size, deals, maxRounds } of PLANS) {
      const [pool] = large.pools(size);
      if (pool === undefined) throw new Error(`there is no ${size} pool`);
      const investors = pool.last - pool.first + 1;
      const units = Array.from({ length: investors }, (_, index) => BigInt(100_000 + index));
      const master = { login: loginOf("master", pool.master), investors, deals };
      const first = await lastAllocation(database.client, master.login);
      const found: Found[] = [];
      for (let round = 0; round < Math.min(maxRounds, bench.options.rounds); round += 1) {
        const stopwatch = startStopwatch(large.system);
        const times = await allocateDeals(large.system, database.client, master);
        const usage = stopwatch.read();
        const limits: number[] = [];
        for (let deal = 0; deal < deals; deal += 1) limits.push(await allocateAlone(alone.client, units));
        found.push({ ...times, limitMs: median(limits), usage });
        bench.print(
          `${investors}: ${number(times.allocationMs)} ms per deal, alone ${number(median(limits))} ms, ${number(times.postingsPerSecond)} postings/s`,
        );
      }
      await requireExact(large.system, database.client, { ...master, first, count: found.length * deals });
      measured.push({ investors, found });
    }
    await requireNoBreaks(database.client);
    return sectionOf(measured);
  },
};

type Times = {
  /** Of one deal. */
  readonly allocationMs: number;
  readonly postingsPerSecond: number;
};
type Found = Times & { readonly limitMs: number; readonly usage: Usage };
type Measured = { readonly investors: number; readonly found: readonly Found[] };
type Master = { readonly login: string; readonly investors: number; readonly deals: number };

async function allocateDeals(system: System, client: pg.Client, { login, investors, deals }: Master): Promise<Times> {
  const goal = (await lastAllocation(client, login)) + deals;
  for (let deal = 0; deal < deals; deal += 1) {
    await system.client.control("POST", "results", { login, profit: RESULT });
  }
  const bookedMs = performance.now();
  await until(
    async () => (await lastAllocation(client, login)) >= goal,
    WITHIN_MS,
    "results are not allocated in time",
  );
  const allocatedMs = performance.now();
  await until(async () => (await countUnposted(client)) === 0, WITHIN_MS, "results are not posted in time");
  const postedMs = performance.now();
  return {
    allocationMs: (allocatedMs - bookedMs) / deals,
    // Results that wait for the same account are posted together, so each account has one at least.
    postingsPerSecond: (investors * 1_000) / (postedMs - bookedMs),
  };
}

/** A result, its rows and the number of the last allocation are in one commit. */
async function lastAllocation(client: pg.Client, login: string): Promise<number> {
  const { rows } = await client.query<{ last: string }>({
    name: "last-allocation",
    text: "select last_allocation as last from subscription.master_pool where login = $1",
    values: [login],
  });
  return Number(rows[0]?.last);
}

async function countUnposted(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ unposted: string }>({
    name: "unposted",
    text: "select count(*) as unposted from subscription.investor_account where unposted_minor <> 0",
  });
  return Number(rows[0]?.unposted);
}

type Allocated = Pick<Master, "login"> & {
  /** Number of the last allocation before the measured ones. */
  readonly first: number;
  readonly count: number;
};

/** The parts of each deal add up to its result, and the accounts have what they were allocated. */
async function requireExact(system: System, client: pg.Client, { login, first, count }: Allocated): Promise<void> {
  const { rows } = await client.query<{ number: string; parts: string; result: string }>(
    `select number, result_minor::text as result, (own_minor + sum(amount_minor))::text as parts
     from subscription.allocation_entry
     join subscription.allocation_row using (master_login, number)
     where master_login = $1 and kind = 'RESULT' and number > $2
     group by master_login, number, result_minor, own_minor`,
    [login, first],
  );
  const wrong = rows.filter(({ parts, result }) => parts !== result || BigInt(result) !== RESULT_MINOR);
  if (wrong.length > 0) throw new Violated(wrong.map((each) => `allocation ${JSON.stringify(each)}`));
  if (rows.length !== count) throw new Violated([`${rows.length} deals were allocated, not ${count}`]);
  await requirePoolsAtRest(system, client, [login], RESTS_WITHIN_MS);
}

function sectionOf(measured: readonly Measured[]): Section {
  const comparisons = measured.flatMap(({ investors, found }): Comparison[] => {
    const who = `${investors.toLocaleString("en-US")} Investors`;
    const limit = limitOf(found.map(({ usage }) => usage));
    const times = found.map(({ allocationMs }) => allocationMs);
    const rates = found.map(({ postingsPerSecond }) => postingsPerSecond);
    return [
      ratio(
        `time to allocate a deal to ${who}`,
        "arithmetic and insert alone",
        ratiosOf(
          times,
          found.map(({ limitMs }) => limitMs),
        ),
        { target: { atMost: 2 }, limit },
      ),
      {
        ...figure(`accounts posted, ${who}`, "per second", rates, { atLeast: 2_000 }),
        limit,
      },
    ];
  });
  const rows = measured.map(({ investors, found }) => [
    investors.toLocaleString("en-US"),
    spread(spreadOf(found.map(({ allocationMs }) => allocationMs))),
    spread(spreadOf(found.map(({ limitMs }) => limitMs))),
    spread(spreadOf(found.map(({ postingsPerSecond }) => postingsPerSecond))),
  ]);
  const columns = [
    "Investors",
    "allocation of a deal, ms (min - max)",
    "arithmetic and insert alone, ms",
    "postings/s",
  ];
  const postings = measured.flatMap(({ investors, found }) => found.map(({ usage }) => costsOf(usage, investors)));
  return {
    comparisons,
    tables: [{ title: "", columns, rows }],
    operationCosts: { posting: medianCosts(postings) },
  };
}
