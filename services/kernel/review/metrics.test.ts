import { expect, test } from "vitest";
import { metricValues } from "#test/support/metric-values.ts";
import { execute, sql } from "../postgres/query.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { closeCase, listUndecided } from "./cases.ts";
import { showReviews, sumUndecided } from "./metrics.ts";
import { anOpenCase, AT, votingOn, reviewDatabase } from "../testing/cases.ts";

const TWO_HOURS_S = 7_200;
const TOLERANCE_S = 60;

test("undecided reviews are summed by reason, with age and amount; decided and closed ones are not", async () => {
  const pool = await reviewDatabase();
  const first = await anOpenCase(pool, { subject: "stop:1", amount: 5_00n });
  await anOpenCase(pool, { subject: "stop:2", amount: -3_00n });
  await anOpenCase(pool, { subject: "money:3", reason: "external_funds", amount: undefined });
  await execute(
    pool,
    sql`update review_case set opened_at = clock_timestamp() - interval '2 hours' where id = ${first}`,
  );
  await execute(
    pool,
    sql`update review_case set opened_at = clock_timestamp() + interval '1 hour' where id <> ${first}`,
  );

  expect(await sumUndecided(pool)).toEqual([
    { reason: "external_funds", count: 1, amount: 0n, oldestSeconds: 0 },
    { reason: "stopped", count: 2, amount: 8_00n, oldestSeconds: expect.any(Number) },
  ]);
  const age = (await sumUndecided(pool))[1]?.oldestSeconds ?? 0;
  expect([age >= TWO_HOURS_S, age < TWO_HOURS_S + TOLERANCE_S]).toEqual([true, true]);
  await votingOn(pool, first).vote("anna");
  expect(await sumUndecided(pool)).toMatchObject([{}, { count: 2 }]);
  await votingOn(pool, first).vote("boris");
  const [reviewCase] = await listUndecided(pool, "money:");
  await inTransaction(pool, (tx) => closeCase(tx, reviewCase!, AT));
  expect(await sumUndecided(pool)).toMatchObject([{ reason: "stopped", count: 1, amount: 3_00n }]);

  showReviews(await sumUndecided(pool));
  expect(await metricValues("pamm_reviews_open")).toEqual({ stopped: 1 });
  expect(await metricValues("pamm_reviews_amount_cents")).toEqual({ stopped: 3_00 });
  showReviews([]);
  expect(await metricValues("pamm_reviews_open")).toEqual({});
});
