import type { Transaction } from "#kernel/postgres/transaction.ts";
import { dealLookMs } from "../domain/deal-looks.ts";
import { type Account, lockAccounts } from "../store/accounts.ts";
import { insertAttempts, type NewAttempt } from "../store/attempts.ts";
import { listExplainedDeals } from "../store/explained-deals.ts";
import { lockOperations, lockReadyCredits } from "../store/operations.ts";
import { saveApplied, saveSending } from "../store/operation-steps.ts";
import type { RecordedOperation } from "../store/operation-row.ts";
import { readyNextLegs } from "../store/transfers.ts";
import { appendToLogs } from "./history/append-to-log.ts";
import { operationEntry } from "./history/deal-entries.ts";
import { type Asker, newAttempt, type Permit } from "./grant-permit.ts";
import { step } from "../domain/operation-machine.ts";

/** An operation that the platform has just applied, and who sent it. */
export type AppliedNow = {
  readonly number: bigint;
  readonly login: string;
  readonly attempt: number;
  readonly ticket: bigint;
  /** Where the leg that follows is, and who would send it at once; undefined when nobody would. */
  readonly next: { readonly login: string; readonly asker: Asker } | undefined;
};

export type RecordedTogether = {
  /** Numbers of those that are recorded. The others are for the way that treats each on its own. */
  readonly recorded: ReadonlySet<bigint>;
  /** Permits of the legs that follow, by the number of the leg before. */
  readonly permits: ReadonlyMap<bigint, Permit>;
  /** Masters, whose logs only the reader adds to. */
  readonly awaitReader: readonly string[];
};

type Step = { readonly applied: AppliedNow; readonly operation: RecordedOperation; readonly account: Account };

/**
 * Records many answers in one commit: the plain case only, in which the operation stands where its answer expects it and
 * the deal is nobody else's. The credits that follow get their permits in the same commit.
 */
export async function recordTogether(
  tx: Transaction,
  server: string,
  answers: readonly AppliedNow[],
): Promise<RecordedTogether> {
  const logins = answers.flatMap(({ login, next }) => (next === undefined ? [login] : [login, next.login]));
  const accounts = await lockAccounts(tx, [...new Set(logins)]);
  const plain = await plainSteps(tx, server, answers, accounts);
  const applied = plain.map((each) => each.applied);
  const timed = plain.map((each) => ({ ...each.applied, at: each.account.seenAt }));
  await saveApplied(tx, { server, nextScanInMs: dealLookMs(0) }, timed);
  const [unlogged, logged] = partition(plain, ({ account }) => account.role === "master");
  await appendToLogs(tx, server, logged.map(factOf));
  return {
    recorded: new Set(applied.map(({ number }) => number)),
    permits: await permitCredits(tx, plain),
    awaitReader: unlogged.map(({ account }) => account.login),
  };
}

async function plainSteps(
  tx: Transaction,
  server: string,
  answers: readonly AppliedNow[],
  accounts: ReadonlyMap<string, Account>,
): Promise<Step[]> {
  const tickets = answers.map(({ ticket }) => ticket);
  const operations = await lockOperations(
    tx,
    answers.map(({ number }) => number),
  );
  const byNumber = new Map<bigint, RecordedOperation>(operations.map((operation) => [operation.number, operation]));
  const explained = await listExplainedDeals(tx, server, tickets);
  return answers.flatMap((applied) => {
    const { number, attempt, ticket, login } = applied;
    const operation = byNumber.get(number);
    const account = accounts.get(login);
    const isOnlyHere = tickets.indexOf(ticket) === tickets.lastIndexOf(ticket) && !explained.has(ticket);
    if (operation === undefined || account === undefined || !isOnlyHere || operation.dealId !== undefined) return [];
    const next = step(operation.status, { type: "applied", attempt, ticket });
    return next.kind === "move" && next.to.state === "APPLIED" ? [{ applied, operation, account }] : [];
  });
}

function factOf({ applied, operation, account }: Step) {
  const status = { ...operation.status, state: "APPLIED", ticket: applied.ticket } as const;
  return { account, entry: operationEntry(operation, status, account.seenAt), requestId: operation.requestId };
}

/** What grants a permit to a leg of its own, for many: none of these stands in a line, and each is locked. */
async function permitCredits(tx: Transaction, steps: readonly Step[]): Promise<ReadonlyMap<bigint, Permit>> {
  const debits = steps.filter(({ operation }) => operation.legs === 2 && operation.leg === 1);
  const permits = new Map<bigint, Permit>();
  if (debits.length === 0) return permits;
  const byTransfer = new Map(debits.map(({ applied, operation }) => [operation.transferId, applied]));
  await readyNextLegs(tx, [...byTransfer.keys()]);
  const wanted = debits.filter(({ applied }) => applied.next !== undefined);
  const attempts: NewAttempt[] = [];
  const sending: RecordedOperation[] = [];
  for (const operation of await lockReadyCredits(
    tx,
    wanted.map((debit) => debit.operation.transferId),
  )) {
    const debit = byTransfer.get(operation.transferId);
    const next = step(operation.status, { type: "permit_granted" });
    if (debit?.next === undefined || next.kind !== "move" || next.to.state !== "SENDING") continue;
    const { kind, attempt } = next.to;
    const { asker } = debit.next;
    sending.push(operation);
    attempts.push(newAttempt({ kind, number: operation.number, attempt }, asker));
    permits.set(debit.number, { operation, attempt, grantedAtMs: asker.grantedAtMs });
  }
  if (sending.length === 0) return permits;
  await saveSending(tx, sending);
  await insertAttempts(tx, attempts);
  return permits;
}

function partition<T>(all: readonly T[], isFirst: (each: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((each) => !isFirst(each))];
}
