import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { openCase, type Question, renewCase } from "#kernel/review/cases.ts";
import type { Deps } from "../deps.ts";
import { stopForBreak as markStopped } from "../store/masters.ts";
import { isAskedAbout, lockUndecidedCase } from "../store/stop-cases.ts";

/** Begins the subject of every case about a Master whose fees do not tie; its login follows. */
const BREAK = "break:";
/** The first ones are enough to look; all of them are where breaks are listed. */
const MAX_SHOWN = 20;

/** Something that does not tie, as people are told of it. */
export type Mismatch = {
  /** The check or the log that told of it, and what it said. */
  readonly reason: string;
  /** The account on which it shows. */
  readonly account: string;
  /** Cents, never negative; undefined when nobody has computed it yet. */
  readonly atRisk: bigint | undefined;
  readonly dealIds: readonly bigint[];
  readonly operationIds: readonly string[];
  /** What was compared, in plain values. */
  readonly compared: unknown;
};

type Shown = {
  readonly reason: string;
  readonly account: string;
  readonly at_risk_minor: string | null;
  readonly deal_ids: readonly string[];
  readonly operation_ids: readonly string[];
  readonly compared: unknown;
};
type Evidence = { readonly why: string; readonly deal_ids: readonly string[]; readonly breaks: readonly Shown[] };

/**
 * Nothing of a Master's fees goes on until a person has looked. While people decide, what comes to it goes before them too:
 * two people have to mean the same thing. The case is locked before the Master, as by whoever decides.
 */
export async function stopForBreak(
  tx: Transaction,
  { log, now }: Pick<Deps, "log" | "now">,
  login: string,
  seen: Mismatch,
): Promise<void> {
  const about = await lockUndecidedCase(tx, BREAK + login);
  if (about !== undefined) return await tellMore(tx, about, seen, now());
  if (!(await markStopped(tx, login, seen.reason))) return;
  await openCase(tx, questionOf(login, [shown(seen)]), now());
  const { reason } = seen;
  afterCommit(tx, () => log.error("a Master's fees are stopped until a person has looked", { login, reason }));
}

export function isAboutBreak({ subject }: ReviewCase): boolean {
  return subject.startsWith(BREAK);
}

/** The same deal, told by the log and then by a check, is one thing. */
export async function isKnown(tx: Transaction, login: string, dealIds: readonly bigint[]): Promise<boolean> {
  return dealIds.length > 0 && (await isAskedAbout(tx, BREAK + login, dealIds));
}

async function tellMore(tx: Transaction, about: ReviewCase, seen: Mismatch, at: Date): Promise<void> {
  const { breaks } = JSON.parse(about.evidence) as Evidence;
  if (breaks.length >= MAX_SHOWN) return;
  await renewCase(tx, about, questionOf(about.login, [...breaks, shown(seen)]), at);
}

function questionOf(login: string, breaks: readonly Shown[]): Question {
  const evidence: Evidence = {
    why: breaks[0]?.reason ?? "",
    deal_ids: [...new Set(breaks.flatMap((each) => each.deal_ids))],
    breaks,
  };
  const atRisk = breaks.reduce((sum, each) => sum + BigInt(each.at_risk_minor ?? 0), 0n);
  return {
    subject: BREAK + login,
    reason: "fees_do_not_tie",
    login,
    amount: atRisk === 0n ? undefined : atRisk,
    dealId: BigInt(evidence.deal_ids[0] ?? 0),
    evidence,
    actions: ["resume"],
  };
}

function shown({ reason, account, atRisk, dealIds, operationIds, compared }: Mismatch): Shown {
  return {
    reason,
    account,
    at_risk_minor: atRisk === undefined ? null : String(atRisk),
    deal_ids: dealIds.map(String),
    operation_ids: operationIds,
    compared,
  };
}
