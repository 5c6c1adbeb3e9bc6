import { setTimeout as sleep } from "node:timers/promises";
import { callContext } from "#kernel/contract/context.ts";
import type { Client } from "#kernel/contract/contract.ts";
import { Refusal } from "#kernel/refusal.ts";
import { AccountRole, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import {
  type PlatformServiceService,
  type TransferRequest,
  type TransferResult,
  TransferState,
} from "#proto/pamm/platform/v1/platform.ts";
import { aTransfer, type LegOrder } from "../../../services/platform/testing/requests.ts";
import { type Random, randomOf } from "../support/random.ts";
import { recordedTransfer } from "../../../services/platform/testing/recorded-transfer.ts";

export type Service = Client<PlatformServiceService>;

/** One transfer request with all its answers, until it is settled. */
export type AnsweredTransfer = {
  readonly request: TransferRequest;
  readonly answers: TransferResult[];
  /** It waits until a transfer in manual review is decided. */
  isBlocked: boolean;
};

const { APPLIED, REFUSED, REVIEW, UNKNOWN } = TransferState;
const { DEPOSIT, WITHDRAWAL, FEE_DEBIT, FEE_CREDIT, RESULT, MIRROR, EXIT } = MovementKind;
const SETTLED = new Set<TransferState>([APPLIED, REFUSED, REVIEW]);

const CALL_MS = 8_000;
/** Absence takes permit, time-out and quiet period, and an internal transfer is tried three times. */
const TIMEOUT_MS = 150_000;
const FIRST_DEPOSIT_MINOR = 5_000_00n;
const MAX_TRANSFERS = 3;

/** Each amount occurs once in a run, so that a deal identifies its request. */
export type Amounts = () => bigint;

export type Accounts = { readonly investor: string; readonly master: string; readonly payments: readonly string[] };

/** A first deposit, then random transfers, sequential or concurrent. */
export async function runTransfers(
  service: Service,
  accounts: Accounts,
  id: string,
  next: Amounts,
): Promise<AnsweredTransfer[]> {
  const random = randomOf(id);
  const session: Session = { service, random, inReview: new Set() };
  const deposit = { login: accounts.investor, kind: DEPOSIT, minor: FIRST_DEPOSIT_MINOR + next() };
  const answered = [await repeatUntilSettled(session, aTransfer(`funding:deposit:${id}:0`, [deposit]))];
  const requests = Array.from({ length: 1 + random.below(MAX_TRANSFERS) }, (_, index) => {
    const { legs, ...own } = aRequest(accounts, random, 1_00n + next());
    const comment = index % 2 === 0 ? `CRM ${index + 1}` : "";
    return aTransfer(`${ownerOfLegs(legs)}:${id}:${index + 1}`, legs, { ...own, comment });
  });
  if (random.chance(50)) {
    return [...answered, ...(await Promise.all(requests.map((one) => repeatUntilSettled(session, one))))];
  }
  for (const request of requests) answered.push(await repeatUntilSettled(session, request));
  return answered;
}

/** Only the service that requests such movements may. */
function ownerOfLegs([first]: readonly LegOrder[]): string {
  if (first?.kind === DEPOSIT) return "funding";
  return first?.kind === FEE_DEBIT ? "fee" : "subscription";
}

type Request = { readonly legs: readonly LegOrder[]; readonly sendBefore?: Date; readonly enqueue?: boolean };

function aRequest({ investor, master, payments }: Accounts, random: Random, minor: bigint): Request {
  const payment = random.pick(payments);
  switch (random.below(7)) {
    case 0:
      return { legs: [{ login: investor, kind: DEPOSIT, minor }], sendBefore: new Date(Date.now() + 4_000) };
    case 1:
      return { legs: [{ login: investor, kind: WITHDRAWAL, minor: -minor }] };
    case 2:
      return { legs: [{ login: master, kind: MIRROR, minor }], enqueue: true };
    case 3:
      return { legs: [{ login: master, kind: EXIT, minor: -minor }], enqueue: random.chance(50) };
    case 4:
      return { legs: [{ login: investor, kind: RESULT, minor: random.chance(50) ? minor : -minor }] };
    default: {
      const debit = { login: investor, kind: FEE_DEBIT, minor: -minor };
      return { legs: [debit, { login: payment, kind: FEE_CREDIT, minor }] };
    }
  }
}

/** `inReview`: logins with a transfer in manual review. */
type Session = { readonly service: Service; readonly random: Random; readonly inReview: Set<string> };

/** Repeats the request until its outcome is known, as every caller does, and keeps all answers. */
async function repeatUntilSettled(
  { service, random, inReview }: Session,
  request: TransferRequest,
): Promise<AnsweredTransfer> {
  const answered: AnsweredTransfer = { request, answers: [], isBlocked: false };
  const login = request.legs[0]?.login ?? "";
  for (const until = Date.now() + TIMEOUT_MS; Date.now() < until; await sleep(200 + random.below(600))) {
    const isRepeated = answered.answers.length === 0 || random.chance(30);
    try {
      const answer = isRepeated
        ? await service.transfer(request, call())
        : await recordedTransfer(service, request.key, call());
      answered.answers.push(answer);
      for (const { login, state } of answer.legs) if (state === REVIEW) inReview.add(login);
      if (SETTLED.has(answer.state)) return answered;
    } catch (error) {
      requireNoAnswer(error);
    }
    answered.isBlocked = answered.answers.at(-1)?.state !== UNKNOWN && inReview.has(login);
    if (answered.isBlocked) return answered;
  }
  return answered;
}

/** An internal error must not claim that nothing was executed. */
function requireNoAnswer(error: unknown): void {
  if (!(error instanceof Refusal) || (error.code === "internal" && error.outcome !== "unknown")) throw error;
}

function call() {
  return callContext({ caller: "fuzz", withinMs: CALL_MS, commandId: crypto.randomUUID() });
}

export async function createAccount(
  service: Service,
  role: "master" | "investor" | "payment",
  id: string,
): Promise<string> {
  const roles = { master: AccountRole.MASTER, investor: AccountRole.INVESTOR, payment: AccountRole.PAYMENT };
  const request = {
    key: `fuzz:account:${role}:${id}`,
    role: roles[role],
    group: `pamm\\${role}`,
    firstName: "Ann",
    lastName: id,
    email: "ann@example.com",
    leverage: 100,
    mainPassword: "Main#2026pw",
    investorPassword: "View#2026pw",
  };
  for (const until = Date.now() + TIMEOUT_MS; ; await sleep(100)) {
    try {
      return (await service.createAccount(request, call())).login;
    } catch (error) {
      requireNoAnswer(error);
      if (Date.now() > until) throw error;
    }
  }
}
