import type { Measurement, Workload } from "../bench.ts";
import type { Contestant } from "../contest/contestant.ts";
import { depositsTo, serviceContestant } from "../contest/service.ts";
import { limitOf, totalOf, usageOf } from "../limit-of.ts";
import { number, spread } from "../report/format.ts";
import { cellsOf } from "../report/measured.ts";
import { ratio, type Comparison, type Section } from "../section.ts";
import { spreadOf } from "../statistics.ts";
import { createPools, expectMirrored } from "../system/accounts.ts";
import { type Replica, startReplica } from "../system/replicas.ts";
import { startSystem, type System } from "../system/start-system.ts";

/** Downwards: the processes of the first count are warm, and those that remain stay so. */
const COUNTS = [4, 2, 1];
const QUICK_COUNTS = [2, 1];
const MAX_ROUNDS = 2;
/** A new process compiles its code, and each of its connections plans its statements, with the first thousands of deposits. */
const WARM_UP_MS = 120_000;
/** Of one process: four of them have the sixteen that a manager may open. */
const SESSIONS = "4";
const FLAT = 1.2;

export const replicas: Workload = {
  name: "replicas",
  title: "Replicas",
  about: `Deposits with mirror to one, two and four replicas of each service on the same machine, Postgres, broker and trading platform, each platform
process with ${SESSIONS} sessions, after a minute or two of deposits that compile the code of each process. More processes on the same processors cannot be faster: what counts are the processor time of a deposit,
and that the books agree.`,

  async run(bench) {
    const system = bench.use(await startSystem({ MT5_SESSIONS: SESSIONS }));
    const { investors, masters, rounds, isQuick } = bench.options;
    const callers = bench.options.callers.at(-1) ?? 1;
    const pools = await createPools(system.client, masters, investors);
    const requests = depositsTo(pools.flatMap((pool) => pool.investors));
    const found: Found[] = [];
    const counts = isQuick ? QUICK_COUNTS : COUNTS;
    let others: readonly Replica[] = [];
    // One contestant for all counts: their deposits go to the same accounts.
    const service = contestantOf(system, () => others);
    for (let round = 0; round < Math.min(MAX_ROUNDS, rounds); round += 1) {
      await using started = new AsyncDisposableStack();
      others = [];
      for (const number of replicaNumbers(counts)) {
        others = [...others, started.use(await startReplica(system, number))];
      }
      if (!isQuick) await bench.send(service, requests, { kind: "closed", callers }, { measureMs: WARM_UP_MS });
      for (const count of counts) {
        for (const replica of others.slice(count - 1)) await replica[Symbol.asyncDispose]();
        others = others.slice(0, count - 1);
        for (const load of LOADS) {
          const shape = { kind: "closed", callers: load.isOfEach ? callers * count : callers } as const;
          const of = await bench.measure(service, requests, shape);
          bench.print(`${count} replicas, ${load.title}: ${number(of.rate)}/s, ${number(costOf(of))} ms each`);
          found.push({ count, load, of });
        }
        await Promise.all(pools.map((pool) => expectMirrored(system.client, pool)));
      }
    }
    return sectionOf(found, callers);
  },
};

type Load = { readonly title: string; readonly isOfEach: boolean };

function replicaNumbers([most = 1]: readonly number[]): number[] {
  return Array.from({ length: most - 1 }, (_, index) => index + 2);
}

/** What the replicas share, and what each of them gets when replicas are added because the load has grown. */
const LOADS: readonly Load[] = [
  { title: "as many callers for all together", isOfEach: false },
  { title: "as many callers for each replica", isOfEach: true },
];

type Found = { readonly count: number; readonly load: Load; readonly of: Measurement };

/** The system with the replicas that run at a time. Its books are read through the first edge. */
function contestantOf(system: System, others: () => readonly Replica[]): Contestant {
  const service = serviceContestant(system, []);
  return {
    ...service,
    get endpoint() {
      const ports = others().map(({ httpPort }) => httpPort);
      return { ...service.endpoint, ports: [...service.endpoint.ports, ...ports] };
    },
    processes: () => new Map([...service.processes(), ...others().flatMap(({ processes }) => [...processes])]),
  };
}

function costOf({ costs }: Measurement): number {
  return totalOf(costs);
}

function sectionOf(found: readonly Found[], callers: number): Section {
  const counts = [...new Set(found.map(({ count }) => count))].toReversed();
  const of = (load: Load, count: number): Measurement[] =>
    found.filter((each) => each.load === load && each.count === count).map((each) => each.of);
  const comparisons = LOADS.flatMap((load) => {
    const single = of(load, counts[0] ?? 1).map(costOf);
    return counts.slice(1).map((count): Comparison =>
      ratio(
        `processor time of a deposit, ${count} replicas of each service, ${load.title}`,
        "one",
        of(load, count).map((each, round) => costOf(each) / (single[round] ?? Number.NaN)),
        { target: { atMost: FLAT }, limit: limitOf(of(load, count).map(usageOf)) },
      ),
    );
  });
  const columns = [
    "replicas",
    "processor ms each (min - max)",
    "per second (min - max)",
    "p50 ms",
    "p99 ms",
    "failures",
  ];
  const tables = LOADS.map((load) => ({
    title: `${callers} callers, ${load.title}`,
    columns,
    rows: counts.map((count) => rowOf(count, of(load, count))),
  }));
  return { comparisons, tables };
}

function rowOf(count: number, measured: readonly Measurement[]): string[] {
  const { rate, p50, p99, failures } = cellsOf(measured);
  return [String(count), spread(spreadOf(measured.map(costOf))), rate, p50, p99, failures];
}
