import { setTimeout as delay } from "node:timers/promises";
import { isTransient } from "#kernel/postgres/failure.ts";
import { CommitUnknown, inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import type { CommandSession } from "../mt5/client.ts";
import { findTransferByKey } from "../store/transfers.ts";
import { listLegs } from "../store/operations.ts";
import { isDealTaken } from "../store/operation-steps.ts";
import type { Permit } from "./grant-permit.ts";
import { insertOrders, type OrderAnswer } from "./insert-orders.ts";
import { type AppliedNow, recordTogether } from "./record-together.ts";
import { askerOf, recordSent, type Sent, voidUnsent, writeOnce } from "./send.ts";
import type { TransferOrder } from "./transfer-order.ts";

/** A order of this group and the session through which its legs would go. */
export type Holding = { readonly order: TransferOrder; readonly requestId: string; readonly session: CommandSession };

/** Alone: this way did not work, and what became of it is asked on the way that treats each transfer by itself. */
export type HoldingAnswer = OrderAnswer | { readonly kind: "alone" };

type Write = { readonly holding: Holding; readonly permit: Permit };
type Written = { readonly holding: Holding; readonly sent: Sent };

/** An answer that takes longer than this is recorded by itself, so that it does not hold up the others. */
const TOGETHER_MS = 250;

/**
 * Takes some transfers through their legs together: one commit for all orders and permits, then the sends side by side,
 * then one commit for all answers, which also permits the second legs. Each operation goes through the same steps as alone.
 */
export async function transferTogether(deps: Deps, holdings: readonly Holding[]): Promise<HoldingAnswer[]> {
  const answers = await insertTogether(deps, holdings);
  deps.reach("after_intent", holdings[0]?.order.legs[0]?.kind);
  const first = holdings.flatMap((holding, index): Write[] => {
    const answer = answers[index];
    return answer?.kind === "recorded" && answer.permit !== undefined ? [{ holding, permit: answer.permit }] : [];
  });
  const debits = await sendAll(deps, first, ({ order }) => order.legs.length === 1);
  const credits = await sendAll(deps, debits.next, () => true);
  requireAll([...(await debits.rest), ...(await credits.rest)]);
  return answers;
}

async function insertTogether(deps: Deps, holdings: readonly Holding[]): Promise<HoldingAnswer[]> {
  const orders = holdings.map(({ order, requestId, session }) => ({
    order,
    requestId,
    asker: order.isEnqueued ? undefined : askerOf(deps, session),
  }));
  try {
    return await inTransaction(deps.pool, (tx) => insertOrders(tx, orders));
  } catch (error) {
    if (!isTransient(error)) throw error;
    if (error instanceof CommitUnknown) {
      for (const holding of holdings) await undoUnsent(deps, holding.order.key, holding.session);
    }
    return holdings.map(() => ({ kind: "alone" }));
  }
}

/** Nobody knows whether the order was recorded, but surely nothing was sent for it. */
export async function undoUnsent(deps: Deps, key: string, session: CommandSession): Promise<void> {
  const recorded = await findTransferByKey(deps.pool, key);
  const [first] = recorded === undefined ? [] : await listLegs(deps.pool, recorded.id);
  if (first !== undefined) await voidUnsent(deps, first, session);
}

type Round = {
  /** The legs that follow at once, with their permits. */
  readonly next: readonly Write[];
  /** How each line has ended, with what took longer. Never fails: nobody listens while the next round is sent. */
  readonly rest: Promise<readonly PromiseSettledResult<void>[]>;
};

/** A session through which nothing of these transfers follows is given back before the answers are recorded. */
async function sendAll(deps: Deps, writes: readonly Write[], isLast: (holding: Holding) => boolean): Promise<Round> {
  const inTime: Written[] = [];
  const free = new Set<CommandSession>();
  let isTime = true;
  const lines = Map.groupBy(writes, ({ holding }) => holding.session);
  const sending = [...lines].map(async ([session, line]) => {
    for (const { holding, permit } of line) {
      const sent = await writeOnce(deps, permit, session);
      if (isTime) inTime.push({ holding, sent });
      else await recordSent(deps, sent);
    }
    if (line.every(({ holding }) => isLast(holding))) session[Symbol.dispose]();
    else free.add(session);
  });
  const all = Promise.allSettled(sending);
  await Promise.race([all, delay(TOGETHER_MS, undefined, { ref: false })]);
  isTime = false;
  // A session that still waits for an answer can send nothing that follows.
  const next = await recordAll(deps, inTime, new Set(free));
  return { next, rest: all };
}

/** What broke one says nothing about the others, so it is told when all have ended. */
function requireAll(results: readonly PromiseSettledResult<unknown>[]): void {
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

async function recordAll(
  deps: Deps,
  written: readonly Written[],
  free: ReadonlySet<CommandSession>,
): Promise<readonly Write[]> {
  const plain = written.flatMap(({ holding, sent }) => appliedNow(deps, holding, sent, free) ?? []);
  const together = plain.length === 0 ? NOTHING : await tryTogether(deps, written, plain);
  const alone = written.filter(({ sent }) => !together.recorded.has(sent.permit.operation.number));
  requireAll(await Promise.allSettled(alone.map(({ sent }) => recordSent(deps, sent))));
  return written.flatMap(({ holding, sent }) => {
    const permit = together.permits.get(sent.permit.operation.number);
    return permit === undefined ? [] : [{ holding, permit }];
  });
}

const NOTHING = { recorded: new Set<bigint>(), permits: new Map<bigint, Permit>() };

async function tryTogether(deps: Deps, written: readonly Written[], plain: readonly AppliedNow[]) {
  try {
    const { server } = deps.settings;
    const { recorded, permits, awaitReader } = await inTransaction(deps.pool, (tx) =>
      recordTogether(tx, server, plain),
    );
    deps.reach("after_record", written[0]?.sent.permit.operation.status.kind);
    for (const login of awaitReader) deps.freshDeals.add(login);
    for (const { login } of plain) deps.doorbell.notify(login);
    return { recorded, permits };
  } catch (error) {
    if (isDealTaken(error)) return NOTHING;
    if (!isTransient(error)) throw error;
    // The permits of second legs may stand there; nobody will use them.
    if (error instanceof CommitUnknown) for (const { holding } of written) await undoSecond(deps, holding);
    return NOTHING;
  }
}

async function undoSecond(deps: Deps, { order, session }: Holding): Promise<void> {
  const recorded = await findTransferByKey(deps.pool, order.key);
  const legs = recorded === undefined ? [] : await listLegs(deps.pool, recorded.id);
  const second = legs.find(({ leg }) => leg === 2);
  if (second !== undefined) await voidUnsent(deps, second, session);
}

function appliedNow(
  deps: Deps,
  { order, session }: Holding,
  { permit, outcome }: Sent,
  free: ReadonlySet<CommandSession>,
): AppliedNow | undefined {
  if (outcome.kind !== "applied") return undefined;
  const { operation, attempt } = permit;
  const { number, login } = operation;
  const [first, second] = order.legs;
  const isFirst = first?.login === login;
  const asker = isFirst && second !== undefined && free.has(session) ? askerOf(deps, session) : undefined;
  return {
    number,
    login,
    attempt,
    ticket: outcome.ticket,
    next: asker && second && { login: second.login, asker },
  };
}
