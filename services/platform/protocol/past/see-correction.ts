import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { findCase, lockCase, renewCase } from "#kernel/review/cases.ts";
import { actionNotPossible } from "#kernel/review/refusals.ts";
import type { Deps } from "../../deps.ts";
import type { Deal } from "../../mt5/deals.ts";
import { lockAccount } from "../../store/accounts.ts";
import { readClock } from "../../store/clock.ts";
import { listUncorrected } from "../../store/amendments.ts";
import { requireSame } from "./correct-log.ts";
import { evidenceOf, isAbout } from "./correction-evidence.ts";
import { planCorrections } from "./plan-corrections.ts";
import type { CorrectionSight } from "./plan-corrections.ts";
import { readBetween } from "../history/read-between.ts";
import { orUnavailable } from "../unavailable.ts";

/** Each is asked for by its ticket. Who has lost more than so many deals puts the platform's history right instead. */
const MOST_DEALS = 100;

export const CORRECT_LOG = "correct_log";

/**
 * Asks the platform what the account and its deals are now, before a word about a correction is taken. Undefined when the
 * review is not about one. A question whose answer is another one by now is asked anew, and the word is refused.
 */
export async function seeCorrection(deps: Deps, reviewId: bigint): Promise<CorrectionSight | undefined> {
  const about = await findCase(deps.pool, reviewId);
  if (about === undefined || !isOpen(about)) return undefined;
  const { server } = deps.settings;
  const facts = await readBetween(deps, about.login);
  const tickets = await listUncorrected(deps.pool, server, about.login, MOST_DEALS + 1);
  if (tickets.length > MOST_DEALS) {
    throw actionNotPossible(`more than ${MOST_DEALS} deals of ${about.login} are others than they were told`);
  }
  const shown = new Map<bigint, Deal | undefined>();
  for (const ticket of new Set([about.dealId, ...tickets])) {
    shown.set(ticket, await orUnavailable(deps.mt5.getDeal(ticket)));
  }
  const sight = { server, facts, shown };
  await renewIfOther(deps, about.id, sight);
  return sight;
}

function isOpen({ progress, actions }: ReviewCase): boolean {
  return (progress.state === "OPEN" || progress.state === "PROPOSED") && actions.includes(CORRECT_LOG);
}

/** In a commit of its own: the refusal that follows must not take the new question back. */
async function renewIfOther({ pool }: Deps, reviewId: bigint, sight: CorrectionSight): Promise<void> {
  const renewed = await inTransaction(pool, async (tx) => {
    const about = await lockCase(tx, reviewId);
    if (about === undefined || !isOpen(about)) return undefined;
    await lockAccount(tx, about.login);
    const difference = (await planCorrections(tx, about.login, sight)).get(about.dealId)?.difference;
    if (difference === undefined || difference.isNone || isAbout(about.evidence, difference)) return undefined;
    const known = JSON.parse(about.evidence) as Readonly<Record<string, unknown>>;
    const { amount, ...question } = about;
    const evidence = { ...known, ...evidenceOf(difference) };
    await renewCase(tx, about, { ...question, amount: amount ?? undefined, evidence }, new Date(await readClock(tx)));
    return { about, difference };
  });
  if (renewed !== undefined) requireSame(renewed.about, renewed.difference);
}
