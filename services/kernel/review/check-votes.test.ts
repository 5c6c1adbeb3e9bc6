import { expect, test } from "vitest";
import type { Pool } from "../postgres/pool.ts";
import { listBreaks } from "../reconcile/list-breaks.ts";
import { runCheck } from "../reconcile/run-check.ts";
import { insertChecks } from "../reconcile/store.ts";
import { anOpenCase, votingOn } from "../testing/cases.ts";
import { runDeps } from "../testing/check.ts";
import { kernelDatabase } from "../testing/database.ts";
import { type ConfirmedVote, type RecordedVote, reviewVotes } from "./check-votes.ts";
import { VOTES_UNCONFIRMED } from "./review.ts";

type Answer = (vote: RecordedVote) => Partial<ConfirmedVote>;

/** An edge that knows every vote, of a client of its own for each owner, unless `answer` says otherwise. */
async function aWorld() {
  const { pool } = await kernelDatabase("reviews", ["review/review.sql", "reconcile/tables.sql"]);
  const edge: { answer: Answer; asked: RecordedVote[] } = { answer: () => ({}), asked: [] };
  const check = reviewVotes({
    pool,
    service: "platform",
    masterOf: () => "",
    async confirm(votes) {
      edge.asked.push(...votes);
      return votes.map((vote) => ({ problem: "", clientId: `client of ${vote.owner}`, ...edge.answer(vote) }));
    },
  });
  await insertChecks(pool, [check]);
  const run = async (): Promise<string[]> => {
    await runCheck(runDeps(pool), check, undefined);
    const { items, checks } = await listBreaks(pool, { afterId: 0n, limit: 100, withoutChecks: false });
    expect(checks.map(({ error }) => error)).toEqual([""]);
    return items.map(({ key, message }) => `${key}: ${message}`);
  };
  return { pool, edge, run, twice: async () => (await run(), await run()) };
}

async function aDecidedCase(pool: Pool, login = "1001"): Promise<bigint> {
  const id = await anOpenCase(pool, { login, subject: `stop:${login}` });
  const { vote } = votingOn(pool, id);
  await vote("anna", { keyId: "KeyOfAnna001" });
  await vote("boris", { keyId: "KeyOfBoris01" });
  return id;
}

const DECIDED = "Review 1 (stopped) was decided as resume, and";

test("a decision with the votes of two clients is no break, and the edge is asked for each vote", async () => {
  const { pool, edge, twice } = await aWorld();
  await aDecidedCase(pool);
  expect(await twice()).toEqual([]);
  expect(edge.asked.slice(0, 2)).toMatchObject([
    { reviewId: "platform-1", action: "resume", keyId: "KeyOfAnna001", owner: "anna" },
    { reviewId: "platform-1", action: "resume", keyId: "KeyOfBoris01", owner: "boris" },
  ]);
});

test.for<[string, Answer, string]>([
  [
    "a vote that the edge does not know",
    ({ owner }) => (owner === "boris" ? { problem: "unknown_key" } : {}),
    "has a vote that the edge does not confirm (unknown_key).",
  ],
  ["two votes of one client", () => ({ clientId: "one" }), "has two votes of one client."],
])("a decision with %s is a break", async ([, answer, problem]) => {
  const { pool, edge, twice } = await aWorld();
  edge.answer = answer;
  await aDecidedCase(pool);
  expect(await twice()).toEqual([`review:1: ${DECIDED} ${problem}`]);
});

test("a decision with two votes of one owner is a break, whatever the spelling", async () => {
  const { pool, twice } = await aWorld();
  await aDecidedCase(pool);
  await pool.query("alter table review_event disable trigger all");
  await pool.query("update review_case set confirmed_by = 'Anna ' where id = 1");
  await pool.query("update review_event set actor = 'Anna ' where actor = 'boris'");
  expect(await twice()).toEqual([`review:1: ${DECIDED} has two votes of one owner.`]);
});

test("a review that was set to decided without votes is a break with the next run, also after it was known as open", async () => {
  const { pool, run, twice } = await aWorld();
  await anOpenCase(pool);
  expect(await twice()).toEqual([]);
  await pool.query(`update review_case set state = 'DECIDED', action = 'resume', chosen_deal_id = 0, note = 'n', proposed_by = 'anna',
                           proposed_at = '2020-01-01', confirmed_note = 'n', confirmed_by = 'boris', confirmed_at = '2020-01-01', done_at = now()`);
  expect(await run()).toEqual([`review:1: ${DECIDED} has no votes for its decision.`]);
});

test("a decision that differs from its votes is a break", async () => {
  const { pool, twice } = await aWorld();
  await aDecidedCase(pool);
  await pool.query("update review_case set action = 'reverse' where id = 1");
  expect(await twice()).toEqual([
    "review:1: Review 1 (stopped) was decided as reverse, and has no votes for its decision.",
  ]);
  await pool.query("update review_case set action = 'resume', confirmed_by = 'carl' where id = 1");
  expect(await twice()).toEqual([`review:1: ${DECIDED} has no votes for its decision.`]);
});

test("the break ends when two clients have acknowledged the decision, and not by its age", async () => {
  const { pool, edge, twice } = await aWorld();
  edge.answer = ({ reviewId }) => (reviewId === "platform-1" ? { problem: "no_request" } : {});
  await aDecidedCase(pool);
  expect(await twice()).toHaveLength(1);
  await pool.query("update review_case set confirmed_at = now() - interval '60 days' where id = 1");
  expect(await twice()).toHaveLength(1);
  const { rows } = await pool.query(`select id, login, actions from review_case where reason = '${VOTES_UNCONFIRMED}'`);
  expect(rows).toEqual([{ id: 2n, login: "1001", actions: ["acknowledge"] }]);

  const { vote, carriedOut } = votingOn(pool, 2n, { examine: () => Promise.reject(new Error("not of the service")) });
  await vote("anna", { action: "acknowledge" });
  await vote("boris", { action: "acknowledge" });
  expect(carriedOut).toEqual([]);
  expect(await twice()).toEqual([]);
});

test("while the edge does not answer, the check fails and no break is closed", async () => {
  const { pool, edge, twice } = await aWorld();
  edge.answer = () => ({ problem: "unknown_key" });
  await aDecidedCase(pool);
  await twice();
  edge.answer = () => {
    throw new Error("no answer");
  };
  await expect(twice()).rejects.toThrow(/error|expected/i);
  const { items } = await listBreaks(pool, { afterId: 0n, limit: 10, withoutChecks: true });
  expect(items).toHaveLength(1);
});
