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
import { neverWaits, readTransferOrder, type TransferOrder } from "../protocol/transfer-order.ts";
import { refuse } from "../refusals.ts";
import { listLegsOf } from "../store/operations.ts";
import type { RecordedOperation } from "../store/operation-row.ts";
import { listTransfers, type Transfer } from "../store/transfers.ts";
import { timeoutOf, requireSameContent, transfer, unreachable } from "./transfer.ts";

const MAX_REQUESTS = 500;
/** Groups under way at once: while one waits for the disk, the others send. */
const GROUPS = 3;
const SESSIONS_OF_A_GROUP = 4;
/** Permits are committed for no more than this, so that none runs out while its session is busy. */
const SENDS_OF_A_SESSION = 2;
/** Those that cannot go together, or that have to wait for something. */
const ALONE_AT_ONCE = 32;
/** Nothing new is begun when the caller is about to give up. */
const LAST_START_MS = 1_000;
/** How long one lost answer may hold up the answers of the others, when its caller asks again anyway. */
const LOST_WAIT_MS = 2_000;

/** One transfer of the batch and what is known of it so far; at the end either an answer or a refusal. */
type Item = {
  readonly request: TransferRequest;
  readonly order: TransferOrder | undefined;
  recorded: Transfer | undefined;
  /** Nothing more is done for it here. */
  end: TransferResult | Refusal | undefined;
};

/** Many transfers, each exactly as if it had come alone; commits and sends are shared. */
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

/** Group by group, until all are recorded, refused, or left for the way that treats each by itself. */
async function runTogether(deps: Deps, fresh: readonly Item[], context: CallContext): Promise<void> {
  let waiting = [...fresh];
  const underWay = new Set<string>();
  const take = (count: number): Item[] => {
    const group: Item[] = [];
    for (const item of waiting) {
      const login = loginOf(item);
      if (group.length === count || underWay.has(login)) continue;
      underWay.add(login);
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
      // What is left is on logins that other groups have under way; it is theirs to take.
      if (group.length === 0) break;
      await runGroup(deps, group, sessions.list, context).finally(() => {
        for (const item of group) underWay.delete(loginOf(item));
      });
    }
  };
  await Promise.all(Array.from({ length: GROUPS }, worker));
  const reason = remainingMs(context) > LAST_START_MS ? unreachable() : deadlineExceeded();
  for (const item of waiting) if (item.order !== undefined && neverWaits(item.order)) item.end = reason;
}

async function runGroup(
  deps: Deps,
  group: readonly Item[],
  sessions: Parameters<typeof transferTogether>[1][number]["session"][],
  context: CallContext,
): Promise<void> {
  const holdings = group.flatMap(({ order }, index) => {
    const session = sessions[index % sessions.length];
    return order === undefined || session === undefined ? [] : [{ order, requestId: context.requestId, session }];
  });
  try {
    const answers = await transferTogether(deps, holdings);
    for (const [index, item] of group.entries()) {
      const answer = answers[index];
      if (answer?.kind === "refused") item.end = answer.refusal;
      if (answer?.kind === "recorded") item.recorded = answer.transfer;
    }
  } catch (error) {
    // Whichever it was that failed: by itself each finds out what is on record, and breaks no other.
    deps.log.error("transfers could not go together", { count: group.length, error });
  }
}

/** Reads how all stand in one question, and follows those that do not rest yet. */
async function endAll(deps: Deps, items: readonly Item[], context: CallContext): Promise<void> {
  const ids = items.flatMap(({ recorded }) => recorded?.id ?? []);
  const legs = ids.length === 0 ? new Map<bigint, RecordedOperation[]>() : await listLegsOf(deps.pool, ids);
  if (items.some(({ request }) => request.enqueue)) deps.operationsSignal.notify();
  const queue = items.filter(({ end }) => end === undefined).values();
  const worker = async (): Promise<void> => {
    for (const item of queue) item.end = await endOf(deps, item, legs, context);
  };
  await Promise.all(Array.from({ length: ALONE_AT_ONCE }, worker));
}

async function endOf(
  deps: Deps,
  { request, order, recorded }: Item,
  legs: ReadonlyMap<bigint, RecordedOperation[]>,
  context: CallContext,
): Promise<TransferResult | Refusal> {
  try {
    if (recorded === undefined || order === undefined) return await transfer(deps, request, context);
    const own = legs.get(recorded.id) ?? [];
    requireSameContent(own, order);
    if (recorded.isEnqueued || !own.some(isOpen)) return transferResult(recorded, own);
    const timeout = timeoutOf(deps, context);
    const lostByMs = performance.now() + LOST_WAIT_MS;
    const answerByMs = neverWaits(order) ? Math.min(timeout.answerByMs, lostByMs) : timeout.answerByMs;
    return transferResult(recorded, await followTransfer(deps, recorded.id, { ...timeout, answerByMs }));
  } catch (error) {
    return error instanceof Refusal ? error : fault(deps, { request }, error);
  }
}

/** One that failed leaves the others alone; what became of it is asked again by its key. */
function fault({ log }: Deps, { request }: Pick<Item, "request">, error: unknown): Refusal {
  log.error("a transfer of a batch failed", { key: request.key, error });
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
