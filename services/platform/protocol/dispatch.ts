import { batchQueue } from "#kernel/batches/batch-queue.ts";
import { gatherReads } from "#kernel/batches/gather-reads.ts";
import { isTransient } from "#kernel/postgres/failure.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { retryLevel } from "#kernel/jobs/transient-failure.ts";
import type { Deps } from "../deps.ts";
import { listLegsOf } from "../store/legs.ts";
import { listNext, type WaitingLeg } from "../store/queues.ts";
import type { Dispatcher, Pass, RecordedAnswer } from "./sending.ts";

/** Legs of one pass; one that has sent so many is followed by the next at once. */
const MAX_LEGS = 100;
/** More requests than one process has in progress. */
const MAX_WAITING = 10_000;
/** How long a leg may wait for a session before the next pass asks for it again. */
const MAX_WAIT_MS = 5_000;

type DispatcherDeps = Pick<Deps, "pool" | "sending" | "gate" | "mt5" | "log">;

export function dispatcher(deps: DispatcherDeps): Dispatcher {
  const passes = batchQueue<string, Pass>({
    name: "send waiting legs",
    maxItems: MAX_LEGS,
    maxWaiting: MAX_WAITING,
    async run(logins) {
      const outcomes = Map.groupBy(await pass(deps, [...new Set(logins)]), ({ leg }) => leg.login);
      return logins.map((login) => {
        const own = outcomes.get(login) ?? [];
        const sent = new Map(own.flatMap(({ leg, sent: answer }) => (answer ? [[leg.number, answer] as const] : [])));
        return { sent, isUnreachable: own.some(({ isUnreachable }) => isUnreachable) };
      });
    },
  });
  return {
    sendNextOf: (login) => passes.add(login),
    async sendNext() {
      const outcomes = deps.gate.read() === "open" ? await pass(deps, undefined) : [];
      return outcomes.length === MAX_LEGS && outcomes.some(({ isOver }) => isOver);
    },
    legsOf: gatherReads((ids) => listLegsOf(deps.pool, ids)),
  };
}

type Outcome = {
  readonly leg: WaitingLeg;
  readonly sent?: RecordedAnswer | undefined;
  /** It was sent, or has ended. */
  readonly isOver: boolean;
  readonly isUnreachable: boolean;
};

async function pass(deps: DispatcherDeps, logins: readonly string[] | undefined): Promise<readonly Outcome[]> {
  const legs = await listNext(deps.pool, { ...(logins && { logins }), limit: MAX_LEGS });
  return await Promise.all(legs.map((leg) => askFor(deps, leg)));
}

/** A leg that gets no permit waits for another pass, also after a failure. */
async function askFor(deps: DispatcherDeps, leg: WaitingLeg): Promise<Outcome> {
  const waits = { leg, isOver: false, isUnreachable: false };
  try {
    const { decision, sent } = await deps.sending.request({ kind: "leg", leg }, performance.now() + MAX_WAIT_MS);
    if (decision.kind === "wait" || decision.kind === "locked") return waits;
    const isUnreachable = decision.kind === "unreachable";
    return { leg, sent, isOver: !isUnreachable, isUnreachable };
  } catch (error) {
    // The request was not reached in time, because no session was free.
    if (error instanceof Refusal) return { ...waits, isUnreachable: !deps.mt5.status().reachable };
    if (!isTransient(error)) {
      const { number, login } = leg;
      deps.log[retryLevel(error)]("waiting leg failed, retry scheduled", { leg: number, login, error });
    }
    return waits;
  }
}
