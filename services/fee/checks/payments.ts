import { type Check, inSnapshot } from "#kernel/reconcile/check.ts";
import { idsOf, nextPlace, ROWS_PER_LOOK } from "#kernel/reconcile/walk.ts";
import { sql } from "#kernel/postgres/query.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { Deps } from "../deps.ts";
import { CREDIT, listBrokenPayments, listOrphanCredits, PAYMENT } from "./find-payments.ts";
import { listBrokenRuns, listPaidTwice, listRunsToLookAt, RUN, RUNS_PER_LOOK, TWICE } from "./find-runs.ts";
import { listBrokenPairs, listPairsFrom, rememberMarks } from "./find-pairs.ts";

const EVERY_MS = 60_000;

type Places = { readonly runs: bigint; readonly payments: bigint; readonly credits: bigint; readonly pair: string };

/**
 * R9. A run is what its payments are, each payment that was taken is one credit and each credit one payment, nobody pays
 * twice for one week, and a high-water mark never falls. All of it is written together, so one snapshot is enough.
 */
export function payments({ pool }: Pick<Deps, "pool">): Check {
  return {
    name: "R9",
    title:
      "Fee runs equal their payments, payments equal their credits, no week is charged twice, and no high-water mark decreases.",
    everyMs: EVERY_MS,
    sightings: 1,
    async look({ place, suspects }) {
      const from = placesOf(place);
      const ids = (kind: string): bigint[] => idsOf(suspects, kind);
      const { findings, pairs, next } = await inSnapshot(pool, async (db) => {
        const walked = await listPairsFrom(db, from.pair, suspects);
        const runs = await listRunsToLookAt(db, { after: from.runs, again: [...ids(RUN), ...ids(TWICE)] });
        const found = [
          ...(await listBrokenRuns(db, runs)),
          ...(await listPaidTwice(db, runs)),
          ...(await listBrokenPayments(db, { after: from.payments, again: ids(PAYMENT) })),
          ...(await listOrphanCredits(db, { after: from.credits, again: ids(CREDIT) })),
          ...(await listBrokenPairs(db, walked.pairs)),
        ];
        return { findings: found, pairs: walked.pairs, next: await placesAfter(db, from, walked.next) };
      });
      await rememberMarks(pool, pairs);
      return { findings, covers: () => true, nextPlace: next };
    },
  };
}

function placesOf(place: string): Places {
  const [runs = "0", paid = "0", credits = "0", pair = ""] = place.split(" ");
  return { runs: BigInt(runs || 0), payments: BigInt(paid), credits: BigInt(credits), pair };
}

/** Whoever is through early waits for the others; only then is the whole walked. */
async function placesAfter(db: Queryable, from: Places, pair: string): Promise<string> {
  const [skip, skipRuns] = [ROWS_PER_LOOK - 1, RUNS_PER_LOOK - 1];
  const runs = await nextPlace(
    db,
    sql`select id from fee_run where id > ${from.runs} order by id offset ${skipRuns} limit 1`,
  );
  const paid = await nextPlace(
    db,
    sql`select id from fee_payment where id > ${from.payments} order by id offset ${skip} limit 1`,
  );
  const credits = await nextPlace(
    db,
    sql`select id from payment_credit where id > ${from.credits} order by id offset ${skip} limit 1`,
  );
  if (runs === "" && paid === "" && credits === "" && pair === "") return "";
  return [runs || from.runs, paid || from.payments, credits || from.credits, pair || from.pair].join(" ");
}
