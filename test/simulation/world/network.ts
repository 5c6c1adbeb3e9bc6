import { callContext } from "../../../services/kernel/contract/context.ts";
import type { CallContext } from "../../../services/kernel/contract/contract.ts";
import { Refusal } from "../../../services/kernel/refusal.ts";
import type { Faults } from "./faults.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

/** What somebody who asked another process knows afterwards. */
export type Outcome<T> =
  | { readonly kind: "answer"; readonly value: T }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** There was nobody to ask. */
  | { readonly kind: "nobody" }
  /** Something broke, here or on the way: nothing is known. */
  | { readonly kind: "unknown" };

/** A process that can be asked something. */
export type Target = { readonly process: SimulatedProcess };

export type NetworkOptions<To extends Target> = {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly faults: Faults;
  readonly reachable: () => readonly To[];
};

export type Asked<To extends Target, T> = (target: To, context: CallContext) => Promise<T>;

const MAX_WAY_MS = 6;

/** Requests to any of the processes of a service, as a queue group hands them out. */
export class Network<To extends Target> {
  readonly #options: NetworkOptions<To>;
  #calls = 0;

  constructor(options: NetworkOptions<To>) {
    this.#options = options;
  }

  /** Asks one of the processes, or by bad luck two, and waits so long for the first answer. */
  ask<T>(caller: SimulatedProcess, withinMs: number, asked: Asked<To, T>, commandId = ""): Promise<Outcome<T>> {
    const { scheduler, faults, random, reachable } = this.#options;
    const { promise, resolve } = Promise.withResolvers<Outcome<T>>();
    this.#calls += 1;
    const requestId = `request-${this.#calls}`;
    const answer = (outcome: Outcome<T>): void => {
      timeOut.cancel();
      caller.deliver(undefined, "answered", () => resolve(outcome));
    };
    const timeOut = scheduler.after(withinMs, "caller's time-out", () => answer({ kind: "unknown" }));
    const isLost = faults.losesAnswer();
    for (let copy = faults.doublesCall() ? 2 : 1; copy > 0; copy -= 1) {
      const targets = reachable();
      if (targets.length === 0) {
        scheduler.after(MAX_WAY_MS, "nobody there", () => answer({ kind: "nobody" }));
        break;
      }
      const target = random.pick(targets);
      scheduler.after(random.next() * MAX_WAY_MS, "request arrives", () => {
        const reply = (outcome: Outcome<T>): void => {
          if (!isLost) scheduler.after(random.next() * MAX_WAY_MS, "reply", () => answer(outcome));
        };
        receive(target, { requestId, commandId, withinMs, asked }, reply);
      });
    }
    return promise;
  }
}

type Request<To extends Target, T> = {
  readonly requestId: string;
  readonly commandId: string;
  readonly withinMs: number;
  readonly asked: Asked<To, T>;
};

function receive<To extends Target, T>(
  target: To,
  { requestId, commandId, withinMs, asked }: Request<To, T>,
  reply: (outcome: Outcome<T>) => void,
): void {
  const { process } = target;
  process.deliver(undefined, "request", () => {
    process.requests += 1;
    const done = (outcome: Outcome<T>): void => {
      process.requests -= 1;
      if (process.isAlive) reply(outcome);
    };
    void process.run(() => {
      const context = callContext({ caller: "simulation", withinMs, requestId, commandId });
      return asked(target, context).then(
        (value) => done({ kind: "answer", value }),
        (error: unknown) => done(error instanceof Refusal ? { kind: "refused", refusal: error } : { kind: "unknown" }),
      );
    });
  });
}
