import { expect, test, vi } from "vitest";
import { ReviewState } from "#proto/pamm/common/v1/review.ts";
import type { Pool } from "../postgres/pool.ts";
import { many, sql } from "../postgres/query.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { closeCase, listUndecided, openCase, renewCase } from "./cases.ts";
import { keyOfReview } from "./record-vote.ts";
import { listReviews } from "./list-reviews.ts";
import { actionNotPossible } from "./refusals.ts";
import { anOpenCase, aQuestion, AT, deskOf, reviewDatabase } from "../testing/cases.ts";
import { delayUnfinished, listUnfinished, markFinished } from "./unfinished.ts";

/** Goes on only while somebody else is in the middle of a decision too. */
async function meetAnother(pool: Pool): Promise<void> {
  const inside = sql`select from pg_stat_activity
                     where datname = current_database() and (wait_event_type = 'Lock' or state = 'idle in transaction')`;
  await vi.waitFor(async () => expect((await many(pool, inside)).length).toBeGreaterThan(1), { timeout: 5_000 });
}

const words = (pool: Pool) =>
  many(pool, sql`select case_id as "caseId", word, action, note, actor from review_event order by id`);

test("two keys decide, the effect is there with the decision, and both words are kept", async () => {
  const pool = await reviewDatabase();
  const id = await anOpenCase(pool);
  const desk = deskOf(pool, id);
  const { review: proposed } = await desk.say("anna");
  expect(desk.carriedOut).toEqual([]);
  const { review: decided } = await desk.say("boris", { note: "so do I" });
  expect(desk.carriedOut).toEqual([id]);
  expect(proposed).toEqual({
    id,
    reason: "stopped",
    login: "1001",
    amount: { currencyCode: "USD", minorUnits: 12_34n },
    operationId: "",
    reference: "",
    dealId: 0n,
    evidence: `{"why": "a deal is gone"}`,
    actions: ["resume", "withdraw_proposal"],
    state: ReviewState.PROPOSED,
    openedAt: AT,
    decision: {
      action: "resume",
      dealId: 0n,
      note: "checked with the dealers",
      proposedBy: "anna",
      proposedAt: AT,
      confirmedBy: "",
      confirmedAt: undefined,
    },
  });
  expect(decided).toMatchObject({
    state: ReviewState.DECIDED,
    actions: [],
    decision: { proposedBy: "anna", confirmedBy: "boris", confirmedAt: AT },
  });
  expect(await words(pool)).toEqual([
    { caseId: id, word: "PROPOSED", action: "resume", note: "checked with the dealers", actor: "anna" },
    { caseId: id, word: "CONFIRMED", action: "resume", note: "so do I", actor: "boris" },
  ]);
  expect(await listUnfinished(pool, AT, 10)).toEqual([]);
});

test("of many confirmations at once one decides", async () => {
  const pool = await reviewDatabase();
  const id = await anOpenCase(pool);
  await deskOf(pool, id).say("anna");
  const desk = deskOf(pool, id, { examine: () => meetAnother(pool) });
  const ends = await Promise.allSettled(["boris", "carol", "dora", "emil"].map((actor) => desk.say(actor)));
  expect(ends.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const end of ends) {
    if (end.status === "rejected") expect(end.reason).toMatchObject({ code: "review_decided" });
  }
  expect(desk.carriedOut).toEqual([id]);
  expect(await words(pool)).toHaveLength(2);
});

test("two proposals at once are one proposal, and the other key has confirmed it", async () => {
  const pool = await reviewDatabase();
  const id = await anOpenCase(pool);
  const desk = deskOf(pool, id);
  await Promise.all([desk.say("anna"), desk.say("boris")]);
  expect(desk.carriedOut).toEqual([id]);
});

test("a word that is given again under its command is answered the same, whatever others have said since", async () => {
  const pool = await reviewDatabase();
  const id = await anOpenCase(pool);
  const asked: string[] = [];
  const desk = deskOf(pool, id, { ask: async () => void asked.push("asked") });
  const said: readonly [string, object, string][] = [
    ["anna", {}, "command-1"],
    ["anna", { action: "withdraw_proposal" }, "command-2"],
    ["anna", {}, "command-3"],
    ["boris", {}, "command-4"],
  ];
  const first = [];
  for (const word of said) first.push(await desk.say(...word));
  const again = [];
  for (const word of said) again.push(await desk.say(...word));

  expect(again).toEqual(first);
  expect(first.map(({ review }) => review?.state)).toEqual([
    ReviewState.PROPOSED,
    ReviewState.OPEN,
    ReviewState.PROPOSED,
    ReviewState.DECIDED,
  ]);
  expect([desk.carriedOut, asked.length, (await words(pool)).length]).toEqual([[id], 4, 4]);
  await expect(desk.say("boris", {}, "command-5")).rejects.toMatchObject({ code: "review_decided" });
});

test("copies of one command at the same time say one word and get the same answer", async () => {
  const pool = await reviewDatabase();
  const id = await anOpenCase(pool);
  await deskOf(pool, id).say("anna");
  const desk = deskOf(pool, id, { examine: () => meetAnother(pool) });
  const [first, ...others] = await Promise.all(Array.from({ length: 4 }, () => desk.say("boris", {}, "command-1")));

  expect(first?.review).toMatchObject({ state: ReviewState.DECIDED, decision: { confirmedBy: "boris" } });
  expect(others).toEqual([first, first, first]);
  expect(desk.carriedOut).toEqual([id]);
});

test("a withdrawal and a confirmation at once: one of them holds", async () => {
  const pool = await reviewDatabase();
  const id = await anOpenCase(pool);
  const desk = deskOf(pool, id);
  await desk.say("anna");
  const [confirmed, withdrawn] = await Promise.allSettled([
    desk.say("boris"),
    desk.say("anna", { action: "withdraw_proposal" }),
  ]);
  const isDecided = withdrawn.status === "rejected";
  // After the withdrawal the other key's word is a proposal of its own.
  expect(confirmed.status).toBe("fulfilled");
  expect(desk.carriedOut).toEqual(isDecided ? [id] : []);
});

test("an effect that fails leaves the proposal as it was", async () => {
  const pool = await reviewDatabase();
  const id = await anOpenCase(pool);
  await deskOf(pool, id).say("anna");
  const broken = deskOf(pool, id, {
    async carryOut() {
      throw new Error("the connection is lost");
    },
  });
  await expect(broken.say("boris")).rejects.toThrow("the connection is lost");
  expect(await words(pool)).toHaveLength(1);
  const desk = deskOf(pool, id);
  await desk.say("boris");
  expect(desk.carriedOut).toEqual([id]);
});

test("what the facts do not allow is neither proposed nor confirmed", async () => {
  const pool = await reviewDatabase();
  const id = await anOpenCase(pool);
  const strict = deskOf(pool, id, {
    async examine() {
      throw actionNotPossible("the Master has open positions");
    },
  });
  await expect(strict.say("anna")).rejects.toMatchObject({ code: "action_not_possible" });
  await deskOf(pool, id).say("anna");
  await expect(strict.say("boris")).rejects.toMatchObject({ code: "action_not_possible" });
  expect(await words(pool)).toHaveLength(1);
});

test("a decision that a job works on is found until it is finished, and finished once", async () => {
  const pool = await reviewDatabase();
  const id = await anOpenCase(pool);
  const desk = deskOf(pool, id, { carryOut: async () => "working" });
  await desk.say("anna");
  await desk.say("boris");
  expect(await listUnfinished(pool, AT, 10)).toMatchObject([{ id, tries: 0, progress: { state: "DECIDED" } }]);
  const later = new Date(AT.getTime() + 1_000);
  await delayUnfinished(pool, id, later, "the platform cannot be reached");
  expect(await listUnfinished(pool, AT, 10)).toEqual([]);
  expect(await listUnfinished(pool, later, 10)).toMatchObject([{ id, tries: 1 }]);
  expect([await markFinished(pool, id, later), await markFinished(pool, id, later)]).toEqual([true, false]);
  expect(await listUnfinished(pool, later, 10)).toEqual([]);
  expect(keyOfReview(id)).toBe(`review:${id}:`);
});

test("a proposal about an amount that has changed is void, and the audit says so", async () => {
  const pool = await reviewDatabase();
  const id = await anOpenCase(pool);
  const desk = deskOf(pool, id);
  await desk.say("anna");
  const [about] = await listUndecided(pool, "stop:", 10);
  if (about === undefined) throw new Error("the case is open");
  await inTransaction(pool, (tx) => renewCase(tx, about, aQuestion({ amount: 99n }), AT));
  const { review } = await desk.say("boris");
  expect(review).toMatchObject({ state: ReviewState.PROPOSED, amount: { minorUnits: 99n } });
  expect(desk.carriedOut).toEqual([]);
  expect(await words(pool)).toMatchObject([
    { word: "PROPOSED", actor: "anna" },
    { word: "VOIDED", actor: "" },
    { word: "PROPOSED", actor: "boris" },
  ]);
});

test("a case that is gone is not listed and not decided, and may be opened anew", async () => {
  const pool = await reviewDatabase();
  const id = await anOpenCase(pool);
  const [about] = await listUndecided(pool, "stop:", 10);
  if (about === undefined) throw new Error("the case is open");
  await inTransaction(pool, (tx) => closeCase(tx, about, AT));
  for (const state of [ReviewState.UNSPECIFIED, ReviewState.OPEN, ReviewState.PROPOSED, ReviewState.DECIDED]) {
    expect(await listReviews(pool, { afterId: 0n, limit: 10, state })).toEqual({ items: [], hasMore: false });
  }
  await expect(deskOf(pool, id).say("anna")).rejects.toMatchObject({ code: "review_decided" });
  expect(await anOpenCase(pool)).toBeGreaterThan(id);
});

test("one case is open about one thing", async () => {
  const pool = await reviewDatabase();
  await anOpenCase(pool);
  expect(await inTransaction(pool, (tx) => openCase(tx, aQuestion({ amount: 5n }), AT))).toBeUndefined();
  expect(await listUndecided(pool, "stop:", 10)).toMatchObject([{ amount: 12_34n }]);
});

test("pages go on where the last one ended", async () => {
  const pool = await reviewDatabase();
  const ids = [];
  for (const subject of ["a", "b", "c"]) ids.push(await anOpenCase(pool, { subject }));
  const [first, second, third] = ids;
  await deskOf(pool, second ?? 0n).say("anna");
  const page = async (afterId: bigint, state: ReviewState = ReviewState.UNSPECIFIED) => {
    const { items, hasMore } = await listReviews(pool, { afterId, limit: 2, state });
    return { ids: items.map(({ id }) => id), hasMore };
  };
  expect(await page(0n)).toEqual({ ids: [first, second], hasMore: true });
  expect(await page(second ?? 0n)).toEqual({ ids: [third], hasMore: false });
  expect(await page(0n, ReviewState.OPEN)).toEqual({ ids: [first, third], hasMore: false });
  expect(await page(0n, ReviewState.PROPOSED)).toEqual({ ids: [second], hasMore: false });
  await expect(listReviews(pool, { afterId: 0n, limit: 1_001, state: 0 })).rejects.toMatchObject({
    code: "validation_failed",
  });
});

test("a review that does not exist is not found, and everything wrong is said at once", async () => {
  const desk = deskOf(await reviewDatabase(), 404n);
  await expect(desk.say("anna")).rejects.toMatchObject({ code: "review_not_found" });
  await expect(desk.say("", { reviewId: 0n, action: "No!", dealId: -1n, note: " " })).rejects.toMatchObject({
    code: "validation_failed",
    errors: ["review_id", "action", "deal_id", "note", "actor"].map((field) => ({ field, code: "not_valid" })),
  });
});

test.each(["update review_event set note = 'else'", "delete from review_event"])(
  "what was said stays: %s",
  async (statement) => {
    const pool = await reviewDatabase();
    await deskOf(pool, await anOpenCase(pool)).say("anna");
    await expect(pool.query(statement)).rejects.toThrow("stays as it was said");
  },
);

test("the database itself refuses one key for both words", async () => {
  const pool = await reviewDatabase();
  const id = await anOpenCase(pool);
  await deskOf(pool, id).say("anna");
  await expect(
    pool.query(`update review_case set state = 'DECIDED', confirmed_by = 'anna', confirmed_note = '',
                confirmed_at = now(), next_try_at = now() where id = ${id}`),
  ).rejects.toThrow("violates check constraint");
});
