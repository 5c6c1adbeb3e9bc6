import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { refusalToProto } from "#kernel/contract/error.ts";
import { deadlineExceeded, refuse as refuseFault } from "#kernel/contract/refusals.ts";
import { Refusal } from "#kernel/refusal.ts";
import type {
  TransferAnswer,
  TransferBatchRequest,
  TransferBatchResponse,
  TransferRequest,
  TransferResult,
} from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { followTransfer, isOpen } from "../protocol/follow-transfer.ts";
import { acquireSessions } from "../protocol/send.ts";
import { transferResult } from "../protocol/transfer-result.ts";
import { transferTogether } from "../protocol/transfer-together.ts";
import { neverQueues, readTransferOrder, type TransferOrder } from "../protocol/transfer-order.ts";
import { refuse } from "../refusals.ts";
import { listLegsOf } from "../store/legs.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { listTransfers, type Transfer } from "../store/transfers.ts";
import { deadlinesOf, requireSameContent, transfer, unreachable } from "./transfer.ts";

/** The contract states it too. All transfers of a batch are in memory, and are answered within one deadline. */
const MAX_REQUESTS = 500;
/** Groups in progress at once: while one group waits for its commit, the other groups send. */
const MAX_GROUPS = 3;
/** Half of the usual sessions, so that another group and single transfers find some. */
const SESSIONS_OF_A_GROUP = 4;
/** Permits per session in one commit: few, because a permit can expire while its session is busy. */
const SENDS_OF_A_SESSION = 2;
/** Transfers in progress at once that are not part of a group: more than there are sessions, because most only wait. */
const MAX_SINGLE = 32;
/** When less of the caller's wait budget is left, no new group is started. */
const LAST_START_MS = 1_000;
/** Maximum delay of a batch by one lost answer. Only for orders that their caller repeats anyway. */
const LOST_WAIT_MS = 2_000;

/** One transfer of the batch, with its progress and its answer. */
type Item = {
  readonly request: TransferRequest;
  readonly order: TransferOrder | undefined;
  recorded: Transfer | undefined;
  /** The answer for the caller; undefined while the transfer is in progress. */
  end: TransferResult | Refusal | undefined;
};

/** Many transfers, each with the same result as a single Transfer; they share commits and sessions. */
export async function transferBatch(
  deps: Deps,
  { requests }: TransferBatchRequest,
  context: CallContext,
): Promise<TransferBatchResponse> {
  requireBatch(requests);
  const items = requests.map(itemOf);
  await findRecorded(deps, items);
  await runTogether(
    deps,
    items.filter(({ end, recorded }) => end === undefined && recorded === undefined),
    context,
  );
  await findRecorded(deps, items);
  await endAll(deps, items, context);
  return { answers: items.map(({ end }) => answerOf(end)) };
}

function requireBatch(requests: readonly TransferRequest[]): void {
  const isRight = requests.length >= 1 && requests.length <= MAX_REQUESTS;
  if (!isRight) {
    throw refuse("validation_failed", `A batch has 1 to ${MAX_REQUESTS} transfers.`, { outcome: "not_executed" });
  }
  if (new Set(requests.map(({ key }) => key)).size === requests.length) return;
  throw refuse("validation_failed", "Each transfer of a batch needs its own key.", { outcome: "not_executed" });
}

function itemOf(request: TransferRequest): Item {
  try {
    return { request, order: readTransferOrder(request), recorded: undefined, end: undefined };
  } catch (error) {
    if (error instanceof Refusal) return { request, order: undefined, recorded: undefined, end: error };
    throw error;
  }
}

async function findRecorded({ pool }: Deps, items: readonly Item[]): Promise<void> {
  const open = items.filter(({ end, recorded }) => end === undefined && recorded === undefined);
  if (open.length === 0) return;
  const keys = open.map(({ request }) => request.key);
  const known = await listTransfers(pool, keys);
  for (const item of open) item.recorded = known.get(item.request.key);
}

/** Runs groups until all items are recorded or refused; the remaining ones are run individually afterwards. */
async function runTogether(deps: Deps, fresh: readonly Item[], context: CallContext): Promise<void> {
  let waiting = [...fresh];
  const busyLogins = new Set<string>();
  const take = (count: number): Item[] => {
    const group: Item[] = [];
    for (const item of waiting) {
      const login = loginOf(item);
      if (group.length === count || busyLogins.has(login)) continue;
      busyLogins.add(login);
      group.push(item);
    }
    waiting = waiting.filter((item) => !group.includes(item));
    return group;
  };
  const worker = async (): Promise<void> => {
    while (waiting.length > 0 && remainingMs(context) > LAST_START_MS) {
      using sessions = await acquireSessions(deps, SESSIONS_OF_A_GROUP);
      if (sessions.list.length === 0) break;
      const group = take(sessions.list.length * SENDS_OF_A_SESSION);
      // All remaining items are on logins of groups in progress; the workers of those groups take them next.
      if (group.length === 0) break;
      await runGroup(deps, group, sessions.list, context).finally(() => {
        for (const item of group) busyLogins.delete(loginOf(item));
      });
    }
  };
  await Promise.all(Array.from({ length: MAX_GROUPS }, worker));
  const reason = remainingMs(context) > LAST_START_MS ? unreachable() : deadlineExceeded();
  for (const item of waiting) if (item.order !== undefined && neverQueues(item.order)) item.end = reason;
}

async function runGroup(
  deps: Deps,
  group: readonly Item[],
  sessions: Parameters<typeof transferTogether>[1][number]["session"][],
  context: CallContext,
): Promise<void> {
  const batch = group.flatMap(({ order }, index) => {
    const session = sessions[index % sessions.length];
    return order === undefined || session === undefined ? [] : [{ order, requestId: context.requestId, session }];
  });
  try {
    const answers = await transferTogether(deps, batch);
    for (const [index, item] of group.entries()) {
      const answer = answers[index];
      if (answer?.kind === "refused") item.end = answer.refusal;
      if (answer?.kind === "recorded") item.recorded = answer.transfer;
    }
  } catch (error) {
    // Each transfer is then run individually, so that the failing one affects no other.
    deps.log.warn("group of transfers failed, each one is retried individually", { count: group.length, error });
  }
}

/** Reads the status of all items with one statement, and follows those that are not final. */
async function endAll(deps: Deps, items: readonly Item[], context: CallContext): Promise<void> {
  const ids = items.flatMap(({ recorded }) => recorded?.id ?? []);
  const legs = ids.length === 0 ? new Map<bigint, RecordedLeg[]>() : await listLegsOf(deps.pool, ids);
  if (items.some(({ request }) => request.enqueue)) deps.legsSignal.notify();
  const queue = items.filter(({ end }) => end === undefined).values();
  const worker = async (): Promise<void> => {
    for (const item of queue) item.end = await endOf(deps, item, legs, context);
  };
  await Promise.all(Array.from({ length: MAX_SINGLE }, worker));
}

async function endOf(
  deps: Deps,
  { request, order, recorded }: Item,
  legs: ReadonlyMap<bigint, RecordedLeg[]>,
  context: CallContext,
): Promise<TransferResult | Refusal> {
  try {
    if (recorded === undefined || order === undefined) return await transfer(deps, request, context);
    const own = legs.get(recorded.id) ?? [];
    requireSameContent(own, order);
    if (recorded.isEnqueued || !own.some(isOpen)) return transferResult(recorded, own);
    const deadlines = deadlinesOf(deps, context);
    const lostByMs = performance.now() + LOST_WAIT_MS;
    const answerByMs = neverQueues(order) ? Math.min(deadlines.answerByMs, lostByMs) : deadlines.answerByMs;
    return transferResult(recorded, await followTransfer(deps, recorded.id, { ...deadlines, answerByMs }));
  } catch (error) {
    return error instanceof Refusal ? error : fault(deps, { request }, error);
  }
}

/** A fault of one transfer does not affect the others; its outcome is unknown until its key is requested again. */
function fault({ log }: Deps, { request }: Pick<Item, "request">, error: unknown): Refusal {
  log.error("transfer of a batch failed, outcome unknown until its key is requested again, report this defect", {
    key: request.key,
    error,
  });
  return refuseFault("internal", "internal error", { outcome: "unknown" });
}

function answerOf(end: Item["end"]): TransferAnswer {
  if (end === undefined) throw new Error("a transfer of a batch has no answer");
  return end instanceof Refusal
    ? { answer: { $case: "refusal", value: refusalToProto(end) } }
    : { answer: { $case: "result", value: end } };
}

function loginOf({ request }: Item): string {
  return request.legs[0]?.login ?? "";
}
