import type { Transaction } from "#kernel/postgres/transaction.ts";
import { verificationDelayMs } from "../domain/next-scan.ts";
import { type Account, lockAccounts } from "../store/accounts.ts";
import { releaseLocks } from "../store/account-locks.ts";
import { saveApplied } from "../store/leg-transitions.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { readyNextLegs } from "../store/transfers.ts";
import { appendToLogs } from "./history/append-to-log.ts";
import { legEntry } from "./history/deal-entries.ts";

/** The platform applied an attempt of the leg, and its answer was read whole. Every ticket of a batch is another one. */
export type Applied = { readonly leg: RecordedLeg; readonly attempt: number; readonly ticket: bigint };

export type RecordedAnswers = {
  /** As their rows are now. The caller records the other answers one by one. */
  readonly recorded: readonly RecordedLeg[];
  /** Logins of Masters: only the reader appends their deals to the log. */
  readonly awaitReader: readonly string[];
};

/**
 * Records many answers in one commit: only the plain case, in which the leg waits for this answer and no other leg or log
 * entry has the deal.
 */
export async function recordApplied(
  tx: Transaction,
  server: string,
  answers: readonly Applied[],
): Promise<RecordedAnswers> {
  const accounts = await lockAccounts(tx, [...new Set(answers.map(({ leg }) => leg.login))]);
  const timed = answers.flatMap((answer) => {
    const account = accounts.get(answer.leg.login);
    return account === undefined ? [] : [{ ...answer, account, number: answer.leg.number, at: account.seenAt }];
  });
  const saved = await saveApplied(tx, { server, nextScanInMs: verificationDelayMs(0) }, timed);
  const plain = timed
    .filter(({ leg }) => saved.has(leg.number))
    .map(({ account, ...answer }) => ({ account, leg: appliedLeg(answer) }));
  await appendToLogs(tx, server, plain.filter(({ account }) => account.role !== "master").map(factOf));
  const releasing = plain.flatMap(({ leg }) => (leg.releasesLock ? leg : []));
  if (releasing.length > 0) await releaseLocks(tx, releasing);
  const debits = plain.filter(({ leg }) => leg.ordinal === 1 && leg.legCount === 2);
  if (debits.length > 0) {
    await readyNextLegs(
      tx,
      debits.map(({ leg }) => leg.transferId),
    );
  }
  return {
    recorded: plain.map(({ leg }) => leg),
    awaitReader: plain.flatMap(({ account, leg }) => (account.role === "master" ? leg.login : [])),
  };
}

function appliedLeg({ leg, ticket, at }: Applied & { readonly at: Date }): RecordedLeg {
  const status = { ...leg.status, state: "APPLIED", ticket } as const;
  return { ...leg, status, dealId: ticket, appliedAt: at, changedAt: at };
}

function factOf({ account, leg }: { readonly account: Account; readonly leg: RecordedLeg }) {
  return { account, entry: legEntry(leg, leg.status, account.seenAt), requestId: leg.requestId };
}
