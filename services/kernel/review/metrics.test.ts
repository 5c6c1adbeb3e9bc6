import { register } from "prom-client";
import { expect, onTestFinished, test } from "vitest";
import { waitFor } from "#test/support/wait-for.ts";
import { createLog } from "../log.ts";
import { execute, sql } from "../postgres/query.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { closeCase, listUndecided } from "./cases.ts";
import { sumUndecided, watchReviews } from "./metrics.ts";
import { anOpenCase, AT, votingOn, reviewDatabase } from "../testing/cases.ts";

const TWO_HOURS_S = 7_200;
const TOLERANCE_S = 60;

async function metricValues(name: string): Promise<Record<string, number>> {
  const { values } = (await register.getSingleMetric(name)?.get()) ?? { values: [] };
  return Object.fromEntries(values.map(({ labels, value }) => [String(labels["reason"]), value]));
}

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
  const [reviewCase] = await listUndecided(pool, "money:", { after: 0n, limit: 1 });
  await inTransaction(pool, (tx) => closeCase(tx, reviewCase!, AT));
  expect(await sumUndecided(pool)).toMatchObject([{ reason: "stopped", count: 1, amount: 3_00n }]);
});

test("the metrics follow the table, and drop a reason without undecided reviews", async () => {
  const pool = await reviewDatabase();
  const id = await anOpenCase(pool);
  const log = createLog({ service: "test", level: "silent" });
  const watch = () => {
    const job = watchReviews({ pool, log });
    onTestFinished(() => job[Symbol.asyncDispose]());
  };
  watch();
  await waitFor(async () => expect(await metricValues("pamm_reviews_open")).toEqual({ stopped: 1 }));
  expect(await metricValues("pamm_reviews_amount_cents")).toEqual({ stopped: 12_34 });
  expect(Object.keys(await metricValues("pamm_reviews_oldest_seconds"))).toEqual(["stopped"]);

  await votingOn(pool, id).vote("anna");
  await votingOn(pool, id).vote("boris");
  watch();
  await waitFor(async () => expect(await metricValues("pamm_reviews_open")).toEqual({}));
});
