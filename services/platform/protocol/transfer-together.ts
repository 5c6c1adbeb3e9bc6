import { setTimeout as delay } from "node:timers/promises";
import { isTransient } from "#kernel/postgres/failure.ts";
import { CommitUnknown, inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import type { CommandSession } from "../mt5/client.ts";
import { findTransferByKey } from "../store/transfers.ts";
import { listLegs } from "../store/legs.ts";
import { isDealTaken } from "../store/leg-transitions.ts";
import type { Permit } from "./grant-permit.ts";
import { insertOrders, type OrderAnswer } from "./insert-orders.ts";
import { type AppliedNow, recordTogether } from "./record-together.ts";
import { permitHolderOf, recordSent, type Sent, voidUnsent, writeOnce } from "./send.ts";
import type { TransferOrder } from "./transfer-order.ts";

/** An order of this batch and the session that would send its legs. */
export type BatchItem = { readonly order: TransferOrder; readonly requestId: string; readonly session: CommandSession };

/** `alone`: the commit of the batch failed; the caller runs this transfer individually, which reads what was recorded. */
export type BatchAnswer = OrderAnswer | { readonly kind: "alone" };

type Write = { readonly item: BatchItem; readonly permit: Permit };
type Written = { readonly item: BatchItem; readonly sent: Sent };

/** An answer that takes longer than this is recorded in a commit of its own, so that it does not delay the others. */
const TOGETHER_MS = 250;

/**
 * Executes several transfers together: one commit for all orders and permits, then the sends in parallel, then one commit
 * for all answers, which also permits the second legs. Each leg makes the same transitions as alone.
 */
export async function transferTogether(deps: Deps, items: readonly BatchItem[]): Promise<BatchAnswer[]> {
  const answers = await insertTogether(deps, items);
  deps.reach("after_intent", items[0]?.order.legs[0]?.kind);
  const first = items.flatMap((item, index): Write[] => {
    const answer = answers[index];
    return answer?.kind === "recorded" && answer.permit !== undefined ? [{ item, permit: answer.permit }] : [];
  });
  const debits = await sendAll(deps, first, ({ order }) => order.legs.length === 1);
  const credits = await sendAll(deps, debits.next, () => true);
  throwFirst([...(await debits.rest), ...(await credits.rest)]);
  return answers;
}

async function insertTogether(deps: Deps, items: readonly BatchItem[]): Promise<BatchAnswer[]> {
  const orders = items.map(({ order, requestId, session }) => ({
    order,
    requestId,
    permitHolder: order.isEnqueued ? undefined : permitHolderOf(deps, session),
  }));
  try {
    return await inTransaction(deps.pool, (tx) => insertOrders(tx, orders));
  } catch (error) {
    if (!isTransient(error)) throw error;
    if (error instanceof CommitUnknown) for (const item of items) await undoUnsent(deps, item.order.key, item.session);
    return items.map(() => ({ kind: "alone" }));
  }
}

/** After a commit with an unknown outcome: the order may be recorded, but nothing was sent for it. Voids its permit. */
export async function undoUnsent(deps: Deps, key: string, session: CommandSession): Promise<void> {
  const recorded = await findTransferByKey(deps.pool, key);
  const [first] = recorded === undefined ? [] : await listLegs(deps.pool, recorded.id);
  if (first !== undefined) await voidUnsent(deps, first, session);
}

type Batch = {
  /** The next legs, with their permits. */
  readonly next: readonly Write[];
  /** The result of each session, late answers included. Never rejects: it is awaited only after the next legs are sent. */
  readonly rest: Promise<readonly PromiseSettledResult<void>[]>;
};

/** Releases a session without a following leg before the answers are recorded. */
async function sendAll(deps: Deps, writes: readonly Write[], isLast: (item: BatchItem) => boolean): Promise<Batch> {
  const inTime: Written[] = [];
  const free = new Set<CommandSession>();
  let isTime = true;
  const bySession = Map.groupBy(writes, ({ item }) => item.session);
  const sending = [...bySession].map(async ([session, own]) => {
    for (const { item, permit } of own) {
      const sent = await writeOnce(deps, permit, session);
      if (isTime) inTime.push({ item, sent });
      else await recordSent(deps, sent);
    }
    if (own.every(({ item }) => isLast(item))) session[Symbol.dispose]();
    else free.add(session);
  });
  const all = Promise.allSettled(sending);
  await Promise.race([all, delay(TOGETHER_MS, undefined, { ref: false })]);
  isTime = false;
  // A session that still waits for an answer can send nothing that follows.
  const next = await recordAll(deps, inTime, new Set(free));
  return { next, rest: all };
}

/** Throws the first failure. All work has ended before, so that one failure does not stop other work. */
function throwFirst(results: readonly PromiseSettledResult<unknown>[]): void {
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

async function recordAll(
  deps: Deps,
  written: readonly Written[],
  free: ReadonlySet<CommandSession>,
): Promise<readonly Write[]> {
  const plain = written.flatMap(({ item, sent }) => appliedNow(deps, item, sent, free) ?? []);
  const together = plain.length === 0 ? NOTHING : await tryTogether(deps, written, plain);
  const alone = written.filter(({ sent }) => !together.recorded.has(sent.permit.leg.number));
  throwFirst(await Promise.allSettled(alone.map(({ sent }) => recordSent(deps, sent))));
  return written.flatMap(({ item, sent }) => {
    const permit = together.permits.get(sent.permit.leg.number);
    return permit === undefined ? [] : [{ item, permit }];
  });
}

const NOTHING = { recorded: new Set<bigint>(), permits: new Map<bigint, Permit>() };

async function tryTogether(deps: Deps, written: readonly Written[], plain: readonly AppliedNow[]) {
  try {
    const { server } = deps.settings;
    const { recorded, permits, awaitReader } = await inTransaction(deps.pool, (tx) =>
      recordTogether(tx, server, plain),
    );
    deps.reach("after_record", written[0]?.sent.permit.leg.status.kind);
    for (const login of awaitReader) deps.freshDeals.add(login);
    for (const { login } of plain) deps.loginSignals.notify(login);
    return { recorded, permits };
  } catch (error) {
    if (isDealTaken(error)) return NOTHING;
    if (!isTransient(error)) throw error;
    // The permits of second legs may be recorded; they are not used.
    if (error instanceof CommitUnknown) for (const { item } of written) await undoSecond(deps, item);
    return NOTHING;
  }
}

async function undoSecond(deps: Deps, { order, session }: BatchItem): Promise<void> {
  const recorded = await findTransferByKey(deps.pool, order.key);
  const legs = recorded === undefined ? [] : await listLegs(deps.pool, recorded.id);
  const second = legs.find(({ ordinal }) => ordinal === 2);
  if (second !== undefined) await voidUnsent(deps, second, session);
}

function appliedNow(
  deps: Deps,
  { order, session }: BatchItem,
  { permit, outcome }: Sent,
  free: ReadonlySet<CommandSession>,
): AppliedNow | undefined {
  if (outcome.kind !== "applied") return undefined;
  const { leg, attempt } = permit;
  const { number, login } = leg;
  const [first, second] = order.legs;
  const isFirst = first?.login === login;
  const permitHolder = isFirst && second !== undefined && free.has(session) ? permitHolderOf(deps, session) : undefined;
  return {
    number,
    login,
    attempt,
    ticket: outcome.ticket,
    next: permitHolder && second && { login: second.login, permitHolder },
  };
}
