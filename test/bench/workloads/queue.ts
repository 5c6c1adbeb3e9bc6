import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { dealsOf, untilKnown } from "../../journey/support/client.ts";
import { closePosition, openPosition, setPrice } from "../../journey/support/trading.ts";
import { Violated, type Workload } from "../bench.ts";
import { endpointOf } from "../contest/service.ts";
import { costsOf, limitOf, type Usage } from "../limit-of.ts";
import { generate } from "../load/generate.ts";
import type { RequestTemplate } from "../load/job.ts";
import { residentBytes } from "../processor-time.ts";
import { number } from "../report/format.ts";
import type { Section } from "../section.ts";
import { spreadOf } from "../statistics.ts";
import { createPools, expectMirrored, inParallel, type Pool } from "../system/accounts.ts";
import { openDatabase } from "../system/database.ts";
import type { System } from "../system/start-system.ts";
import { countStatements } from "../system/statements.ts";
import { startStopwatch } from "../system/stopwatch.ts";

const WITHDRAWALS = 1_000;
const QUICK_WITHDRAWALS = 40;
/** As many as the service tries at the same time. */
const CALLERS = 16;
const PROFIT = "10000.00";
const SETTLED_WITHIN_MS = 600_000;
const POLL_MS = 50;
const IDLE_MS = 20_000;
/** Until the work that follows the direct withdrawals and the results has ended. */
const SETTLE_MS = 75_000;
const MINOR = -1_00n;
const MEBIBYTE = 1_048_576;
const NOT_SERVICES = new Set(["postgres", "nats", "simulator"]);

export const queue: Workload = {
  name: "queue",
  title: "Queue of a Master",
  about: `Each Investor of one Master has a withdrawal with \`on_blocked=queue\`, and the Master closes its last position: until all are paid out, with their
fees. Compared to as many withdrawals that ${CALLERS} callers send to the same Master while it is flat, with fees too. The statements are those that the
services send in a second in which the queue waits and nothing else happens, counted when the work of the direct ones has ended.`,

  async run(bench) {
    const system = await bench.system();
    const { client } = system;
    await using database = await openDatabase(system);
    const count = bench.options.isQuick ? QUICK_WITHDRAWALS : WITHDRAWALS;
    const [pool] = await createPools(untilKnown(client), 1, count);
    if (pool === undefined) throw new Error("there is no pool");
    await earn(system, pool);
    const direct = startStopwatch(system);
    await send(system, pool, "direct", 200);
    const directly = direct.read();
    await requirePaid(system, pool, "direct");
    bench.print(`${count} direct withdrawals in ${number(directly.seconds)} s`);

    await earn(system, pool);
    await setPrice(client, "1.10000");
    const position = await openPosition(client, pool.login);
    await send(system, pool, "queued", 202);
    await sleep(bench.options.isQuick ? POLL_MS : SETTLE_MS);
    const statements = await countStatements(system, bench.options.isQuick ? POLL_MS : IDLE_MS);
    const stopwatch = startStopwatch(system);
    await closePosition(client, position);
    const largestBytes = await untilSettled(database.client, system);
    const queued = stopwatch.read();
    await requirePaid(system, pool, "queued");
    bench.print(`${count} queued withdrawals in ${number(queued.seconds)} s`);
    return sectionOf({ count, directly, queued, largestBytes, statements });
  },
};

/** Every Investor owes a fee. */
async function earn({ client }: System, pool: Pool): Promise<void> {
  await client.control("POST", "results", { login: pool.login, profit: PROFIT });
  await expectMirrored(client, pool);
}

async function send(system: System, { investors }: Pool, comment: string, status: number): Promise<void> {
  const queued = status === 202 ? "&on_blocked=queue" : "";
  const requests = investors.map((login): RequestTemplate => ({
    method: "POST",
    path: `/api/v1/investor/withdraw?login=${login}&amount=1.00&comment=${comment}${queued}`,
    login: "",
    minor: 0,
  }));
  const shape = { kind: "once", callers: CALLERS } as const;
  const job = { endpoint: endpointOf(system), requests, shape, warmUpMs: 0, measureMs: 1, comment, repeats: true };
  const { outcomes } = await generate(job, () => new Map());
  const others = outcomes.filter((outcome) => outcome.status !== status);
  if (others.length > 0) throw new Violated([`${others.length} withdrawals were answered ${others[0]?.status}`]);
}

/** Returns the largest memory of a service meanwhile. */
async function untilSettled(database: pg.Client, { processes }: System): Promise<number> {
  const pids = [...processes()].filter(([name]) => !NOT_SERVICES.has(name)).map(([, pid]) => pid);
  let largestBytes = 0;
  for (const byMs = performance.now() + SETTLED_WITHIN_MS; ; await sleep(POLL_MS)) {
    largestBytes = Math.max(largestBytes, ...pids.map(residentBytes));
    const { rows } = await database.query<{ count: string }>(
      `select count(*) from funding.cashflow where queue_state in ('WAITING', 'RUNNING') and finished_at is null`,
    );
    if (rows[0]?.count === "0") return largestBytes;
    if (performance.now() > byMs) throw new Violated([`${rows[0]?.count} withdrawals are still queued`]);
  }
}

/** Each Investor has one deal of it, and the Master what is left. */
async function requirePaid({ client }: System, pool: Pool, comment: string): Promise<void> {
  await expectMirrored(client, pool);
  const paid = await inParallel(pool.investors.length, async (index) => {
    const deals = await dealsOf(client, pool.investors[index] ?? "");
    return deals.filter((deal) => deal.comment.endsWith(comment)).map(({ minor }) => minor);
  });
  const wrong = paid.filter((deals) => deals.length !== 1 || deals[0] !== MINOR);
  if (wrong.length > 0) throw new Violated([`${wrong.length} Investors do not have one ${comment} payout of 1.00`]);
}

type Found = {
  readonly count: number;
  readonly directly: Usage;
  readonly queued: Usage;
  readonly largestBytes: number;
  readonly statements: Awaited<ReturnType<typeof countStatements>>;
};

function sectionOf({ count, directly, queued, largestBytes, statements }: Found): Section {
  const total = (usage: Usage): number => Object.values(costsOf(usage, count)).reduce((sum, cost) => sum + cost, 0);
  const rowOf = (what: string, usage: Usage): string[] => [
    what,
    `${number(usage.seconds)} s`,
    number(count / usage.seconds),
    number(total(usage)),
    limitOf([usage]),
  ];
  const rates = Object.entries(statements).toSorted(([one], [other]) => one.localeCompare(other));
  return {
    comparisons: [
      {
        what: `time of ${count.toLocaleString("en-US")} queued withdrawals of one Master`,
        comparedTo: "as many direct ones",
        value: spreadOf([queued.seconds / directly.seconds]),
        unit: "times",
        pairs: 1,
        target: { atMost: 2 },
        limit: limitOf([queued]),
      },
      {
        what: `largest memory of a service while ${count.toLocaleString("en-US")} are paid out`,
        comparedTo: "",
        value: spreadOf([largestBytes / MEBIBYTE]),
        unit: "MiB",
        pairs: 1,
        target: { atMost: 200 },
      },
    ],
    tables: [
      {
        title: `${count.toLocaleString("en-US")} withdrawals of one Master, each with a fee`,
        columns: ["kind", "all paid out after", "per second", "processor ms each", "limit"],
        rows: [rowOf("direct", directly), rowOf("queued, from the last position on", queued)],
      },
      {
        title: `Statements per second while ${count.toLocaleString("en-US")} wait`,
        columns: ["service", "statements"],
        rows: rates.map(([name, rate]) => [name, number(rate)]),
      },
    ],
    charts: [],
  };
}
