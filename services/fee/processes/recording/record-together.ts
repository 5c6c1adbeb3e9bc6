import type { Clock } from "#kernel/clock.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { type Decision, mastersOf } from "../../domain/decision.ts";
import { lockMasters } from "../../store/masters.ts";
import { requireKnownFees, type Searching } from "../lost-fees/require-known-fees.ts";
import { workTogether } from "../together.ts";
import { isOfDeparture, recordDepartures, recordWeek } from "./record-decisions.ts";

/** Masters of the decision that have to be inserted first; then nothing was recorded. Otherwise it is recorded, by this call or an earlier one. */
export type Recorded = { readonly unknownMasters: readonly string[] };

type Recorder = { readonly pool: Pool; readonly now: Clock } & Searching;

/** Records some decisions in one commit. The Investors are distinct. What is recorded already stays as it is. */
export async function recordTogether(
  recorder: Recorder,
  decisions: readonly Decision[],
): Promise<(Recorded | Error)[]> {
  return await workTogether(decisions, (own) =>
    inTransaction(recorder.pool, async (tx) => {
      await requireKnownFees(tx, recorder);
      return await record(tx, own, recorder.now());
    }),
  );
}

async function record(tx: Transaction, decisions: readonly Decision[], at: Date): Promise<Recorded[]> {
  const masters = await lockMasters(tx, decisions.flatMap(mastersOf));
  const recorded = decisions.map((decision) => ({
    decision,
    unknownMasters: mastersOf(decision).filter((login) => !masters.has(login)),
  }));
  const known = recorded.flatMap(({ decision, unknownMasters }) => (unknownMasters.length === 0 ? decision : []));
  await recordDepartures(tx, known.filter(isOfDeparture), at);
  for (const decision of known) if (!isOfDeparture(decision)) await recordWeek(tx, decision, at);
  return recorded;
}
