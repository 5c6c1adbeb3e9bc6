import { setTimeout as sleep } from "node:timers/promises";
import type { Contestant } from "./contest/contestant.ts";
import { violationsOf } from "./checks/violations.ts";
import { generate, type Generated } from "./load/generate.ts";
import type { LargeSystem } from "./large/large-system.ts";
import type { Job, Outcome, RequestTemplate, Shape } from "./load/job.ts";
import { untilUndisturbed } from "./machine.ts";
import type { Options } from "./options.ts";
import { processorSeconds } from "./processor-time.ts";
import type { Section } from "./section.ts";
import { percentile } from "./statistics.ts";
import type { System } from "./system/start-system.ts";

/** One thing that is measured. The runner knows nothing of its content. */
export type Workload = {
  /** Its part of the command. */
  readonly name: string;
  readonly title: string;
  /** Says what is measured and against what, for a reader of the document. */
  readonly about: string;
  /** It works with the large system, which is kept for the next workload that does. */
  readonly isLarge?: boolean;
  readonly run: (bench: Bench) => Promise<Section>;
};

/** What one load on one contestant gave. */
export type Measurement = {
  /** Requests answered 2xx per second. */
  readonly rate: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly failures: Generated["failures"];
  /** Processor milliseconds per answered request, by process. */
  readonly costs: Readonly<Record<string, number>>;
  /** The same for the generator, which is not part of the costs. */
  readonly ownCost: number;
  /** Requests that were sent in the warm-up and the measured time. */
  readonly outcomes: readonly Outcome[];
};

type JobSettings = Partial<Pick<Job, "warmUpMs" | "measureMs" | "repeats">>;

/** An invariant did not hold, so the workload has no figure. */
export class Violated extends Error {
  override readonly name = "Violated";
  readonly violations: readonly string[];

  constructor(violations: readonly string[]) {
    super(violations.join("\n"));
    this.violations = violations;
  }
}

/** This machine lacks something that the workload needs. */
export class NotMeasured extends Error {
  override readonly name = "NotMeasured";
}

/** How long the books may differ: a recovery job may still work on requests whose answer was lost. */
const RESTS_WITHIN_MS = 90_000;
const POLL_MS = 1_000;
const MAX_SHOWN = 10;

export type BenchSettings = {
  readonly options: Options;
  /** The service, started at the first call. */
  readonly system: () => Promise<System>;
  /** The same with many Investors, started at the first call and loaded by the workload. */
  readonly large: () => Promise<LargeSystem>;
  readonly print: (line: string) => void;
};

/** What a workload works with, and what it has sent. Disposed of after the workload. */
export class Bench implements AsyncDisposable {
  readonly options: Options;
  readonly system: () => Promise<System>;
  readonly large: () => Promise<LargeSystem>;
  readonly print: (line: string) => void;
  readonly #stack = new AsyncDisposableStack();
  readonly #sent = new Map<Contestant, Outcome[]>();
  #jobs = 0;

  constructor({ options, system, large, print }: BenchSettings) {
    this.options = options;
    this.system = system;
    this.large = large;
    this.print = print;
  }

  /** Released after the workload. */
  use<T extends AsyncDisposable>(resource: T): T {
    return this.#stack.use(resource);
  }

  /** Sends requests to a contestant while the machine is its own, and reports rates, latencies and costs. */
  async measure(
    contestant: Contestant,
    requests: readonly RequestTemplate[],
    shape: Shape,
    own: JobSettings = {},
  ): Promise<Measurement> {
    if (!this.options.isQuick) await untilUndisturbed();
    return measurementOf(await this.send(contestant, requests, shape, own));
  }

  /** Sends requests to a contestant. Those that move money are verified before the section is reported. */
  async send(
    contestant: Contestant,
    requests: readonly RequestTemplate[],
    shape: Shape,
    own: JobSettings = {},
  ): Promise<Generated> {
    this.#jobs += 1;
    const comment = `b${this.#jobs.toString(36)}z`;
    const { warmUpMs, measureMs } = this.options;
    const { endpoint } = contestant;
    const job = { endpoint, requests, shape, comment, warmUpMs, measureMs, repeats: false, ...own };
    const load = await generate(job, () => usageOf(contestant));
    const sent = load.outcomes.filter(({ minor }) => minor !== 0);
    this.#sent.set(contestant, [...(this.#sent.get(contestant) ?? []), ...sent]);
    return load;
  }

  /** Throws when an invariant does not hold for anything that was sent since the last call. */
  async verify(): Promise<void> {
    for (const [contestant, sent] of this.#sent) {
      await contestant.resume();
      await this.#verify(contestant, sent);
    }
    this.#sent.clear();
  }

  async #verify(contestant: Contestant, sent: readonly Outcome[]): Promise<void> {
    const logins = [...new Set(sent.map(({ login }) => login))];
    for (const untilMs = performance.now() + RESTS_WITHIN_MS; ; await sleep(POLL_MS)) {
      const found = [...violationsOf(sent, await contestant.books(logins)), ...(await contestant.findings())];
      if (found.length === 0) return;
      if (performance.now() < untilMs) continue;
      throw new Violated(found.slice(0, MAX_SHOWN).map((each) => `${contestant.name}: ${each}`));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A stopped process cannot stop in order.
    await Promise.allSettled([...this.#sent.keys()].map((contestant) => contestant.resume()));
    await this.#stack.disposeAsync();
  }
}

function usageOf({ processes }: Contestant): ReadonlyMap<string, number> {
  return new Map(Array.from(processes(), ([name, pid]) => [name, processorSeconds(pid)]));
}

function measurementOf({ answered, latencies, seconds, failures, used, ownSeconds, outcomes }: Generated): Measurement {
  if (answered === 0) throw new Error(`no request was answered in the measured time: ${JSON.stringify(failures)}`);
  const each = (total: number): number => (total * 1_000) / answered;
  return {
    rate: answered / seconds,
    p50: percentile(latencies, 50),
    p99: percentile(latencies, 99),
    failures,
    costs: Object.fromEntries(Array.from(used, ([name, total]) => [name, each(total)])),
    ownCost: each(ownSeconds),
    outcomes,
  };
}
