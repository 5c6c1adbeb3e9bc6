import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Refusal } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";
import { listRoles, lockAccounts } from "../store/accounts.ts";
import type { Account } from "../store/accounts.ts";
import { insertAttempts } from "../store/attempts.ts";
import { findObstacles } from "../store/lines.ts";
import { insertOperations } from "../store/operation-steps.ts";
import type { NewOperation } from "../store/operation-steps.ts";
import { insertTransfers } from "../store/transfers.ts";
import type { InsertedTransfer, Transfer } from "../store/transfers.ts";
import { isAdmitted, newAttempt } from "./grant-permit.ts";
import type { Asker, Permit } from "./grant-permit.ts";
import { OPERATION_KINDS } from "../domain/operation-kind.ts";
import type { OperationNumber } from "../domain/operation-number.ts";
import { step } from "../domain/operation-machine.ts";
import { neverWaits } from "./transfer-wish.ts";
import type { TransferWish, WishedLeg } from "./transfer-wish.ts";

export type NewWish = {
  readonly wish: TransferWish;
  readonly requestId: string;
  /** Who would send it at once; undefined when nobody can, or nobody is to. */
  readonly asker: Asker | undefined;
};

export type WishAnswer =
  /** It is durable; with a permit when its login was free. */
  | { readonly kind: "recorded"; readonly transfer: Transfer; readonly permit: Permit | undefined }
  /** Nothing was recorded. */
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** Its key was recorded meanwhile: that wish is the one. */
  | { readonly kind: "taken" };

type Judged = NewWish & { readonly debit: WishedLeg; readonly account: Account; readonly isFree: boolean };

/**
 * Makes wishes durable and, where the login is free and a session at hand, permits the first leg in the same commit. The
 * accounts are locked, so what is decided here stays true; the first legs are on different logins.
 */
export async function insertWishes(tx: Transaction, wishes: readonly NewWish[]): Promise<WishAnswer[]> {
  const judged = await judgeAll(tx, wishes);
  const accepted = judged.filter((each): each is Judged => !("refusal" in each));
  const inserted = await insertTransfers(
    tx,
    accepted.map(({ wish, requestId }) => ({ ...wish, legs: wish.legs.length, requestId })),
  );
  const recorded = accepted.flatMap((each) => {
    const transfer = inserted.get(each.wish.key);
    return transfer === undefined ? [] : [{ ...each, transfer, legs: legsOf(each, transfer) }];
  });
  const numbers = await insertOperations(
    tx,
    recorded.flatMap(({ legs }) => legs),
  );
  const permits = permitsOf(recorded, numbers);
  const attempts = [...permits.values()].map(({ permit, asker }) =>
    newAttempt({ kind: permit.operation.standing.kind, number: permit.operation.number, attempt: 1 }, asker),
  );
  if (attempts.length > 0) await insertAttempts(tx, attempts);
  return judged.map((each) => {
    if ("refusal" in each) return { kind: "refused", refusal: each.refusal };
    const { key, holder, isEnqueued } = each.wish;
    const id = inserted.get(key)?.id;
    if (id === undefined) return { kind: "taken" };
    return { kind: "recorded", transfer: { id, key, holder, isEnqueued }, permit: permits.get(key)?.permit };
  });
}

async function judgeAll(
  tx: Transaction,
  wishes: readonly NewWish[],
): Promise<(Judged | { readonly refusal: Refusal })[]> {
  const debits = wishes.flatMap(({ wish }) => wish.legs[0]?.login ?? []);
  const accounts = await lockAccounts(tx, debits);
  const credits = wishes.flatMap(({ wish }) => wish.legs.slice(1).map(({ login }) => login));
  const managed = credits.length === 0 ? new Map() : await listRoles(tx, credits);
  const obstacles = await findObstacles(tx, [...accounts.values()]);
  return wishes.map((each) => {
    const { wish, asker } = each;
    const [debit, ...rest] = wish.legs;
    const account = debit && accounts.get(debit.login);
    if (debit === undefined || account === undefined) return { refusal: notManaged(debit?.login ?? "") };
    const unmanaged = rest.find(({ login }) => !managed.has(login));
    if (unmanaged !== undefined) return { refusal: notManaged(unmanaged.login) };
    if (!hasLane(account, wish)) return { refusal: noLane() };
    const behind = obstacles.get(debit.login);
    const isExclusive = OPERATION_KINDS[debit.kind].exclusive;
    const isBusy = isExclusive && (account.isBeingRead || !isAdmitted(account, wish) || behind !== undefined);
    if (isBusy && neverWaits(wish)) return { refusal: busy(behind) };
    return { ...each, debit, account, isFree: !isBusy && asker !== undefined };
  });
}

/** A story that lost its lane, or never had it, reads its own row again: nothing is recorded here. */
function hasLane({ lane }: Account, { holder }: TransferWish): boolean {
  return holder === "" || (lane?.holder === holder && lane.isGranted);
}

/** A floor cuts both legs alike. With nothing left above it, the wish ends as it is recorded. */
function legsOf({ wish, account, isFree }: Judged, { id: transferId, isLate }: InsertedTransfer): NewOperation[] {
  const cutMinor = cutOf(wish, account);
  return wish.legs.map(({ login, kind, amountMinor: askedMinor }, index) => {
    const isFirst = index === 0;
    const wished = { kind, attempt: 0, absences: 0, state: "INTENT" } as const;
    const amountMinor = isFirst ? cutMinor : -cutMinor;
    const isPermitted = isFirst && isFree;
    const standing = standingOf(wished, { isNothing: cutMinor === 0n, isLate, isPermitted });
    return { transferId, leg: index + 1, login, askedMinor, amountMinor, isReady: isFirst, standing };
  });
}

type Fate = { readonly isNothing: boolean; readonly isLate: boolean; readonly isPermitted: boolean };

function standingOf(
  wished: Extract<NewOperation["standing"], { state: "INTENT" }>,
  { isNothing, isLate, isPermitted }: Fate,
): NewOperation["standing"] {
  if (isNothing) return { ...wished, state: "REFUSED", reason: "nothing_to_take" };
  if (isLate) return { ...wished, state: "REFUSED", reason: "expired" };
  const next = isPermitted ? step(wished, { type: "permit_granted" }) : undefined;
  return next?.kind === "move" && next.to.state === "SENDING" ? next.to : wished;
}

function cutOf({ legs, floorMinor }: TransferWish, { logBalance }: Account): bigint {
  const askedMinor = legs[0]?.amountMinor ?? 0n;
  return floorMinor === undefined ? askedMinor : cut(askedMinor, logBalance.minor - floorMinor);
}

/** A debit is negative; what is available is what may leave. */
function cut(debitMinor: bigint, availableMinor: bigint): bigint {
  if (availableMinor <= 0n) return 0n;
  return -debitMinor > availableMinor ? -availableMinor : debitMinor;
}

type Recorded = Judged & { readonly legs: readonly NewOperation[] };

/** By key, with who asked for it. The numbers are those of all legs, one after the other. */
function permitsOf(
  recorded: readonly Recorded[],
  numbers: readonly OperationNumber[],
): ReadonlyMap<string, { readonly permit: Permit; readonly asker: Asker }> {
  const permits = new Map<string, { permit: Permit; asker: Asker }>();
  let place = 0;
  for (const { wish, legs, asker } of recorded) {
    const [first] = legs;
    const number = numbers[place];
    place += legs.length;
    if (first?.standing.state !== "SENDING" || asker === undefined || number === undefined) continue;
    const { login, amountMinor, standing } = first;
    const operation = { number, login, amountMinor, comment: wish.comment, standing };
    permits.set(wish.key, { permit: { operation, attempt: 1, grantedAtMs: asker.grantedAtMs }, asker });
  }
  return permits;
}

function busy(behind: OperationNumber | undefined): Refusal {
  return refuse("account_busy", "Another movement on this account is in progress. Retry shortly.", {
    outcome: "not_executed",
    operationId: behind === undefined ? undefined : String(behind),
    retryAfterMs: 250,
  });
}

function noLane(): Refusal {
  return refuse("no_lane", "The caller does not hold the lock of this account.", { outcome: "not_executed" });
}

function notManaged(login: string): Refusal {
  return refuse("login_not_managed", `Account ${login} is not managed by this service.`, {
    outcome: "not_executed",
    details: { login },
  });
}
