import { batchQueue, type BatchQueue } from "#kernel/batch-queue.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { Refusal, recordedAs } from "#kernel/refusal.ts";
import { isTransientFailure } from "#kernel/transient-failure.ts";
import type { Deps } from "../../deps.ts";
import { allocationInProgress, feeNotReady } from "../../domain/leave-reasons.ts";
import { safetyStop } from "../../domain/safety-stop.ts";
import { type Leave, recordOutcomes } from "../../store/leaves.ts";
import { jobContext } from "../deadlines.ts";
import { decideSettled } from "./decide-settled.ts";
import { finalRefusal, type PooledLeave } from "./leaving.ts";
import { prepareFee } from "./prepare-fee.ts";
import { settleAtGate, type Settled, type Waiting } from "./settle-at-gate.ts";

/** What became of a leave. "recorded": its outcome is recorded. "waits": nothing is, for this reason. */
export type EpisodeEnd =
  | { readonly kind: "decided"; readonly leave: Leave }
  | { readonly kind: "recorded" }
  | { readonly kind: "waits"; readonly refusal: Refusal };

/** Leaves of one episode; more would only lengthen the time in which the gate is closed. */
const MAX_LEAVES = 64;
/** Bounds the memory; a leave that finds so many others before it is refused as busy. */
const MAX_WAITING = 2_000;
/** Codes with which the queue refuses what it has done nothing for. */
const NOT_SERVED = new Set(["busy", "deadline_exceeded"]);

type Entrance = { readonly queue: BatchQueue<PooledLeave, EpisodeEnd>; waiting: number };

/** Of each process, that is of its dependencies: the leaves that wait at each gate. */
const entrances = new WeakMap<Deps, Map<string, Entrance>>();

/**
 * Decides a leave together with the others that wait for the same Master: one reading, one strike and one closing of the gate
 * for all. What waits while one episode runs is in the next; a leave whose turn does not come by `byMs`, a monotonic instant,
 * waits on. Rejects when the outcome of a settled leave is not known.
 */
export async function joinEpisode(deps: Deps, leave: PooledLeave, byMs: number): Promise<EpisodeEnd> {
  const { masterLogin } = leave.holding;
  const ofProcess = entrances.get(deps) ?? new Map<string, Entrance>();
  entrances.set(deps, ofProcess);
  const entrance = ofProcess.get(masterLogin) ?? { queue: entranceOf(deps, masterLogin), waiting: 0 };
  ofProcess.set(masterLogin, entrance);
  entrance.waiting += 1;
  try {
    return await entrance.queue.add(leave, byMs);
  } catch (error) {
    if (error instanceof Refusal && NOT_SERVED.has(error.code)) return waitsFor(masterLogin);
    throw error;
  } finally {
    entrance.waiting -= 1;
    if (entrance.waiting === 0) ofProcess.delete(masterLogin);
  }
}

function entranceOf(deps: Deps, masterLogin: string): BatchQueue<PooledLeave, EpisodeEnd> {
  return batchQueue<PooledLeave, EpisodeEnd>({
    name: "decide leaves",
    maxItems: MAX_LEAVES,
    maxWaiting: MAX_WAITING,
    // Each decision counts with the reserves of the one before.
    keyOf: ({ leave }) => leave.investorLogin,
    run: (leaves) => runEpisode(deps, masterLogin, leaves),
  });
}

async function runEpisode(deps: Deps, masterLogin: string, leaves: readonly PooledLeave[]): Promise<EpisodeEnd[]> {
  const context = jobContext();
  const settled = await settle(
    deps,
    { masterLogin, leaves, preparing: prepareFee(deps, masterLogin, context) },
    context,
  );
  if (settled.kind === "waits" || settled.kind === "recorded") return leaves.map(() => settled);
  const numbers = await decideSettled(deps, settled.leaves, settled.gate, context);
  const decided = new Map(settled.leaves.map((leave) => [leave.key, leave]));
  return leaves.map(({ leave: { key } }) => {
    const [leave, decision] = [decided.get(key), numbers.get(key)];
    if (leave === undefined || decision === undefined) return { kind: "recorded" };
    return { kind: "decided", leave: { ...leave, ...decision, state: "DECIDED" } };
  });
}

type SettledOrNot = Extract<Settled, { kind: "settled" | "recorded" }> | Extract<EpisodeEnd, { kind: "waits" }>;

async function settle(deps: Deps, waiting: Waiting, context: CallContext): Promise<SettledOrNot> {
  const { masterLogin: login, leaves } = waiting;
  try {
    const settled = await settleAtGate(deps, waiting, context);
    switch (settled.kind) {
      case "settled":
      case "recorded":
        return settled;
      case "stopped":
        return await refuseAll(deps, leaves, safetyStop(login, "stopped"));
      case "unavailable":
        deps.log.info("fee not prepared, retry scheduled", { login, error: settled.error });
        return { kind: "waits", refusal: feeNotReady() };
      case "closed":
        return waitsFor(login);
    }
  } catch (error) {
    const isRefusal = error instanceof Refusal;
    // Another transaction holds the locks of this Master for too long: nothing was changed.
    if (!isRefusal && isTransientFailure(error)) {
      return waits(
        `Results of Master ${login} or other operations on it are being recorded, which takes seconds. Nothing was executed. Send the request again in a second.`,
      );
    }
    if (!isRefusal) deps.log.warn("Master not read, leaves refused", { login, count: leaves.length, error });
    return await refuseAll(deps, leaves, finalRefusal(error));
  }
}

/** For the leaves that are being decided. */
function waitsFor(masterLogin: string) {
  return waits(
    `Another operation on Master ${masterLogin} is being decided, which takes seconds. Nothing was executed. Send the request again in a second.`,
  );
}

function waits(message: string): Extract<EpisodeEnd, { kind: "waits" }> {
  return { kind: "waits", refusal: allocationInProgress(message) };
}

/** No effect on a leave that was settled before, for example by a commit whose outcome is unknown. */
async function refuseAll(
  { pool, now }: Deps,
  leaves: readonly PooledLeave[],
  refusal: Refusal,
): Promise<{ readonly kind: "recorded" }> {
  const recorded = recordedAs(refusal);
  await recordOutcomes(
    pool,
    leaves.map(({ leave }) => ({ leave, refusal: recorded })),
    now(),
  );
  return { kind: "recorded" };
}
