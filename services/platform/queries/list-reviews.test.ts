import { expect, test } from "vitest";
import { listReviews } from "#kernel/review/list-reviews.ts";
import { execute, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { ReviewState } from "#proto/pamm/common/v1/review.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import { testDatabase } from "#test/support/database.ts";

const CASES = 5_000;

test("the reviews about an operation and about an account are found by an index, however many were decided before and since", async () => {
  const { pool, admin } = await testDatabase("platform");
  await execute(
    pool,
    sql`insert into review_case (subject, reason, login, operation_id, deal_id, evidence, actions, state, opened_at, action, chosen_deal_id,
                                 note, proposed_by, proposed_at, confirmed_note, confirmed_by, confirmed_at, done_at)
        select 'finding:' || n, 'sender_not_fenced', case when n % 1000 = 7 then '1007' else '1001' end, n::text, n + 1000000, '{}', '{}', 'DECIDED', now(), 'a', 0, '', 'anna', now(), '', 'boris', now(),
               now()
        from generate_series(1, ${CASES}::int) as n`,
  );
  const page = { afterId: 0n, limit: 10, state: ReviewState.DECIDED };
  for (const analyze of [false, true]) {
    if (analyze) await admin.query("analyze review_case");
    const read = await inTransaction(pool, (tx) =>
      rowsRead(tx, ["review_case"], async () => {
        const about = { operationIds: ["7", "4999"], dealIds: [1_000_042n] };
        const { items } = await listReviews(tx, { ...page, about });
        expect(items.map(({ operationId }) => operationId)).toEqual(["7", "42", "4999"]);
      }),
    );
    expect(read).toBeLessThan(20);
    const readOfLogin = await inTransaction(pool, (tx) =>
      rowsRead(tx, ["review_case"], async () => {
        const { items } = await listReviews(tx, { ...page, afterId: 7n, login: "1007" });
        expect(items.map(({ operationId }) => operationId)).toEqual(["1007", "2007", "3007", "4007"]);
      }),
    );
    expect(readOfLogin).toBeLessThan(20);
  }
});
