import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { refuse } from "../refusals.ts";
import { lockAccount, findAccount } from "../store/accounts.ts";
import type { Account } from "../store/accounts.ts";
import { insertOperation, lockOperation } from "../store/operations.ts";
import { insertTransfer } from "../store/transfers.ts";
import { grantPermit } from "./grant-permit.ts";
import type { Asker, PermitAnswer } from "./grant-permit.ts";
import type { OperationNumber } from "./operation-number.ts";
import { neverWaits } from "./transfer-wish.ts";
import type { TransferWish } from "./transfer-wish.ts";

export type InsertedWish = {
  readonly transferId: bigint;
  readonly first: OperationNumber;
  readonly answer: PermitAnswer;
};

/** A wish that must not wait met a busy login. Thrown to undo what was about to be recorded. */
class MustNotWait extends Error {
  override readonly name = "MustNotWait";
  readonly behind: OperationNumber | undefined;

  constructor(behind: OperationNumber | undefined) {
    super("the login is busy");
    this.behind = behind;
  }
}

/** Makes the wish durable and, when the login is free and a session at hand, permits its first leg in the same commit. */
export async function insertWish(
  deps: { readonly pool: Parameters<typeof inTransaction>[0] },
  wish: TransferWish,
  requestId: string,
  asker: Asker | undefined,
): Promise<InsertedWish> {
  try {
    return await inTransaction(deps.pool, (tx) => insertAndAsk(tx, wish, requestId, asker));
  } catch (error) {
    throw error instanceof MustNotWait ? busy(error.behind) : error;
  }
}

async function insertAndAsk(
  tx: Transaction,
  wish: TransferWish,
  requestId: string,
  asker: Asker | undefined,
): Promise<InsertedWish> {
  const [debit] = wish.legs;
  const account = debit && (await lockAccount(tx, debit.login));
  if (account === undefined) throw notManaged(debit?.login ?? "");
  for (const { login } of wish.legs.slice(1)) if ((await findAccount(tx, login)) === undefined) throw notManaged(login);
  requireLane(account, wish);
  const transferId = await insertTransfer(tx, { ...wish, legs: wish.legs.length, requestId });
  const first = await insertLegs(tx, transferId, account, wish);
  const answer: PermitAnswer =
    asker === undefined
      ? { kind: "wait", behind: undefined }
      : await grantPermit(tx, { account, operation: await lockOperation(tx, first) }, asker);
  if (answer.kind === "wait" && neverWaits(wish)) throw new MustNotWait(answer.behind);
  return { transferId, first, answer };
}

/** A story that lost its lane, or never had it, reads its own row again: nothing is recorded here. */
function requireLane({ lane }: Account, { holder }: TransferWish): void {
  if (holder === "" || (lane?.holder === holder && lane.isGranted)) return;
  throw refuse("no_lane", "the holder does not hold the lane of this login", { outcome: "not_executed" });
}

/** A floor cuts both legs alike. With nothing left above it, the wish ends as it is recorded. */
async function insertLegs(
  tx: Transaction,
  transferId: bigint,
  { logBalance }: Account,
  { legs, floorMinor }: TransferWish,
): Promise<OperationNumber> {
  const numbers: OperationNumber[] = [];
  const askedMinor = legs[0]?.amountMinor ?? 0n;
  const cutMinor = floorMinor === undefined ? askedMinor : cut(askedMinor, logBalance.minor - floorMinor);
  for (const [index, { login, kind, amountMinor }] of legs.entries()) {
    const number = await insertOperation(tx, {
      transferId,
      leg: index + 1,
      login,
      kind,
      askedMinor: amountMinor,
      amountMinor: index === 0 ? cutMinor : -cutMinor,
      isReady: index === 0,
      refusal: cutMinor === 0n ? "nothing_to_take" : undefined,
    });
    numbers.push(number);
  }
  const [first] = numbers;
  if (first === undefined) throw new Error("a transfer has at least one leg");
  return first;
}

/** A debit is negative; what is available is what may leave. */
function cut(debitMinor: bigint, availableMinor: bigint): bigint {
  if (availableMinor <= 0n) return 0n;
  return -debitMinor > availableMinor ? -availableMinor : debitMinor;
}

function busy(behind: OperationNumber | undefined): Error {
  return refuse("account_busy", "another movement of this login is under way", {
    outcome: "not_executed",
    operationId: behind === undefined ? undefined : String(behind),
    retryAfterMs: 250,
  });
}

function notManaged(login: string): Error {
  return refuse("login_not_managed", `${login} is not managed by this service`, {
    outcome: "not_executed",
    details: { login },
  });
}
