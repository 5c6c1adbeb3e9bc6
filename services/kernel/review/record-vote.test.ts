import { expect, test } from "vitest";
import { waitFor } from "#test/support/wait-for.ts";
import { ReviewState } from "#proto/pamm/common/v1/review.ts";
import type { Pool } from "../postgres/pool.ts";
import { many, sql } from "../postgres/query.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { isTransientFailure } from "../jobs/transient-failure.ts";
import {
  closeCase,
  delayUnfinished,
  listUndecided,
  listUnfinished,
  markFinished,
  openCase,
  renewCase,
} from "./cases.ts";
import { keyOfReview } from "./record-vote.ts";
import { listReviews } from "./list-reviews.ts";
import { actionNotPossible } from "./refusals.ts";
import { anOpenCase, aNewCase, AT, votingOn, reviewDatabase } from "../testing/cases.ts";

/** Resolves when another transaction is also inside a decision. */
async function waitForConcurrentVote(pool: Pool): Promise<void> {
  const open = sql`select from pg_stat_activity
                     where datname = current_database() and (wait_event_type = 'Lock' or state = 'idle in transaction')`;
  await waitFor(async () => expect((await many(pool, open)).length).toBeGreaterThan(1));
}

const MAX_TRIES = 20;

/** Repeats a vote as its caller does: on a busy machine its wait for the lock on the case ends, and nothing is recorded. */
async function repeated<T>(vote: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await vote();
    } catch (error) {
      if (!isTransientFailure(error) || tries === MAX_TRIES) throw error;
    }
  }
}

const events = (pool: Pool) =>
  many(pool, sql`select case_id as "caseId", event, action, note, actor from review_event order by id`);

test("a second key confirms the proposal, the decision is carried out with it, and both events are recorded", async () => {
  const pool = await reviewDatabase();
  const id = await anOpenCase(pool);
  const voting = votingOn(pool, id);
  const { review: proposed } = await voting.vote("anna");
  expect(voting.carriedOut).toEqual([]);
  const { review: decided } = await voting.vote("boris", { note: "so do I" });
  expect(voting.carriedOut).toEqual([id]);
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
    group: expect.stringMatching(/^[0-9a-f]{24}$/),
    cause: undefined,
  });
  expect(decided).toMatchObject({
    state: ReviewState.DECIDED,
    actions: [],
    decision: { proposedBy: "anna", confirmedBy: "boris", confirmedAt: AT },
  });
  expect(await events(pool)).toEqual([
    { caseId: id, event: "PROPOSED", action: "resume", note: "checked with the dealers", actor: "anna" },
    { caseId: id, event: "CONFIRMED", action: "resume", note: "so do I", actor: "boris" },
  ]);
  expect(await listUnfinished(pool, AT, 10)).toEqual([]);
});

test("of many simultaneous confirmations one decides", async () => {
  const pool = await reviewDatabase();
  const id = await anOpenCase(pool);
  await votingOn(pool, id).vote("anna");
  const voting = votingOn(pool, id, { examine: () => waitForConcurrentVote(pool) });
  const results = await Promise.allSettled(
    ["boris", "carol", "dora", "emil"].map((actor) => repeated(() => voting.vote(actor))),
  );
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const result of results) {
    if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "review_decided" });
  }
  expect(voting.carriedOut).toEqual([id]);
  expect(await events(pool)).toHaveLength(2);
});

test("a repeated command gets the response of its first call, also after other votes", async () => {
  const pool = await reviewDatabase();
  const id = await anOpenCase(pool);
  const reads: string[] = [];
  const voting = votingOn(pool, id, { readFacts: async () => void reads.push("read") });
  const votes: readonly [string, object, string][] = [
    ["anna", {}, "command-1"],
    ["anna", { action: "withdraw_proposal" }, "command-2"],
    ["anna", {}, "command-3"],
    ["boris", {}, "command-4"],
  ];
  const first = [];
  for (const args of votes) first.push(await voting.vote(...args));
  const again = [];
  for (const args of votes) again.push(await voting.vote(...args));

  expect(again).toEqual(first);
  expect(first.map(({ review }) => review?.state)).toEqual([
    ReviewState.PROPOSED,
    ReviewState.OPEN,
    ReviewState.PROPOSED,
    ReviewState.DECIDED,
  ]);
  expect([voting.carriedOut, reads.length, (await events(pool)).length]).toEqual([[id], 4, 4]);
  await expect(voting.vote("boris", {}, "command-5")).rejects.toMatchObject({ code: "review_decided" });
});

test("simultaneous duplicates of one command record one vote and get the same response", async () => {
  const pool = await reviewDatabase();
  const id = await anOpenCase(pool);
  await votingOn(pool, id).vote("anna");
  const voting = votingOn(pool, id, { examine: () => waitForConcurrentVote(pool) });
  const [first, ...others] = await Promise.all(
    Array.from({ length: 4 }, () => repeated(() => voting.vote("boris", {}, "command-1"))),
  );

  expect(first?.review).toMatchObject({ state: ReviewState.DECIDED, decision: { confirmedBy: "boris" } });
  expect(others).toEqual([first, first, first]);
  expect(voting.carriedOut).toEqual([id]);
});

test("a decision that cannot be carried out leaves the proposal unchanged", async () => {
  const pool = await reviewDatabase();
  const id = await anOpenCase(pool);
  await votingOn(pool, id).vote("anna");
  const broken = votingOn(pool, id, {
    async carryOut() {
      throw new Error("the connection is lost");
    },
  });
  await expect(broken.vote("boris")).rejects.toThrow("the connection is lost");
  expect(await events(pool)).toHaveLength(1);
  const voting = votingOn(pool, id);
  await voting.vote("boris");
  expect(voting.carriedOut).toEqual([id]);
});

test("an action that the facts do not allow is neither proposed nor confirmed", async () => {
  const pool = await reviewDatabase();
  const id = await anOpenCase(pool);
  const strict = votingOn(pool, id, {
    async examine() {
      throw actionNotPossible("the Master has open positions");
    },
  });
  await expect(strict.vote("anna")).rejects.toMatchObject({ code: "action_not_possible" });
  await votingOn(pool, id).vote("anna");
  await expect(strict.vote("boris")).rejects.toMatchObject({ code: "action_not_possible" });
  expect(await events(pool)).toHaveLength(1);
});

test("a decision that a job carries out is listed until it is finished, and finished once", async () => {
  const pool = await reviewDatabase();
  const id = await anOpenCase(pool);
  const voting = votingOn(pool, id, { carryOut: async () => "working" });
  await voting.vote("anna");
  await voting.vote("boris");
  expect(await listUnfinished(pool, AT, 10)).toMatchObject([{ id, tries: 0, state: "DECIDED" }]);
  const later = new Date(AT.getTime() + 1_000);
  await delayUnfinished(pool, id, later, "the platform cannot be reached");
  expect(await listUnfinished(pool, AT, 10)).toEqual([]);
  expect(await listUnfinished(pool, later, 10)).toMatchObject([{ id, tries: 1 }]);
  expect([await markFinished(pool, id, later), await markFinished(pool, id, later)]).toEqual([true, false]);
  expect(await listUnfinished(pool, later, 10)).toEqual([]);
  expect(keyOfReview(id)).toBe(`review:${id}:`);
});

test("a proposal is voided when its amount changes, and the audit records it", async () => {
  const pool = await reviewDatabase();
  const id = await anOpenCase(pool);
  const voting = votingOn(pool, id);
  await voting.vote("anna");
  const [reviewCase] = await listUndecided(pool, "stop:");
  if (reviewCase === undefined) throw new Error("the case is open");
  await inTransaction(pool, (tx) => renewCase(tx, reviewCase, aNewCase({ amount: 99n }), AT));
  const { review } = await voting.vote("boris");
  expect(review).toMatchObject({ state: ReviewState.PROPOSED, amount: { minorUnits: 99n } });
  expect(voting.carriedOut).toEqual([]);
  expect(await events(pool)).toMatchObject([
    { event: "PROPOSED", actor: "anna" },
    { event: "VOIDED", actor: "" },
    { event: "PROPOSED", actor: "boris" },
  ]);
});

test("a subject has one open case, and one that no longer exists is neither listed nor decided, and can be opened again", async () => {
  const pool = await reviewDatabase();
  const id = await anOpenCase(pool);
  expect(await inTransaction(pool, (tx) => openCase(tx, aNewCase({ amount: 5n }), AT))).toBeUndefined();
  const [reviewCase] = await listUndecided(pool, "stop:");
  if (reviewCase === undefined) throw new Error("the case is open");
  await inTransaction(pool, (tx) => closeCase(tx, reviewCase, AT));
  for (const state of [ReviewState.UNSPECIFIED, ReviewState.OPEN, ReviewState.PROPOSED, ReviewState.DECIDED]) {
    expect(await listReviews(pool, { afterId: 0n, limit: 10, state })).toEqual({ items: [], hasMore: false });
  }
  await expect(votingOn(pool, id).vote("anna")).rejects.toMatchObject({ code: "review_decided" });
  expect(await anOpenCase(pool)).toBeGreaterThan(id);
});

test("a page of reviews begins after the last id of the page before", async () => {
  const pool = await reviewDatabase();
  const ids = [];
  for (const subject of ["a", "b", "c"]) ids.push(await anOpenCase(pool, { subject }));
  const [first, second, third] = ids;
  await votingOn(pool, second ?? 0n).vote("anna");
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

test("reviews are found by the legs and the deals that they name, in every state", async () => {
  const pool = await reviewDatabase();
  const [leg, deal] = [
    await anOpenCase(pool, { subject: "a", operationId: "4711", dealId: 7n }),
    await anOpenCase(pool, { subject: "b", operationId: "4712", dealId: 4711n }),
  ];
  const nameless = await anOpenCase(pool, { subject: "c", operationId: "", dealId: 0n });
  const voting = votingOn(pool, deal);
  await voting.vote("anna");
  await voting.vote("boris");
  const find = async (operationIds: string[], dealIds: bigint[], state: ReviewState = ReviewState.UNSPECIFIED) => {
    const { items } = await listReviews(pool, { afterId: 0n, limit: 10, state, about: { operationIds, dealIds } });
    return items.map(({ id }) => id);
  };

  expect(await find(["4711"], [])).toEqual([leg]);
  expect(await find([], [7n])).toEqual([leg]);
  expect(await find(["4711", "1"], [4711n, 7n])).toEqual([leg]);
  expect(await find(["4711"], [4711n], ReviewState.DECIDED)).toEqual([deal]);
  expect(await find(["7"], [8n])).toEqual([]);
  expect(await find([], [])).toEqual([]);
  expect(await find([], []).then(() => listReviews(pool, { afterId: 0n, limit: 10, state: 0 }))).toMatchObject({
    items: [{ id: leg }, { id: nameless }],
  });
});

test("a review that does not exist is not found, and all invalid fields are reported at once", async () => {
  const voting = votingOn(await reviewDatabase(), 404n);
  await expect(voting.vote("anna")).rejects.toMatchObject({ code: "review_not_found" });
  await expect(voting.vote("", { reviewId: 0n, action: "No!", dealId: -1n, note: " " })).rejects.toMatchObject({
    code: "validation_failed",
    errors: ["review_id", "action", "deal_id", "note", "actor"].map((field) => ({ field, code: "not_valid" })),
  });
});

test.each(["update review_event set note = 'else'", "delete from review_event"])(
  "a recorded vote cannot be changed: %s",
  async (statement) => {
    const pool = await reviewDatabase();
    await votingOn(pool, await anOpenCase(pool)).vote("anna");
    await expect(pool.query(statement)).rejects.toThrow("review_event is append-only");
  },
);

test("the database refuses a confirmation by the proposing key", async () => {
  const pool = await reviewDatabase();
  const id = await anOpenCase(pool);
  await votingOn(pool, id).vote("anna");
  await expect(
    pool.query(`update review_case set state = 'DECIDED', confirmed_by = 'anna', confirmed_note = '',
                confirmed_at = now(), next_try_at = now() where id = ${id}`),
  ).rejects.toThrow("violates check constraint");
});
