import type { Transaction } from "#kernel/postgres/transaction.ts";
import { verificationDelayMs } from "../domain/next-scan.ts";
import { type Account, lockAccounts } from "../store/accounts.ts";
import { insertAttempts, type NewAttempt } from "../store/attempts.ts";
import { listExplainedDeals } from "../store/explained-deals.ts";
import { lockLegs, lockReadyCredits } from "../store/legs.ts";
import { saveApplied, saveSending } from "../store/leg-transitions.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { readyNextLegs } from "../store/transfers.ts";
import { appendToLogs } from "./history/append-to-log.ts";
import { legEntry } from "./history/deal-entries.ts";
import { type PermitHolder, newAttempt, type Permit } from "./grant-permit.ts";
import { applyEvent } from "../domain/leg-machine.ts";

/** A leg that the platform has just applied. */
export type AppliedNow = {
  readonly number: bigint;
  readonly login: string;
  readonly attempt: number;
  readonly ticket: bigint;
  /** Login of the next leg and the sender that would send it at once; undefined when no session is free or no leg follows. */
  readonly next: { readonly login: string; readonly permitHolder: PermitHolder } | undefined;
};

export type RecordedTogether = {
  /** Numbers of the recorded legs. The caller records the others one by one. */
  readonly recorded: ReadonlySet<bigint>;
  /** Permits of the next legs, by the number of the leg before. */
  readonly permits: ReadonlyMap<bigint, Permit>;
  /** Logins of Masters: only the reader appends their deals to the log. */
  readonly awaitReader: readonly string[];
};

type PlainAnswer = { readonly applied: AppliedNow; readonly leg: RecordedLeg; readonly account: Account };

/**
 * Records many answers in one commit: only the plain case, in which the leg waits for this answer and no other
 * leg or log entry has the deal. The credits that follow get their permits in the same commit.
 */
export async function recordTogether(
  tx: Transaction,
  server: string,
  answers: readonly AppliedNow[],
): Promise<RecordedTogether> {
  const logins = answers.flatMap(({ login, next }) => (next === undefined ? [login] : [login, next.login]));
  const accounts = await lockAccounts(tx, [...new Set(logins)]);
  const plain = await findPlainAnswers(tx, server, answers, accounts);
  const applied = plain.map((each) => each.applied);
  const timed = plain.map((each) => ({ ...each.applied, at: each.account.seenAt }));
  await saveApplied(tx, { server, nextScanInMs: verificationDelayMs(0) }, timed);
  const [unlogged, logged] = partition(plain, ({ account }) => account.role === "master");
  await appendToLogs(tx, server, logged.map(factOf));
  return {
    recorded: new Set(applied.map(({ number }) => number)),
    permits: await permitCredits(tx, plain),
    awaitReader: unlogged.map(({ account }) => account.login),
  };
}

async function findPlainAnswers(
  tx: Transaction,
  server: string,
  answers: readonly AppliedNow[],
  accounts: ReadonlyMap<string, Account>,
): Promise<PlainAnswer[]> {
  const tickets = answers.map(({ ticket }) => ticket);
  const legs = await lockLegs(
    tx,
    answers.map(({ number }) => number),
  );
  const byNumber = new Map<bigint, RecordedLeg>(legs.map((leg) => [leg.number, leg]));
  const explained = await listExplainedDeals(tx, server, tickets);
  return answers.flatMap((applied) => {
    const { number, attempt, ticket, login } = applied;
    const leg = byNumber.get(number);
    const account = accounts.get(login);
    const isUnbooked = tickets.indexOf(ticket) === tickets.lastIndexOf(ticket) && !explained.has(ticket);
    if (leg === undefined || account === undefined || !isUnbooked || leg.dealId !== undefined) return [];
    const next = applyEvent(leg.status, { type: "applied", attempt, ticket });
    return next.kind === "move" && next.to.state === "APPLIED" ? [{ applied, leg, account }] : [];
  });
}

function factOf({ applied, leg, account }: PlainAnswer) {
  const status = { ...leg.status, state: "APPLIED", ticket: applied.ticket } as const;
  return { account, entry: legEntry(leg, status, account.seenAt), requestId: leg.requestId };
}

/** Like `grantPermit` for many locked credits, which wait in no queue. */
async function permitCredits(tx: Transaction, answers: readonly PlainAnswer[]): Promise<ReadonlyMap<bigint, Permit>> {
  const debits = answers.filter(({ leg }) => leg.legCount === 2 && leg.ordinal === 1);
  const permits = new Map<bigint, Permit>();
  if (debits.length === 0) return permits;
  const byTransfer = new Map(debits.map(({ applied, leg }) => [leg.transferId, applied]));
  await readyNextLegs(tx, [...byTransfer.keys()]);
  const wanted = debits.filter(({ applied }) => applied.next !== undefined);
  const attempts: NewAttempt[] = [];
  const sending: RecordedLeg[] = [];
  for (const leg of await lockReadyCredits(
    tx,
    wanted.map((debit) => debit.leg.transferId),
  )) {
    const debit = byTransfer.get(leg.transferId);
    const next = applyEvent(leg.status, { type: "permit_granted" });
    if (debit?.next === undefined || next.kind !== "move" || next.to.state !== "SENDING") continue;
    const { kind, attempt } = next.to;
    const { permitHolder } = debit.next;
    sending.push(leg);
    attempts.push(newAttempt({ kind, number: leg.number, attempt }, permitHolder));
    permits.set(debit.number, { leg, attempt, grantedAtMs: permitHolder.grantedAtMs });
  }
  if (sending.length === 0) return permits;
  await saveSending(tx, sending);
  await insertAttempts(tx, attempts);
  return permits;
}

function partition<T>(all: readonly T[], isFirst: (each: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((each) => !isFirst(each))];
}
