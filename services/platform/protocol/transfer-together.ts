import { setTimeout as delay } from "node:timers/promises";
import { isTransient } from "#kernel/postgres/failure.ts";
import { CommitUnknown, inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import type { CommandSession } from "../mt5/client.ts";
import { findTransferByKey } from "../store/transfers.ts";
import { listLegs } from "../store/operations.ts";
import { isDealTaken } from "../store/operation-steps.ts";
import type { Permit } from "./grant-permit.ts";
import { insertWishes } from "./insert-wishes.ts";
import type { WishAnswer } from "./insert-wishes.ts";
import { recordTogether } from "./record-together.ts";
import type { AppliedNow } from "./record-together.ts";
import { askerOf, recordSent, voidUnsent, writeOnce } from "./send.ts";
import type { Sent } from "./send.ts";
import type { TransferWish } from "./transfer-wish.ts";

/** A wish of this group and the session through which its legs would go. */
export type Seat = { readonly wish: TransferWish; readonly requestId: string; readonly session: CommandSession };

/** Alone: this way did not work, and what became of it is asked on the way that treats each transfer by itself. */
export type SeatAnswer = WishAnswer | { readonly kind: "alone" };

type Write = { readonly seat: Seat; readonly permit: Permit };
type Written = { readonly seat: Seat; readonly sent: Sent };

/** An answer that takes longer than this is recorded by itself, so that it does not hold up the others. */
const TOGETHER_MS = 250;

/**
 * Takes some transfers through their legs together: one commit for all wishes and permits, then the sends side by side,
 * then one commit for all answers, which also permits the second legs. Each operation goes through the same steps as alone.
 */
export async function transferTogether(deps: Deps, seats: readonly Seat[]): Promise<SeatAnswer[]> {
  const answers = await insertTogether(deps, seats);
  deps.reach("after_intent", seats[0]?.wish.legs[0]?.kind);
  const first = seats.flatMap((seat, index): Write[] => {
    const answer = answers[index];
    return answer?.kind === "recorded" && answer.permit !== undefined ? [{ seat, permit: answer.permit }] : [];
  });
  const debits = await sendAll(deps, first, ({ wish }) => wish.legs.length === 1);
  const credits = await sendAll(deps, debits.next, () => true);
  requireAll([...(await debits.rest), ...(await credits.rest)]);
  return answers;
}

async function insertTogether(deps: Deps, seats: readonly Seat[]): Promise<SeatAnswer[]> {
  const wishes = seats.map(({ wish, requestId, session }) => ({
    wish,
    requestId,
    asker: wish.isEnqueued ? undefined : askerOf(deps, session),
  }));
  try {
    return await inTransaction(deps.pool, (tx) => insertWishes(tx, wishes));
  } catch (error) {
    if (!isTransient(error)) throw error;
    if (error instanceof CommitUnknown) for (const seat of seats) await undoUnsent(deps, seat.wish.key, seat.session);
    return seats.map(() => ({ kind: "alone" }));
  }
}

/** Nobody knows whether the wish was recorded, but surely nothing was sent for it. */
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
async function sendAll(deps: Deps, writes: readonly Write[], isLast: (seat: Seat) => boolean): Promise<Round> {
  const inTime: Written[] = [];
  const free = new Set<CommandSession>();
  let isTime = true;
  const lines = Map.groupBy(writes, ({ seat }) => seat.session);
  const sending = [...lines].map(async ([session, line]) => {
    for (const { seat, permit } of line) {
      const sent = await writeOnce(deps, permit, session);
      if (isTime) inTime.push({ seat, sent });
      else await recordSent(deps, sent);
    }
    if (line.every(({ seat }) => isLast(seat))) session[Symbol.dispose]();
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
  const plain = written.flatMap(({ seat, sent }) => appliedNow(deps, seat, sent, free) ?? []);
  const together = plain.length === 0 ? NOTHING : await tryTogether(deps, written, plain);
  const alone = written.filter(({ sent }) => !together.recorded.has(sent.permit.operation.number));
  requireAll(await Promise.allSettled(alone.map(({ sent }) => recordSent(deps, sent))));
  return written.flatMap(({ seat, sent }) => {
    const permit = together.permits.get(sent.permit.operation.number);
    return permit === undefined ? [] : [{ seat, permit }];
  });
}

const NOTHING = { recorded: new Set<bigint>(), permits: new Map<bigint, Permit>() };

async function tryTogether(deps: Deps, written: readonly Written[], plain: readonly AppliedNow[]) {
  try {
    const { server } = deps.settings;
    const { recorded, permits, awaitReader } = await inTransaction(deps.pool, (tx) =>
      recordTogether(tx, server, plain),
    );
    deps.reach("after_record", written[0]?.sent.permit.operation.standing.kind);
    for (const login of awaitReader) deps.freshDeals.add(login);
    for (const { login } of plain) deps.doorbell.ring(login);
    return { recorded, permits };
  } catch (error) {
    if (isDealTaken(error)) return NOTHING;
    if (!isTransient(error)) throw error;
    // The permits of second legs may stand there; nobody will use them.
    if (error instanceof CommitUnknown) for (const { seat } of written) await undoSecond(deps, seat);
    return NOTHING;
  }
}

async function undoSecond(deps: Deps, { wish, session }: Seat): Promise<void> {
  const recorded = await findTransferByKey(deps.pool, wish.key);
  const legs = recorded === undefined ? [] : await listLegs(deps.pool, recorded.id);
  const second = legs.find(({ leg }) => leg === 2);
  if (second !== undefined) await voidUnsent(deps, second, session);
}

function appliedNow(
  deps: Deps,
  { wish, session }: Seat,
  { permit, outcome }: Sent,
  free: ReadonlySet<CommandSession>,
): AppliedNow | undefined {
  if (outcome.kind !== "applied") return undefined;
  const { operation, attempt } = permit;
  const { number, login } = operation;
  const [first, second] = wish.legs;
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
