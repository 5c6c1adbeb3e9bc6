import { zero } from "#kernel/money.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import type { Irregularity, NewEntry } from "../domain/log-entry.ts";
import type { OperationEvent } from "../domain/operation.ts";
import type { Deal } from "../mt5/deals.ts";
import { lockAccount } from "../store/accounts.ts";
import { listIrregularities } from "../store/logged-deals.ts";
import type { LoggedDeal } from "../store/logged-deals.ts";
import { findOperationByDeal, lockOperation } from "../store/operations.ts";
import { appendToLog } from "./append-to-log.ts";
import { takeStep } from "./record.ts";
import { reportFinding } from "./report-finding.ts";

/** Something that happened to the past of a login. */
export type Irregular = {
  /** The login in whose log it is told. */
  readonly login: string;
  readonly ticket: bigint;
  readonly irregularity: Irregularity;
  /** Time of the deal, as far as it is known. */
  readonly at: Date;
  readonly told: LoggedDeal | undefined;
  readonly shown: Deal | undefined;
  /** Names of what differs. */
  readonly differences: readonly string[];
};

/**
 * Each becomes one entry of 0.00 in the log, so that everybody who follows the login stops at the same place, and one
 * finding for a person. Whatever was told before is not told again.
 */
export async function tellIrregularities(deps: Deps, found: readonly Irregular[]): Promise<void> {
  const fresh = await withoutTold(deps.pool, deps.settings.server, found);
  for (const [login, own] of Map.groupBy(fresh, (irregular) => irregular.login)) await tellOf(deps, login, own);
}

async function tellOf({ pool, settings, log, doorbell }: Deps, login: string, found: readonly Irregular[]) {
  const { server } = settings;
  await inTransaction(pool, async (tx) => {
    const account = await lockAccount(tx, login);
    if (account === undefined) return;
    // What was in the history before us is behind the opening.
    const known = found.filter(({ at, told }) => told !== undefined || at >= account.readsFrom);
    const fresh = await withoutTold(tx, server, known);
    await appendToLog(tx, account, { server, entries: fresh.map(entryOf) });
    for (const irregular of fresh) {
      const { irregularity: reason, ticket: dealId } = irregular;
      const evidence = evidenceOf(irregular);
      if (!(await reviewOwn(tx, server, irregular)))
        await reportFinding(tx, { login, reason, server, dealId, amountMinor: irregular.told?.amountMinor, evidence });
      log.error("the past of an account was changed on the platform", { login, id: dealId, reason });
    }
  });
  doorbell.ring(login);
}

/** An operation whose deal is no longer what it was told goes to a person: nobody credits it again. */
async function reviewOwn(tx: Transaction, server: string, irregular: Irregular): Promise<boolean> {
  const number = await findOperationByDeal(tx, server, irregular.ticket);
  if (number === undefined) return false;
  const operation = await lockOperation(tx, number);
  if (operation.login !== irregular.login) return false;
  const event: OperationEvent =
    irregular.irregularity === "deal_gone"
      ? { type: "deal_gone" }
      : { type: "does_not_fit", reason: "applied_deal_differs" };
  const circumstances = { server, at: irregular.at, evidence: evidenceOf(irregular) };
  const { standing } = await takeStep(tx, operation, event, circumstances);
  return standing.state === "REVIEW" && operation.standing.state !== "REVIEW";
}

async function withoutTold(
  db: Parameters<typeof listIrregularities>[0],
  server: string,
  found: readonly Irregular[],
): Promise<Irregular[]> {
  if (found.length === 0) return [];
  const told = await listIrregularities(
    db,
    server,
    found.map(({ ticket }) => ticket),
  );
  const names = new Set(told.map(nameOf));
  return found.filter((irregular) => !names.has(nameOf(irregular)));
}

function nameOf({ login, ticket, irregularity }: Pick<Irregular, "login" | "ticket" | "irregularity">): string {
  return `${login} ${ticket} ${irregularity}`;
}

function entryOf({ ticket, irregularity, at, shown }: Irregular): NewEntry {
  const deal = { id: ticket, serverMsc: shown && BigInt(shown.serverTimeMs) };
  return { kind: "irregularity", amount: zero(), cause: undefined, deal, at, trade: undefined, irregularity };
}

function evidenceOf({ told, shown, differences }: Irregular): Readonly<Record<string, unknown>> {
  return { differences, told: plain(told), shown: plain(shown), noticed_at: new Date().toISOString() };
}

/** As JSON can hold it: amounts and tickets as text. */
function plain(value: LoggedDeal | Deal | undefined): unknown {
  if (value === undefined) return null;
  return JSON.parse(JSON.stringify(value, (_name, part: unknown) => (typeof part === "bigint" ? String(part) : part)));
}
