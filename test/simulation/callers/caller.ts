import { setTimeout as pause } from "node:timers/promises";
import { refusalFromProto } from "../../../services/kernel/contract/error.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type TransferRequest, type TransferResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { LegKind } from "../../../services/platform/domain/leg-kind.ts";
import type { CallersWatch } from "../checks/watch-callers.ts";
import type { PlatformRowsWatch } from "../checks/watch-platform-rows.ts";
import type { Leg } from "../plan/plan.ts";
import type { Network, Outcome } from "../world/network.ts";
import type { PlatformProcess } from "../world/platform-process.ts";
import type { SubscriptionProcess } from "../world/subscription-process.ts";
import type { SimulatedProcess } from "../world/process.ts";
import type { Random } from "../world/random.ts";

/** A caller that requests transfers. It never crashes, so it repeats a request until the answer is final. */
export type Caller = {
  readonly process: SimulatedProcess;
  readonly network: Network<PlatformProcess>;
  readonly subscriptions: Network<SubscriptionProcess>;
  readonly random: Random;
  readonly watch: CallersWatch;
  readonly accountLocks: Pick<PlatformRowsWatch, "onAcquire" | "onRelease">;
  readonly note: (text: () => string) => void;
  /** Of the permits, in which the amounts of calculated transfers were calculated. */
  readonly generation: bigint;
  /** When the command was recorded: a repeated one keeps its deadline, unless its record is lost. */
  readonly recordedAtMs: number;
  /** The command is repeated because the databases have lost its outcome. */
  readonly isRepeated: boolean;
};

export type Order = {
  readonly key: string;
  readonly legs: readonly Leg[];
  readonly lockOwner?: string;
  readonly isEnqueued?: boolean;
  readonly releasesLock?: boolean;
  readonly floorMinor?: bigint | undefined;
  readonly sendWithinMs?: number | undefined;
  readonly generation?: bigint | undefined;
};

/** The time-out of the services that call platform. */
export const CALL_MS = 10_000;
const MIN_PAUSE_MS = 100;
const MAX_PAUSE_MS = 6_000;
/** The pause grows by this much with each answer that is not final. */
const BACKOFF_MS = 700;
/** Of every deposit and withdrawal, so that a repeated one is equal. */
export const COMMENT = "simulated";
/** Tries of a request that is refused without being recorded. */
const MAX_REFUSALS = 4;
/** A client whose answer was lost with the database repeats its request until operators have resumed. */
const MAX_REPEATED_REFUSALS = 40;
const MAX_BACKOFFS = 8;

const KINDS: Readonly<Record<LegKind, MovementKind>> = {
  deposit: MovementKind.DEPOSIT,
  withdrawal: MovementKind.WITHDRAWAL,
  fee_debit: MovementKind.FEE_DEBIT,
  fee_credit: MovementKind.FEE_CREDIT,
  result: MovementKind.RESULT,
  mirror: MovementKind.MIRROR,
  exit: MovementKind.EXIT,
  reversal: MovementKind.REVERSAL,
};

/** The refusal of a deposit or withdrawal that equals one whose records the database has lost. */
export function isDuplicate(outcome: Outcome<unknown>): boolean {
  return outcome.kind === "refused" && outcome.refusal.code === "possible_duplicate";
}

/** Repeats the key until the answer is final; undefined when the transfer was not recorded, or is in manual review. */
export async function untilFinal(caller: Caller, order: Order): Promise<TransferResult | "duplicate" | undefined> {
  const { process, network, watch, note, random } = caller;
  const maxRefusals = caller.isRepeated ? MAX_REPEATED_REFUSALS : MAX_REFUSALS;
  let request = requestOf(order);
  let refusals = 0;
  for (let tries = 0; ; tries += 1) {
    const outcome = await network.call(process, CALL_MS, ({ service }, context) => service.transfer(request, context));
    note(() => `${order.key}: ${describe(outcome)}`);
    if (outcome.kind === "answer") {
      watch.onAnswer(order.key, outcome.value);
      const { state } = outcome.value;
      if (state === TransferState.APPLIED || state === TransferState.REFUSED) {
        return repeat(caller, order, outcome.value);
      }
      if (state === TransferState.REVIEW) return undefined;
    }
    if (outcome.kind === "refused" && isDuplicate(outcome)) {
      watch.onDuplicate(order.legs[0]!, outcome.refusal);
      return "duplicate";
    }
    if (outcome.kind === "refused") refusals += 1;
    if (refusals >= maxRefusals) return undefined;
    await pause(MIN_PAUSE_MS + Math.min(tries, MAX_BACKOFFS) * BACKOFF_MS + random.next() ** 3 * MAX_PAUSE_MS);
    // A request that was refused is a new one, with a deadline of its own.
    if (outcome.kind === "refused" && order.sendWithinMs !== undefined) request = requestOf(order);
  }
}

/** Sometimes repeats an answered request: the answer has to be the same. */
async function repeat(caller: Caller, order: Order, known: TransferResult): Promise<TransferResult> {
  const { process, network, watch, random } = caller;
  if (!random.chance(0.2)) return known;
  const request = requestOf(order);
  await pause(random.next() * MAX_PAUSE_MS);
  const outcome = await network.call(process, CALL_MS, ({ service }, context) => service.transfer(request, context));
  if (outcome.kind === "answer") watch.onAnswer(order.key, outcome.value);
  return known;
}

/** Like `untilFinal` for many transfers in one call; transfers with a final answer are not sent again. */
export async function untilAllFinal(caller: Caller, orders: readonly Order[]): Promise<void> {
  const { process, network, watch, note, random } = caller;
  let open = orders;
  for (let refusals = 0; open.length > 0 && refusals < MAX_REFUSALS;) {
    const requests = open.map(requestOf);
    const outcome = await network.call(process, CALL_MS, ({ service }, context) =>
      service.transferBatch({ requests }, context),
    );
    const answers = outcome.kind === "answer" ? outcome.value.answers.map(({ answer }) => answer) : [];
    for (const answer of answers) if (answer?.$case === "result") watch.onAnswer(answer.value.key, answer.value);
    note(() => `${open.map(({ key }) => key).join(" ")}: ${answers.map((answer) => answer?.$case).join(" ")}`);
    const known = answers.flatMap((answer) =>
      answer?.$case === "result" && isEnd(answer.value) ? [answer.value.key] : [],
    );
    open = open.filter(({ key }) => !known.includes(key));
    if (answers.some((answer) => answer?.$case === "refusal")) refusals += 1;
    await pause(MIN_PAUSE_MS + random.next() ** 3 * MAX_PAUSE_MS);
  }
}

/** Repeats a chain until the last transfer of it has an outcome, or operators have to decide about one. */
export async function untilChainEnds(caller: Caller, orders: readonly Order[]): Promise<void> {
  const { process, network, watch, note, random } = caller;
  const requests = orders.map(requestOf);
  const maxRefusals = caller.isRepeated ? MAX_REPEATED_REFUSALS : MAX_REFUSALS;
  for (let refusals = 0; refusals < maxRefusals;) {
    const outcome = await network.call(process, CALL_MS, ({ service }, context) =>
      service.transferChain({ requests }, context),
    );
    const answers = outcome.kind === "answer" ? outcome.value.answers.map(({ answer }) => answer) : [];
    note(() => `${orders.map(({ key }) => key).join(" ")}: ${answers.map((answer) => answer?.$case).join(" ")}`);
    for (const answer of answers) if (answer?.$case === "result") watch.onAnswer(answer.value.key, answer.value);
    const last = answers.at(-1);
    const order = orders[answers.length - 1];
    if (last?.$case === "refusal" && last.value.code === "possible_duplicate" && order?.legs[0] !== undefined) {
      return watch.onDuplicate(order.legs[0], refusalFromProto(last.value));
    }
    const hasEnded = last?.$case === "result" && isEnd(last.value);
    if (hasEnded && (answers.length === orders.length || last.value.state === TransferState.REVIEW)) return;
    if (outcome.kind === "refused" || last?.$case === "refusal") refusals += 1;
    await pause(MIN_PAUSE_MS + random.next() ** 3 * MAX_PAUSE_MS);
  }
}

function isEnd({ state }: TransferResult): boolean {
  return state === TransferState.APPLIED || state === TransferState.REFUSED || state === TransferState.REVIEW;
}

function requestOf({
  key,
  legs,
  lockOwner = "",
  isEnqueued = false,
  releasesLock = false,
  floorMinor,
  sendWithinMs,
  generation,
}: Order): TransferRequest {
  return {
    key,
    lockOwner,
    legs: legs.map(({ login, kind, amountMinor }) => ({
      login,
      kind: KINDS[kind],
      amount: { currencyCode: "USD", minorUnits: amountMinor },
    })),
    upTo: floorMinor === undefined ? undefined : { floor: { currencyCode: "USD", minorUnits: floorMinor } },
    enqueue: isEnqueued,
    sendBefore: sendWithinMs === undefined ? undefined : new Date(Date.now() + sendWithinMs),
    generation,
    releaseLock: releasesLock,
    comment: COMMENT,
  };
}

function describe(outcome: Outcome<TransferResult>): string {
  if (outcome.kind !== "answer") return describeRefusal(outcome);
  const { state, refusalCode, legs } = outcome.value;
  const deals = legs.flatMap(({ dealId }) => (dealId === 0n ? [] : [String(dealId)])).join(", ");
  const name = Object.entries(TransferState).find(([, value]) => value === state)?.[0] ?? state;
  return `answered ${name} ${refusalCode}${deals}`;
}

/** The kind of an outcome, with the code of a refusal. */
export function describeRefusal(outcome: Outcome<unknown>): string {
  return outcome.kind === "refused" ? `refused ${outcome.refusal.code}` : outcome.kind;
}
