import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { type Applied, saveApplied } from "../store/save-applied.ts";
import { publishEntries } from "./history/append-to-log.ts";
import { legEntry } from "./history/deal-entries.ts";

export type RecordedAnswers = {
  /** As their rows are now. The caller records the other answers one by one. */
  readonly recorded: readonly RecordedLeg[];
  /** Logins of Masters: only the reader appends their deals to the log. */
  readonly awaitReader: readonly string[];
  /** A leg waits behind one of them, or a credit without an account lock behind its debit. */
  readonly hasNext: boolean;
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
  const byNumber = new Map<bigint, Applied>(answers.map((answer) => [answer.leg.number, answer]));
  const saved = await saveApplied(tx, server, answers);
  const plain = saved.flatMap(({ number, at, ...rest }) => {
    const answer = byNumber.get(number);
    return answer === undefined ? [] : [{ leg: appliedLeg(answer, at), ...rest }];
  });
  const logged = plain.filter(({ role }) => role !== "master");
  publishEntries(
    tx,
    logged.flatMap(({ leg, role, entry }) => {
      const { login, status, changedAt } = leg;
      return entry === undefined ? [] : [{ ...legEntry(leg, status, changedAt), login, role, ...entry }];
    }),
    logged.map(({ leg }) => leg.requestId),
  );
  return {
    recorded: plain.map(({ leg }) => leg),
    hasNext: plain.some(({ leg, hasNext }) => hasNext || (leg.legCount > 1 && leg.lockOwner === "")),
    awaitReader: plain.flatMap(({ role, leg }) => (role === "master" ? leg.login : [])),
  };
}

function appliedLeg({ leg, ticket }: Applied, at: Date): RecordedLeg {
  const status = { ...leg.status, state: "APPLIED", ticket } as const;
  return { ...leg, status, dealId: ticket, appliedAt: at, changedAt: at };
}
