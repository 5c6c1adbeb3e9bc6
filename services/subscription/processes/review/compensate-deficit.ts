import { formatAmount, usd } from "#kernel/values/money.ts";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Refusal } from "#kernel/values/refusal.ts";
import { actionNotPossible } from "#kernel/review/refusals.ts";
import type { Deps } from "../../deps.ts";
import { poolEquity } from "../../domain/pool/equity.ts";
import { lastCutOff } from "../../domain/weeks.ts";
import { insertCompensations, takeFromExternal } from "../../store/compensations.ts";
import { lockMaster, type Master } from "../../store/masters.ts";
import { addUnposted } from "../../store/postings.ts";
import { getMoved } from "../../store/repairs.ts";
import { listActiveHoldings } from "../../store/unit-pools.ts";
import { type Ledger, openLedger, saveLedger, strikeLedger } from "../allocate/ledger.ts";
import type { MasterReading } from "../allocate/read-master.ts";
import { expectMoved } from "./external-funds.ts";
import { compensate } from "../../domain/pool/raise-negative.ts";
import { type Effect, expectComplete } from "./read-accounts.ts";

/**
 * Own capital of a Master raises each Investor of its pool with a negative share to 0.00. This is not a trading result: no
 * fee is earned by it, and the part of the loss that is not posted yet is never posted.
 */
export const compensateDeficit: Effect = {
  readsOf: ({ login }) => [login],
  examine(_tx, { readings }) {
    expectComplete(readings);
    for (const [login, { marks }] of readings) {
      if (marks.length === 0) continue;
      throw actionNotPossible(
        `Master ${login} has open positions: ${marks.length}. They may still change the deficit.`,
      );
    }
  },
  async carryOut(tx, deps, { reviewCase, at, readings }) {
    const { id: caseId, login } = reviewCase;
    const reading = readings.get(login);
    if (reading === undefined) throw notNow("The Master's account could not be read in time.");
    const master = await lockMaster(tx, login);
    if (master === undefined || master.stoppedReason !== null) throw actionNotPossible(`Master ${login} is stopped.`);
    const logins = (await listActiveHoldings(tx, login)).map(({ investorLogin }) => investorLogin);
    const struck = await strikeFlat(tx, deps, { master, reading, logins });
    const { pool, raised, total } = compensate(struck.pool);
    if (raised.length === 0) throw actionNotPossible("No Investor in the pool has a negative share.");
    const { pooled: own } = struck.pool.own;
    if (own < total) {
      throw actionNotPossible(
        `The deficit is ${formatAmount(usd(total))}, but only ${formatAmount(usd(own))} is available.`,
      );
    }
    expectMoved(reviewCase, await getMoved(tx, login));
    await insertCompensations(
      tx,
      raised.map((part) => ({ ...part, caseId })),
      at,
    );
    await takeFromExternal(tx, login, total);
    await saveLedger(tx, deps, { ...struck, pool, master: { ...struck.master, isInDeficit: poolEquity(pool) < 0n } });
    await addUnposted(tx, raised);
    afterCommit(tx, deps.wakeSignals.postings.notify);
    afterCommit(tx, deps.wakeSignals.mirrors.notify);
  },
};

function notNow(why: string): Refusal {
  return actionNotPossible(`${why} Nothing was changed. Propose it again in a second.`);
}

type Flat = { readonly master: Master; readonly reading: MasterReading; readonly logins: readonly string[] };

/** The pool at the log position at which the Master was read flat, allocated and struck up to there. */
async function strikeFlat(
  tx: Transaction,
  deps: Deps,
  { master, reading: { requestedAt: at, logNumber: through }, logins }: Flat,
): Promise<Ledger> {
  const reading = { at, marks: [], closeThrough: lastCutOff(deps.week, at) };
  const { ledger, end } = await openLedger(tx, deps, master, { through, reading, logins });
  const isAtLogPosition = end === "done" && master.filedNumber === through;
  const struck = isAtLogPosition ? await strikeLedger(tx, deps, ledger, []) : undefined;
  if (struck === undefined) throw notNow("The Master traded while the action was carried out.");
  return struck;
}
