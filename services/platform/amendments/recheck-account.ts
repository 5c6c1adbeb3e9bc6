import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { openCase } from "#kernel/review/cases.ts";
import type { Deps } from "../deps.ts";
import { reviewActions } from "../domain/review-actions.ts";
import type { Deal } from "../mt5/deals.ts";
import { lockAccount } from "../store/accounts.ts";
import { readClock } from "../store/clock.ts";
import { listAmendedDeals, isInManualReview } from "../store/amendments.ts";
import { readBetweenLegs } from "../protocol/history/read-between-legs.ts";
import {
  type Correction,
  type CorrectionView,
  findMisfit,
  MAX_AMENDED_DEALS,
  planCorrections,
} from "./plan-corrections.ts";
import { evidenceOf } from "./recorded-deal.ts";
import { type Amendment, reportAmendments } from "./report-amendments.ts";

/**
 * Opens a review for each amended deal whose correction would make the log equal to the account, unless one is open. An
 * amendment of a corrected deal that was not reported yet is reported first.
 */
export async function recheckAccount(deps: Deps, login: string): Promise<void> {
  const { pool, settings } = deps;
  const { server } = settings;
  const facts = await readBetweenLegs(deps, login);
  const shown = new Map<bigint, Deal | undefined>();
  for (const ticket of await listAmendedDeals(pool, server, login, MAX_AMENDED_DEALS)) {
    shown.set(ticket, await deps.mt5.getDeal(ticket));
  }
  const view = { server, facts, shown };
  const due = await inTransaction(pool, (tx) => listDue(tx, login, view));
  await reportAmendments(
    deps,
    due.map((each) => amendmentOf(login, each, shown)),
  );
  await inTransaction(pool, async (tx) => {
    for (const each of await listDue(tx, login, view)) await openUnlessInReview(tx, login, each);
  });
}

type Due = Correction & { readonly ticket: bigint };

/** Corrections that would make the log equal to the account. */
async function listDue(tx: Transaction, login: string, view: CorrectionView): Promise<Due[]> {
  const account = await lockAccount(tx, login);
  if (account === undefined || account.logNumber !== view.facts.log.number) return [];
  const plans = await planCorrections(tx, login, view);
  const due = [...plans].map(([ticket, plan]) => ({ ...plan, ticket })).filter(({ difference }) => !difference.isNone);
  return (await findMisfit(tx, account, view.facts, due)) === undefined ? due : [];
}

function amendmentOf(login: string, { ticket, recorded, difference }: Due, shown: CorrectionView["shown"]): Amendment {
  const deal = shown.get(ticket);
  const at = recorded?.deal.at ?? deal?.at ?? new Date(0);
  return { login, ticket, at, recorded: recorded?.deal, shown: deal, amendment: difference.becomes, differences: [] };
}

async function openUnlessInReview(
  tx: Transaction,
  login: string,
  { ticket: dealId, recorded, difference }: Due,
): Promise<void> {
  const actions = reviewActions(difference.becomes, undefined);
  if (await isInManualReview(tx, login, dealId)) return;
  const subject = `changed:${login}:${dealId}`;
  const newCase = { subject, reason: difference.becomes, login, dealId, amount: recorded?.deal.amountMinor, actions };
  await openCase(tx, { ...newCase, evidence: evidenceOf(difference) }, new Date(await readClock(tx)));
}
