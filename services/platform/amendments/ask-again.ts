import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { openCase } from "#kernel/review/cases.ts";
import type { Deps } from "../deps.ts";
import { reviewActions } from "../domain/review-actions.ts";
import type { Deal } from "../mt5/deals.ts";
import { lockAccount } from "../store/accounts.ts";
import { readClock } from "../store/clock.ts";
import { listAmendedDeals, isBeforePeople } from "../store/amendments.ts";
import { readBetween } from "../protocol/history/read-between.ts";
import { type Correction, type CorrectionSight, findMisfit, planCorrections } from "./plan-corrections.ts";
import { evidenceOf } from "./recorded-deal.ts";
import { type Amendment, reportAmendments } from "./report-amendments.ts";

/** Each is asked for by its ticket; the newest ones. */
const MAX_DEALS = 100;

/**
 * Asks people about deals of an account that would make its log say what it shows, and about which nobody is asked. What
 * they were not told about the deal as it is corrected now is told like the first time.
 */
export async function askAgain(deps: Deps, login: string): Promise<void> {
  const { pool, settings } = deps;
  const { server } = settings;
  const facts = await readBetween(deps, login);
  const shown = new Map<bigint, Deal | undefined>();
  for (const ticket of await listAmendedDeals(pool, server, login, MAX_DEALS)) {
    shown.set(ticket, await deps.mt5.getDeal(ticket));
  }
  const sight = { server, facts, shown };
  const due = await inTransaction(pool, (tx) => listDue(tx, login, sight));
  await reportAmendments(
    deps,
    due.map((each) => amendmentOf(login, each, shown)),
  );
  await inTransaction(pool, async (tx) => {
    for (const each of await listDue(tx, login, sight)) await openUnlessAsked(tx, login, each);
  });
}

type Due = Correction & { readonly ticket: bigint };

/** Corrections by which the log and the account would say the same. */
async function listDue(tx: Transaction, login: string, sight: CorrectionSight): Promise<Due[]> {
  const account = await lockAccount(tx, login);
  if (account?.logNumber !== sight.facts.account.logNumber) return [];
  const plans = await planCorrections(tx, login, sight);
  const due = [...plans].map(([ticket, plan]) => ({ ...plan, ticket })).filter(({ difference }) => !difference.isNone);
  return (await findMisfit(tx, account, sight.facts, due)) === undefined ? due : [];
}

function amendmentOf(login: string, { ticket, told, difference }: Due, shown: CorrectionSight["shown"]): Amendment {
  const deal = shown.get(ticket);
  const at = told?.deal.at ?? deal?.at ?? new Date(0);
  return { login, ticket, at, told: told?.deal, shown: deal, amendment: difference.becomes, differences: [] };
}

async function openUnlessAsked(
  tx: Transaction,
  login: string,
  { ticket: dealId, told, difference }: Due,
): Promise<void> {
  const actions = reviewActions(difference.becomes, undefined);
  if (await isBeforePeople(tx, login, dealId)) return;
  const subject = `changed:${login}:${dealId}`;
  const question = { subject, reason: difference.becomes, login, dealId, amount: told?.deal.amountMinor, actions };
  await openCase(tx, { ...question, evidence: evidenceOf(difference) }, new Date(await readClock(tx)));
}
