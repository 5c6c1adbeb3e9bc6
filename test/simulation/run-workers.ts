import { Worker } from "node:worker_threads";
import { addHits, type Hits } from "./report/coverage.ts";
import type { Growth } from "./growth/grow.ts";
import type { Tally } from "./run-seeds.ts";
import type { DescribeWork, GrowthWork, ReplayWork, Work } from "./work.ts";

const WORKER = new URL("./seeds-worker.ts", import.meta.url);

/** Works in a separate thread, because its clocks are virtual and its sources may have a mutant. */
export function inThread(work: Work): Promise<Tally>;
/** The events of a history as text; a failing history is reduced first. */
export function inThread(work: DescribeWork): Promise<string>;
/** The first violation of each regression that has one. */
export function inThread(work: ReplayWork): Promise<readonly string[]>;
export function inThread(work: GrowthWork): Promise<Growth>;
export function inThread(work: Work | DescribeWork | ReplayWork | GrowthWork): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const worker = new Worker(WORKER, { workerData: work, execArgv: [] });
  worker.once("message", resolve);
  worker.once("error", reject);
  worker.once("exit", (code) => reject(new Error(`the simulation thread exited with code ${code}`)));
  return promise.finally(() => void worker.terminate());
}

/** Distributes the seeds over several threads. */
export async function runWorkers(work: Omit<Work, "stride">, threads: number): Promise<Tally> {
  const shares = Array.from({ length: threads }, (_, index) => ({
    ...work,
    first: work.first + index,
    stride: threads,
    count: Math.floor(work.count / threads) + (index < work.count % threads ? 1 : 0),
  }));
  const tallies = await Promise.all(shares.filter(({ count }) => count > 0).map((share) => inThread(share)));
  const hits: Hits = {};
  for (const tally of tallies) addHits(hits, tally.hits);
  return {
    seeds: sum(tallies.map(({ seeds }) => seeds)),
    events: sum(tallies.map(({ events }) => events)),
    simulatedMs: sum(tallies.map(({ simulatedMs }) => simulatedMs)),
    failures: tallies.flatMap(({ failures }) => failures).toSorted((left, right) => left.seed - right.seed),
    hits,
    crashes: sum(tallies.map(({ crashes }) => crashes)),
    faults: sum(tallies.map(({ faults }) => faults)),
    trace: sum(tallies.map(({ trace }) => trace)) % 2 ** 32,
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
