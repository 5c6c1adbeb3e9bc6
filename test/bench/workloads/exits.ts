import type pg from "pg";
import type { Bench, Measurement, Workload } from "../bench.ts";
import { requirePoolsAtRest } from "../checks/pools.ts";
import { endpointOf, serviceContestant } from "../contest/service.ts";
import type { Contestant } from "../contest/contestant.ts";
import { type LargePool, loginOf, reservedOf, type Step } from "../large/sizes.ts";
import { costsOf, limitOf, type Usage } from "../limit-of.ts";
import { generate } from "../load/generate.ts";
import type { Outcome, RequestTemplate } from "../load/job.ts";
import { number } from "../report/format.ts";
import { ratio, type Section } from "../section.ts";
import { percentile } from "../statistics.ts";
import { openDatabase } from "../system/database.ts";
import type { System } from "../system/start-system.ts";
import { startStopwatch } from "../system/stopwatch.ts";
import { untilDone } from "../until.ts";

/** Callers of the storm. */
const CALLERS = 64;
/** Deposits per second to Investors without a Master, before the storm and while it lasts. */
const DEPOSITS_PER_SECOND = 20;
const IDLE_MS = 20_000;
const QUICK_IDLE_MS = 3_000;
/** The deposits of the storm are sent in turns of this length, until it is over. */
const TURN_MS = 10_000;
const QUICK_TURN_MS = 2_000;
const CANCELLED_WITHIN_MS = 300_000;

export const exits: Workload = {
  name: "exits",
  title: "Exit storm",
  about: `Investors of 100 Masters are unassigned by ${CALLERS} callers, until every subscription is CANCELLED: fees are settled and capital leaves the
Masters. Meanwhile an open loop of ${DEPOSITS_PER_SECOND} deposits per second goes to Investors without a Master, as before the storm. A
refused unassign is repeated once with its key.`,
  isLarge: true,

  async run(bench) {
    const large = await bench.large();
    const { system } = large;
    await large.load();
    await using database = await openDatabase(system);
    const storm = stormOf(large.pools("small"), bench.options.exits);
    const service = bench.use(serviceContestant(system, depositors(large.steps)));
    const { isQuick } = bench.options;
    const open = { kind: "open", perSecond: DEPOSITS_PER_SECOND } as const;
    // The first deposit of an Investor asks more.
    await bench.send(service, service.deposits, { kind: "once", callers: CALLERS }, { warmUpMs: 0, measureMs: 1 });
    const idle = await bench.measure(service, service.deposits, open, { measureMs: isQuick ? QUICK_IDLE_MS : IDLE_MS });
    const stopwatch = startStopwatch(system);
    const over = new AbortController();
    const [unassigned, latencies] = await Promise.all([
      unassign(system, storm).finally(() => over.abort()),
      depositUntil(bench, service, over.signal),
    ]);
    const sentSeconds = stopwatch.read().seconds;
    await untilCancelled(database.client, storm);
    const usage = stopwatch.read();
    const masters = [...new Set(storm.map(({ master }) => master))];
    await requirePoolsAtRest(system, database.client, masters, CANCELLED_WITHIN_MS);
    bench.print(`${storm.length} exits in ${number(usage.seconds)} s`);
    return sectionOf({ storm: storm.length, masters: masters.length, unassigned, idle, latencies, sentSeconds, usage });
  },
};

type Leaver = { readonly master: string; readonly investor: string };

/** The Investors of whole pools, one of each Master in turn. */
function stormOf(pools: readonly LargePool[], exitCount: number): Leaver[] {
  const perPool = (pools[0]?.last ?? 0) - (pools[0]?.first ?? 0) + 1;
  const chosen = pools.slice(0, Math.ceil(exitCount / perPool));
  return Array.from({ length: perPool }, (_, index) =>
    chosen.map(({ master, first }) => ({
      master: loginOf("master", master),
      investor: loginOf("investor", first + index),
    })),
  ).flat();
}

function depositors(steps: readonly Step[]): string[] {
  const { first, last } = reservedOf(steps);
  return Array.from({ length: last - first + 1 }, (_, index) => loginOf("investor", first + index));
}

async function unassign(system: System, storm: readonly Leaver[]): Promise<readonly Outcome[]> {
  const requests = storm.map(({ master, investor }): RequestTemplate => ({
    method: "POST",
    path: `/api/v1/subscriptions/unassign?master_login=${master}&investor_login=${investor}`,
    login: "",
    minor: 0,
  }));
  const shape = { kind: "once", callers: CALLERS } as const;
  const { outcomes } = await generate(
    { endpoint: endpointOf(system), requests, shape, warmUpMs: 0, measureMs: 1, comment: "exit", repeats: true },
    () => new Map(),
  );
  return outcomes;
}

/** Latencies of the deposits of all turns. */
async function depositUntil(bench: Bench, service: Contestant, signal: AbortSignal): Promise<number[]> {
  const open = { kind: "open", perSecond: DEPOSITS_PER_SECOND } as const;
  const latencies: number[] = [];
  const measureMs = bench.options.isQuick ? QUICK_TURN_MS : TURN_MS;
  do {
    const turn = await bench.send(service, service.deposits, open, { warmUpMs: 0, measureMs });
    latencies.push(...turn.latencies);
  } while (!signal.aborted);
  return latencies;
}

async function untilCancelled(database: pg.Client, storm: readonly Leaver[]): Promise<void> {
  const logins = storm.map(({ investor }) => investor);
  const text = `select not exists (select from subscription.subscription
                                   where investor_login = any ($1) and status <> 'CANCELLED') as is_done`;
  await untilDone(database, { text, values: [logins] }, CANCELLED_WITHIN_MS, "subscriptions are not CANCELLED in time");
}

type Found = {
  readonly storm: number;
  readonly masters: number;
  readonly unassigned: readonly Outcome[];
  readonly idle: Measurement;
  readonly latencies: readonly number[];
  readonly sentSeconds: number;
  readonly usage: Usage;
};

function sectionOf({ storm, masters, unassigned, idle, latencies, sentSeconds, usage }: Found): Section {
  const p99 = percentile(latencies, 99);
  const accepted = unassigned.filter(({ status }) => status === 200);
  const others = Object.entries(
    Object.groupBy(
      unassigned.filter(({ status }) => status !== 200),
      ({ status }) => String(status),
    ),
  ).map(([status, of]) => `${of?.length} x ${status}`);
  return {
    comparisons: [
      ratio(`p99 of unrelated deposits during ${storm.toLocaleString("en-US")} exits`, "before", [p99 / idle.p99], {
        target: { atMost: 2 },
        limit: limitOf([usage]),
      }),
    ],
    tables: [
      {
        title: `${storm.toLocaleString("en-US")} Investors leave ${masters} Masters`,
        columns: ["what", "figure"],
        rows: [
          ["answered 200", `${accepted.length}${others.length === 0 ? "" : `; ${others.join(", ")}`}`],
          ["of them at the first try", String(accepted.filter(({ firstStatus }) => firstStatus === undefined).length)],
          ["unassigns per second", number(accepted.length / sentSeconds)],
          ["p50 and p99 of an unassign", latencyText(accepted.map(({ latencyMs }) => latencyMs))],
          ["all CANCELLED after", `${number(usage.seconds)} s`],
          ["p50 and p99 of a deposit before", `${number(idle.p50)} and ${number(idle.p99)} ms`],
          ["p50 and p99 of a deposit meanwhile", latencyText(latencies)],
        ],
      },
    ],
    operationCosts: { exit: costsOf(usage, storm) },
  };
}

function latencyText(latencies: readonly number[]): string {
  if (latencies.length === 0) return "";
  return `${number(percentile(latencies, 50))} and ${number(percentile(latencies, 99))} ms`;
}
