import { zero } from "#kernel/money.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { NewEntry } from "../../domain/log-entry.ts";
import type { LoggedDeal } from "../../domain/logged-deal.ts";
import type { OperationEvent } from "../../domain/operation.ts";
import type { Deal } from "../../mt5/deals.ts";
import { lockAccount } from "../../store/accounts.ts";
import { readClock } from "../../store/clock.ts";
import { findOperationByDeal, lockOperation } from "../../store/operations.ts";
import { appendToLog } from "../history/append-to-log.ts";
import { takeStep } from "../record.ts";
import { reportFinding } from "../reviews/report-finding.ts";
import { correctionEvidence } from "./correction-evidence.ts";
import { listFresh } from "./fresh-irregularities.ts";
import type { FreshIrregular, Irregular } from "./irregular.ts";

/**
 * Each becomes one entry of 0.00 in the log, so that everybody who follows the login stops at the same place, and one
 * finding for a person. Whatever was told before is not told again, nor what people have corrected the log to.
 */
export async function tellIrregularities(deps: Deps, found: readonly Irregular[]): Promise<void> {
  const fresh = await listFresh(deps.pool, deps.settings.server, found);
  for (const [login, own] of Map.groupBy(fresh, (irregular) => irregular.login)) await tellOf(deps, login, own);
}

async function tellOf({ pool, settings, log, doorbell }: Deps, login: string, found: readonly Irregular[]) {
  const { server } = settings;
  await inTransaction(pool, async (tx) => {
    const account = await lockAccount(tx, login);
    if (account === undefined) return;
    // What was in the history before us is behind the opening.
    const known = found.filter(({ at, told }) => told !== undefined || at >= account.readsFrom);
    const fresh = await listFresh(tx, server, known);
    await appendToLog(tx, account, { server, entries: fresh.map(entryOf) });
    for (const irregular of fresh) {
      await tellPeople(tx, server, irregular);
      const { irregularity: reason, ticket: id } = irregular;
      log.error("the past of an account was changed on the platform", { login, id, reason });
    }
  });
  doorbell.ring(login);
}

async function tellPeople(tx: Transaction, server: string, irregular: FreshIrregular): Promise<void> {
  const { login, irregularity: reason, ticket: dealId, state: dealState, told } = irregular;
  const evidence = await evidenceOf(tx, server, irregular);
  if (await reviewOwn(tx, server, irregular, evidence)) return;
  await reportFinding(tx, { login, reason, server, dealId, dealState, amountMinor: told?.amountMinor, evidence });
}

type Evidence = Readonly<Record<string, unknown>>;

/** An operation whose deal is no longer what it was told goes to a person: nobody credits it again. */
async function reviewOwn(tx: Transaction, server: string, irregular: FreshIrregular, evidence: Evidence) {
  const number = await findOperationByDeal(tx, server, irregular.ticket);
  if (number === undefined) return false;
  const operation = await lockOperation(tx, number);
  if (operation.login !== irregular.login) return false;
  const event: OperationEvent =
    irregular.irregularity === "deal_gone"
      ? { type: "deal_gone" }
      : { type: "does_not_fit", reason: "applied_deal_differs" };
  const { at, state: dealState } = irregular;
  const { standing } = await takeStep(tx, operation, event, { server, at, evidence, dealState });
  return standing.state === "REVIEW" && operation.standing.state !== "REVIEW";
}

function entryOf({ ticket, irregularity, at, shown, state: dealState }: FreshIrregular): NewEntry {
  const deal = { id: ticket, serverMsc: shown && BigInt(shown.serverTimeMs) };
  return {
    kind: "irregularity",
    amount: zero(),
    cause: undefined,
    deal,
    at,
    trade: undefined,
    irregularity,
    dealState,
  };
}

async function evidenceOf(tx: Transaction, server: string, irregular: FreshIrregular): Promise<Evidence> {
  const { told, shown, differences } = irregular;
  const correction = await correctionEvidence(tx, server, irregular);
  const noticedAt = new Date(await readClock(tx)).toISOString();
  return { differences, told: plain(told), shown: plain(shown), noticed_at: noticedAt, ...correction };
}

/** As JSON can hold it: amounts and tickets as text. */
function plain(value: LoggedDeal | Deal | undefined): unknown {
  if (value === undefined) return null;
  return JSON.parse(JSON.stringify(value, (_name, part: unknown) => (typeof part === "bigint" ? String(part) : part)));
}
