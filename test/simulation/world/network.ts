import { callContext } from "../../../services/kernel/contract/context.ts";
import type { CallContext } from "../../../services/kernel/contract/contract.ts";
import { Refusal } from "../../../services/kernel/refusal.ts";
import type { Faults } from "./faults.ts";
import type { PlatformProcess } from "./platform-process.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

/** What somebody who asked another process knows afterwards. */
export type Outcome<T> =
  | { readonly kind: "answer"; readonly value: T }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** Something broke, here or on the way: nothing is known. */
  | { readonly kind: "unknown" };

export type NetworkOptions = {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly faults: Faults;
  readonly reachable: () => readonly PlatformProcess[];
};

export type Asked<T> = (platform: PlatformProcess, context: CallContext) => Promise<T>;

const LONGEST_WAY_MS = 6;

/** Requests to any of the processes of the platform service, as a queue group hands them out. */
export class Network {
  readonly #options: NetworkOptions;
  #calls = 0;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  /** Asks one of the processes, or by bad luck two, and waits so long for the first answer. */
  ask<T>(caller: SimulatedProcess, withinMs: number, asked: Asked<T>): Promise<Outcome<T>> {
    const { scheduler, faults, random, reachable } = this.#options;
    const { promise, resolve } = Promise.withResolvers<Outcome<T>>();
    this.#calls += 1;
    const requestId = `request-${this.#calls}`;
    const answer = (outcome: Outcome<T>): void => caller.deliver(undefined, "answered", () => resolve(outcome));
    scheduler.after(withinMs, "caller's time-out", () => answer({ kind: "unknown" }));
    const isLost = faults.losesAnswer();
    for (let copy = faults.doublesCall() ? 2 : 1; copy > 0; copy -= 1) {
      const platforms = reachable();
      if (platforms.length === 0) break;
      const platform = random.pick(platforms);
      scheduler.after(random.next() * LONGEST_WAY_MS, "request arrives", () => {
        const reply = (outcome: Outcome<T>): void => {
          if (!isLost) scheduler.after(random.next() * LONGEST_WAY_MS, "reply", () => answer(outcome));
        };
        receive(platform, { requestId, withinMs, asked }, reply);
      });
    }
    return promise;
  }
}

type Request<T> = { readonly requestId: string; readonly withinMs: number; readonly asked: Asked<T> };

function receive<T>(
  platform: PlatformProcess,
  { requestId, withinMs, asked }: Request<T>,
  reply: (outcome: Outcome<T>) => void,
): void {
  const { process } = platform;
  process.deliver(undefined, "request", () => {
    process.requests += 1;
    const done = (outcome: Outcome<T>): void => {
      process.requests -= 1;
      if (process.isAlive) reply(outcome);
    };
    void process.run(() => {
      const context = callContext({ caller: "simulation", withinMs, requestId });
      return asked(platform, context).then(
        (value) => done({ kind: "answer", value }),
        (error: unknown) => done(error instanceof Refusal ? { kind: "refused", refusal: error } : { kind: "unknown" }),
      );
    });
  });
}
