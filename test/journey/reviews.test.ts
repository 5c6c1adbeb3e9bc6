import { afterAll, beforeAll, expect, test } from "vitest";
import { itemsOf, type JsonObject, textOf } from "../../deploy/demo/exact-json.ts";
import { type Client, clientOf, dealsOf, eventually, untilKnown, withKey } from "./support/client.ts";
import { assign, deposit, expectDone, newInvestor, unassign, withdraw } from "./support/client-requests.ts";
import { type Followed, followEvents, newestEvent } from "./support/follow-events.ts";
import { expectProblem } from "./support/problem.ts";
import { decide, newOperator, reviewAbout, vote } from "./support/reviews.ts";
import { sharedSystem, START_TIMEOUT_MS } from "./support/shared-system.ts";
import { bookResult, dealsOfAll, expectBalances, pooled } from "./support/trading.ts";

const TIMEOUT = { timeout: 180_000 };
const STOPPED = { status: 409, code: "safety_stop", outcome: "not_executed" } as const;

let client: Client;
/** With the key of the operator who proposes. */
let operator: Client;
let second: string;
/** Another key in the name of the owner who proposes. */
let ofTheSameOwner: string;
/** The events of all tests, each compared with its route when it arrived. */
let following: Promise<Followed>;
/** The types of which the tests cause events. */
const TYPES = ["review.decided", "review.obsolete", "review.open", "review.proposed"];
/** Of the monotonic clock; the following ends earlier when the last test runs and each type has come. */
let followedToMs = Infinity;
/** A check makes reviews obsolete in its next run. */
const LAST_EVENTS_MS = 60_000;

/** A quiet period, in which the difference of an account has to stay the same. */
const CORRECTED_WITHIN_MS = 60_000;

const typesOf = (events: readonly JsonObject[]) => new Set(events.map((event) => textOf(event, "type")));

function isFollowed(seen: readonly JsonObject[]): boolean {
  if (followedToMs === Infinity) return false;
  return performance.now() > followedToMs || TYPES.every((type) => typesOf(seen).has(type));
}

beforeAll(async () => {
  const system = await sharedSystem();
  client = clientOf(system);
  operator = withKey(client, await newOperator(system, "First"));
  second = await newOperator(system, "Second");
  ofTheSameOwner = await newOperator(system, "First");
  const after = await newestEvent(client);
  following = followEvents(client, { after, types: "review.*", isOver: isFollowed });
  // Its failure is that of the last test.
  following.catch(() => {});
}, START_TIMEOUT_MS);
afterAll(() => void (followedToMs = 0));

/** The proof converges: every cent of the pool matches the ledger, and nothing is quarantined. */
async function expectProven(login: string): Promise<void> {
  await eventually(async () => {
    const { body, text: shown } = await client.get(`/api/v1/info/master/${login}/proof`);
    expect(body["converged"], shown).toBe(true);
  });
}

/** Decides, after votes that do not count: of a key without the scope, twice of one owner, and after the decision. */
async function expectTwoOwners(review: JsonObject, action: string): Promise<void> {
  const scope = { status: 403, code: "insufficient_scope", members: { required_scope: expect.any(String) } } as const;
  expectProblem(await vote(client, review, action), { ...scope, outcome: "not_executed" });
  expect((await vote(operator, review, action)).status).toBe(200);
  for (const key of [undefined, ofTheSameOwner]) {
    const refused = await vote(operator, review, action, key);
    expectProblem(refused, { status: 409, code: "second_approver_required", outcome: "not_executed" });
  }
  const decision = { action, proposed_by: "First" };
  expect((await vote(operator, review, action, second)).body).toMatchObject({ state: "decided", decision });
  const late = await vote(operator, review, action, second);
  expectProblem(late, { status: 409, code: "review_decided", outcome: "not_executed" });
}

test(
  "a forged deal stops its Master only, and two operators reverse it: then all balances match again",
  TIMEOUT,
  async () => {
    const { login, investors } = await pooled(client, ["500"]);
    const elsewhere = await pooled(client, ["200"]);
    const [investor = ""] = investors;
    const [otherInvestor = ""] = elsewhere.investors;
    const newcomer = await newInvestor(client, "100");
    const [mirror] = await dealsOf(client, login);
    await client.control("POST", "balance", { login, amount: "25", comment: mirror?.comment });

    const stop = await reviewAbout(client, login, "stopped");
    const unmatched = await reviewAbout(client, login, "unmatched_deal");
    await expectDone(deposit(untilKnown(client), investor, "30", "while stopped"));
    await expectDone(deposit(untilKnown(client), otherInvestor, "30", "goes on"));
    await expectBalances(client, { [otherInvestor]: "230", [elsewhere.login]: "230" });
    const before = await dealsOfAll(client, [login, investor, newcomer]);
    for (const command of [
      assign(client, login, newcomer),
      withdraw(client, investor, "10"),
      unassign(client, login, investor),
    ]) {
      expectProblem(await command, STOPPED);
    }
    expect(await dealsOfAll(client, [login, investor, newcomer])).toEqual(before);

    await expectTwoOwners(unmatched, "reverse");
    await expectBalances(client, { [login]: "500", [investor]: "530" });
    await decide(operator, stop, "resume", second);
    await expectBalances(client, { [login]: "530", [investor]: "530" });
    await expectDone(assign(untilKnown(client), login, newcomer));
    await expectBalances(client, { [login]: "630" });
    await bookResult(client, login, "63");
    await expectBalances(client, { [login]: "693", [investor]: "583", [newcomer]: "110" });
    await expectDone(withdraw(untilKnown(client), investor, "10"));
    await expectProven(login);
    await expectProven(elsewhere.login);
    const { body } = await client.get("/api/v1/ops/reviews");
    expect(itemsOf(body["items"]).filter((item) => item["login"] === login)).toEqual([]);
  },
);

test(
  "a mirror that the platform has lost is corrected by two operators: its Master resumes, Investors leave, all balances match",
  TIMEOUT,
  async () => {
    const { login, investors } = await pooled(client, ["500", "300"]);
    const [leaving = "", staying = ""] = investors;
    const [mirror] = await dealsOf(client, login);
    await client.control("DELETE", `deals/${mirror?.ticket}`);
    const lost = await reviewAbout(client, login, "history_changed");
    const stop = await reviewAbout(client, login, "stopped");
    expect(lost).toMatchObject({
      actions: ["correct_log", "acknowledge"],
      evidence: { deals: [{ shown: "no such deal" }] },
    });
    // As on a real server, the balance still has the amount of the deleted deal, so the log equals it.
    expectProblem(await vote(operator, lost, "correct_log"), {
      status: 409,
      code: "action_not_possible",
      outcome: "not_executed",
    });
    await client.control("POST", `accounts/${login}/fix`);
    expectProblem(await vote(operator, stop, "resume"), {
      status: 409,
      code: "action_not_possible",
      outcome: "not_executed",
    });

    // The vote is refused until the review has the difference of now, and confirmed when it was read a quiet period ago.
    await eventually(async () => {
      const { status, text: shown } = await vote(operator, lost, "correct_log");
      expect(status, shown).toBe(200);
    });
    expect(await reviewAbout(client, login, "history_changed")).toMatchObject({ amount: "-500.00" });
    await eventually(async () => {
      const { body, text: shown } = await vote(withKey(client, second), lost, "correct_log");
      expect(body["state"], shown).toBe("decided");
    }, CORRECTED_WITHIN_MS);
    await decide(operator, stop, "resume", second);
    const missing = await reviewAbout(client, login, "external_funds_on_master");
    expect(missing).toMatchObject({ amount: "-500.00", actions: ["acknowledge", "allocate"] });
    await bookResult(client, login, "80");
    await expectBalances(client, { [login]: "380", [leaving]: "550", [staying]: "330" });
    await client.control("POST", "balance", { login, amount: "500", comment: "replaces the lost deal" });
    await eventually(async () => {
      const { body } = await client.get("/api/v1/ops/reviews");
      expect(itemsOf(body["items"]).filter((item) => item["login"] === login)).toEqual([]);
    });
    await expectDone(unassign(untilKnown(client), login, leaving));
    await expectBalances(client, { [login]: "330", [staying]: "330", [leaving]: "535" });
    await expectProven(login);
    // The check that has found the deleted deal closes its break when it runs again.
    await eventually(async () => {
      const { body } = await client.get("/api/v1/ops/breaks?limit=100");
      expect(itemsOf(body["items"]).filter((item) => item["master_login"] === login)).toEqual([]);
    });
  },
);

test("an event of a review was never before the lists show it", TIMEOUT, async () => {
  followedToMs = performance.now() + LAST_EVENTS_MS;
  const { compared } = await following;
  expect([...typesOf(compared)].toSorted()).toEqual(expect.arrayContaining(TYPES));
});
