import { Worker } from "node:worker_threads";
import { addHits, type Hits } from "./report/coverage.ts";
import type { Tally } from "./run-seeds.ts";
import type { Keeping, Telling, Work } from "./work.ts";

const WORKER = new URL("./seeds-worker.ts", import.meta.url);

/** Many seeds in one thread: its clocks are virtual, and sources that were changed stay in it. */
export function runWorker(work: Work): Promise<Tally> {
  return inThread(work);
}

/** A history in words; a failing one as small as it gets. */
export function tellInThread(telling: Telling): Promise<string> {
  return inThread(telling);
}

/** What is wrong in a kept history, for each of its seeds in which anything is. */
export function liveKeptInThread(keeping: Keeping): Promise<readonly string[]> {
  return inThread(keeping);
}

function inThread<T>(work: Work | Telling | Keeping): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const worker = new Worker(WORKER, { workerData: work, execArgv: [] });
  worker.once("message", resolve);
  worker.once("error", reject);
  worker.once("exit", (code) => reject(new Error(`the thread ended with ${code}`)));
  return promise.finally(() => void worker.terminate());
}

/** The same seeds in several threads, each taking every so many-th. */
export async function runWorkers(work: Omit<Work, "step">, threads: number): Promise<Tally> {
  const shares = Array.from({ length: threads }, (_, place) => ({
    ...work,
    first: work.first + place,
    step: threads,
    count: Math.floor(work.count / threads) + (place < work.count % threads ? 1 : 0),
  }));
  const tallies = await Promise.all(shares.filter(({ count }) => count > 0).map(runWorker));
  const hits: Hits = {};
  for (const tally of tallies) addHits(hits, tally.hits);
  return {
    seeds: sum(tallies.map(({ seeds }) => seeds)),
    steps: sum(tallies.map(({ steps }) => steps)),
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
