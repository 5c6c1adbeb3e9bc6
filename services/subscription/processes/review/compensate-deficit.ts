import { formatAmount, usd } from "#kernel/money.ts";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { actionNotPossible } from "#kernel/review/refusals.ts";
import type { Deps } from "../../deps.ts";
import { poolEquity } from "../../domain/pool/equity.ts";
import { lastCutOff } from "../../domain/weeks.ts";
import { insertCompensations, takeFromExternal } from "../../store/compensations.ts";
import { lockMaster } from "../../store/masters.ts";
import { addUnposted } from "../../store/postings.ts";
import { getMoved } from "../../store/repairs.ts";
import { listActiveHoldings } from "../../store/unit-pools.ts";
import { type Ledger, openLedger, saveLedger, strikeLedger } from "../allocate/ledger.ts";
import { expectMoved } from "./external-funds.ts";
import { compensate } from "../../domain/pool/raise-negative.ts";
import { type AccountReading, type Effect, expectComplete } from "./read-accounts.ts";

/**
 * Own capital of a Master raises each Investor of its pool with a negative share to 0.00. This is not a trading result: no
 * fee is earned by it, and the part of the loss that is not posted yet is never posted.
 */
export const compensateDeficit: Effect = {
  readsOf: ({ login }) => [login],
  examine(_reviewCase, _wanted, readings) {
    expectComplete(readings);
    for (const [login, { openPositions }] of readings) {
      if (openPositions > 0) {
        throw actionNotPossible(
          `Master ${login} has open positions: ${openPositions}. They may still change the deficit.`,
        );
      }
    }
  },
  async carryOut(tx, deps, { reviewCase, wanted, readings }) {
    const reading = readings.get(reviewCase.login);
    if (reading === undefined) {
      throw actionNotPossible(
        "The Master's account could not be read in time. Nothing was changed. Propose it again in a second.",
      );
    }
    const pooled = await listActiveHoldings(tx, reviewCase.login);
    const logins = pooled.map(({ investorLogin }) => investorLogin);
    const struck = await strikeFlat(tx, deps, { reviewCase, reading, logins });
    const { pool, raised, total } = compensate(struck.pool);
    const loginOf = new Map(pooled.map(({ subscriptionId, investorLogin }) => [subscriptionId, investorLogin]));
    const parts = raised.map((part) => ({ ...part, investorLogin: loginOf.get(part.subscriptionId) ?? "" }));
    if (parts.length === 0) throw actionNotPossible("No Investor in the pool has a negative share.");
    if (parts.some(({ investorLogin }) => investorLogin === "")) {
      throw actionNotPossible(
        "The pool changed while the action was carried out. Nothing was changed. Propose it again in a second.",
      );
    }
    const { pooled: own } = struck.pool.own;
    if (own < total) {
      throw actionNotPossible(
        `The deficit is ${formatAmount(usd(total))}, but only ${formatAmount(usd(own))} is available.`,
      );
    }
    expectMoved(reviewCase, await getMoved(tx, reviewCase.login));
    const { id: caseId, login } = reviewCase;
    await insertCompensations(
      tx,
      parts.map((part) => ({ ...part, caseId })),
      wanted.at,
    );
    await takeFromExternal(tx, login, total);
    await saveLedger(tx, deps, { ...struck, pool, master: { ...struck.master, isInDeficit: poolEquity(pool) < 0n } });
    await addUnposted(tx, parts);
    afterCommit(tx, deps.wakeSignals.postings.notify);
    afterCommit(tx, deps.wakeSignals.mirrors.notify);
  },
};

type FlatReading = {
  readonly reviewCase: ReviewCase;
  readonly reading: AccountReading;
  readonly logins: readonly string[];
};

/** The pool at the log position at which the Master was read flat, allocated and struck up to there. */
async function strikeFlat(tx: Transaction, deps: Deps, { reviewCase, reading, logins }: FlatReading): Promise<Ledger> {
  const master = await lockMaster(tx, reviewCase.login);
  if (master === undefined || master.stoppedReason !== null) {
    throw actionNotPossible(`Master ${reviewCase.login} is stopped.`);
  }
  const { requestedAt: at, logNumber: through } = reading;
  const { ledger, end } = await openLedger(tx, deps, master, {
    through,
    reading: { at, marks: [], closeThrough: lastCutOff(deps.week, at) },
    logins,
  });
  const isAtLogPosition = end === "done" && master.filedNumber === through;
  const struck = isAtLogPosition ? await strikeLedger(tx, deps, ledger, []) : undefined;
  if (struck === undefined) {
    throw actionNotPossible(
      "The Master traded while the action was carried out. Nothing was changed. Propose it again in a second.",
    );
  }
  return struck;
}
