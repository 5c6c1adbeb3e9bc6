import { callContext } from "../../../services/kernel/contract/context.ts";
import type { CallContext } from "../../../services/kernel/contract/contract.ts";
import { Refusal } from "../../../services/kernel/values/refusal.ts";
import type { Faults } from "./faults.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

/** The result of a call, as the calling process sees it. */
export type Outcome<T> =
  | { readonly kind: "answer"; readonly value: T }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** No process of the service was running. */
  | { readonly kind: "unreachable" }
  /** The call failed or timed out: its outcome is unknown. */
  | { readonly kind: "unknown" };

/** A process that can be called. */
export type Target = { readonly process: SimulatedProcess };

export type NetworkOptions<To extends Target> = {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly faults: Faults;
  readonly reachable: () => readonly To[];
};

export type RemoteCall<To extends Target, T> = (target: To, context: CallContext) => Promise<T>;

const MAX_LATENCY_MS = 6;

/** Calls to any of the processes of a service, as a queue group distributes them. */
export class Network<To extends Target> {
  readonly #options: NetworkOptions<To>;
  #calls = 0;

  constructor(options: NetworkOptions<To>) {
    this.#options = options;
  }

  /** Calls one of the processes, or by a fault two, and waits `withinMs` for the first answer. */
  call<T>(
    caller: SimulatedProcess,
    withinMs: number,
    remoteCall: RemoteCall<To, T>,
    commandId = "",
  ): Promise<Outcome<T>> {
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
    for (let copy = faults.duplicatesCall() ? 2 : 1; copy > 0; copy -= 1) {
      const targets = reachable();
      if (targets.length === 0) {
        scheduler.after(MAX_LATENCY_MS, "no process is running", () => answer({ kind: "unreachable" }));
        break;
      }
      const target = random.pick(targets);
      scheduler.after(random.next() * MAX_LATENCY_MS, "request arrives", () => {
        const reply = (outcome: Outcome<T>): void => {
          if (!isLost) scheduler.after(random.next() * MAX_LATENCY_MS, "reply", () => answer(outcome));
        };
        receive(target, { requestId, commandId, withinMs, remoteCall }, reply);
      });
    }
    return promise;
  }
}

type Request<To extends Target, T> = {
  readonly requestId: string;
  readonly commandId: string;
  readonly withinMs: number;
  readonly remoteCall: RemoteCall<To, T>;
};

function receive<To extends Target, T>(
  target: To,
  { requestId, commandId, withinMs, remoteCall }: Request<To, T>,
  reply: (outcome: Outcome<T>) => void,
): void {
  const { process } = target;
  process.deliver(undefined, "request", () => {
    process.requests += 1;
    const done = (outcome: Outcome<T>): void => {
      process.requests -= 1;
      if (process.isRunning) reply(outcome);
    };
    void process.run(() => {
      const context = callContext({ caller: "simulation", withinMs, requestId, commandId });
      return remoteCall(target, context).then(
        (value) => done({ kind: "answer", value }),
        (error: unknown) => done(error instanceof Refusal ? { kind: "refused", refusal: error } : { kind: "unknown" }),
      );
    });
  });
}
