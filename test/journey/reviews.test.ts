import { afterAll, beforeAll, expect, test } from "vitest";
import { itemsOf, type JsonObject, objectOf, textOf } from "../../deploy/demo/exact-json.ts";
import { type Client, clientOf, dealsOf, eventually, json, untilKnown, withKey } from "./support/client.ts";
import {
  assign,
  deposit,
  existingAccount,
  expectDone,
  newInvestor,
  unassign,
  withdraw,
} from "./support/client-requests.ts";
import { type Followed, followEvents, newestEvent } from "./support/follow-events.ts";
import { expectProblem } from "./support/problem.ts";
import { cents } from "./support/proof.ts";
import { decide, newOperator, reviewAbout, vote } from "./support/reviews.ts";
import { text } from "./support/shape.ts";
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
const TYPES = ["break.open", "review.decided", "review.obsolete", "review.open", "review.proposed"];
/** Of the monotonic clock; the following ends earlier when the last test runs and each type has come. */
let followedToMs = Infinity;
/** A check opens its breaks, and makes reviews obsolete, in its next run. */
const LAST_EVENTS_MS = 60_000;

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
  following = followEvents(client, { after, types: "break.*,review.*", isOver: isFollowed });
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

test(
  "a dealer's deposit on an Investor in a pool is adopted by two operators and mirrored to the Master",
  TIMEOUT,
  async () => {
    const { login, investors } = await pooled(client, ["500", "300"]);
    const [investor = "", other = ""] = investors;
    await client.control("POST", "balance", { login: investor, amount: "40" });
    const review = await reviewAbout(client, investor, "external_funds_on_investor");
    expect(review).toMatchObject({ amount: "40.00", actions: ["adopt", "acknowledge"], state: "open", decision: null });
    await expectBalances(client, { [investor]: "540", [login]: "800" });

    expectProblem(await vote(client, review, "adopt"), {
      status: 403,
      code: "insufficient_scope",
      outcome: "not_executed",
      members: { required_scope: text },
    });
    expect((await vote(operator, review, "adopt")).status).toBe(200);
    for (const key of [undefined, ofTheSameOwner]) {
      expectProblem(await vote(operator, review, "adopt", key), {
        status: 409,
        code: "second_approver_required",
        outcome: "not_executed",
      });
    }
    expect((await vote(operator, review, "adopt", second)).body).toMatchObject({
      state: "decided",
      actions: [],
      decision: { action: "adopt", proposed_by: "First" },
    });
    expectProblem(await vote(operator, review, "adopt", second), {
      status: 409,
      code: "review_decided",
      outcome: "not_executed",
    });
    await expectBalances(client, { [investor]: "540", [other]: "300", [login]: "840" });
    await bookResult(client, login, "84");
    await expectBalances(client, { [investor]: "594", [other]: "330", [login]: "924" });
    await expectProven(login);
  },
);

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
      expectProblem(await command, { ...STOPPED, members: { operation_id: text } });
    }
    expect(await dealsOfAll(client, [login, investor, newcomer])).toEqual(before);

    await decide(operator, unmatched, "reverse", second);
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
    const lost = await reviewAbout(client, login, "applied_deal_gone");
    const stop = await reviewAbout(client, login, "stopped");
    expect(lost).toMatchObject({ actions: ["correct_log", "acknowledge"], evidence: { correction_minor: "-50000" } });
    // As on a real server, the balance still has the amount of the deleted deal, so the log cannot be corrected yet.
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

    await decide(operator, lost, "correct_log", second);
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

test(
  "an Investor of 1,000.00 on a Master registered with 5,000.00 gets a sixth of a result, and the own capital is acknowledged",
  TIMEOUT,
  async () => {
    const [login, payment] = [await existingAccount(client, "5000"), await existingAccount(client)];
    const request = { mt5_login: login, payment_account_login: payment, min_deposit: "0" };
    await expectDone(client.post("/api/v1/master/add", request));
    const investor = await newInvestor(client, "1000");
    await expectDone(assign(untilKnown(client), login, investor, 0));
    await expectBalances(client, { [login]: "6000" });
    await bookResult(client, login, "600");
    await expectBalances(client, { [login]: "6600", [investor]: "1100" });

    const review = await reviewAbout(client, login, "external_funds_on_master");
    expect(review).toMatchObject({ amount: "5000.00", actions: ["acknowledge"] });
    await expectOwn(login, { quarantined: 5_500_00n, own_capital: 0n });
    await decide(operator, review, "acknowledge", second);
    await expectProven(login);
    await expectOwn(login, { quarantined: 0n, own_capital: 5_500_00n });

    await bookResult(client, login, "-1320");
    await expectBalances(client, { [login]: "5280", [investor]: "880" });
    await expectProven(login);
    await client.control("POST", "balance", { login, amount: "-400", comment: "dealer" });
    expect(await reviewAbout(client, login, "external_funds_on_master")).toMatchObject({ amount: "-400.00" });
    await expectOwn(login, { quarantined: 4_000_00n, own_capital: 0n });
    await expectDone(unassign(untilKnown(client), login, investor));
    await expectBalances(client, { [login]: "4000", [investor]: "880" });
  },
);

test(
  "deposits of a pool in deficit wait and can be withdrawn, and the broker's compensation of the whole hole lets everyone leave",
  TIMEOUT,
  async () => {
    const {
      login,
      investors: [first = "", second_ = ""],
    } = await pooled(client, ["1000", "1000"]);
    await bookResult(client, login, "-2500");
    await expectBalances(client, { [login]: "-500", [first]: "0", [second_]: "0" });
    const other = await newInvestor(client, "10");
    await eventually(async () => expect(await assign(client, login, other)).toMatchObject({ status: STOPPED.status }));
    const deposited = await deposit(untilKnown(client), second_, "340", "late");
    await expectDone(Promise.resolve(deposited));
    const operation = deposited.headers.get("x-operation-id") ?? "";
    await eventually(async () => {
      const { body } = await client.get(`/api/v1/operations/${operation}`);
      expect(itemsOf(body["legs"]).at(-1)).toMatchObject({
        kind: "mirror",
        outcome: "pending",
        waits_for: "pool_deficit",
      });
    });
    const { body: paid } = await withdraw(untilKnown(client), second_, "40");
    expect(paid).toMatchObject({ balance_before: "340.00" });
    await expectBalances(client, { [login]: "-500", [second_]: "300" });
    await client.control("POST", "compensations", { login });
    await expectBalances(client, { [login]: "300", [first]: "0", [second_]: "300" });
    for (const investor of [first, second_]) await expectDone(unassign(untilKnown(client), login, investor));
    await expectBalances(client, { [login]: "0", [first]: "0", [second_]: "300" });
    await expectProven(login);
  },
);

test(
  "what a broker pays for a bad tick is allocated by two operators to those who had the loss, also to one who has left",
  TIMEOUT,
  async () => {
    const {
      login,
      investors: [first = "", second_ = ""],
    } = await pooled(client, ["6000", "4000"]);
    await bookResult(client, login, "-1000");
    await expectBalances(client, { [login]: "9000", [first]: "5400", [second_]: "3600" });
    const tick = (await dealsOf(client, login)).at(-1)?.ticket ?? "";
    await expectDone(unassign(untilKnown(client), login, first));
    await expectBalances(client, { [login]: "3600" });
    await client.control("POST", "balance", { login, amount: "1000", comment: "bad tick" });
    const review = await reviewAbout(client, login, "external_funds_on_master");
    expect(review).toMatchObject({ amount: "1000.00", actions: ["acknowledge", "allocate"] });
    const allocate = (deal: string, key: Readonly<Record<string, string>> = {}) => {
      const { body, headers } = json({ id: textOf(review, "id"), action: "allocate", deal_id: deal, note: "Checked." });
      return operator.send("/api/v1/ops/reviews", { method: "POST", body, headers: { ...headers, ...key } });
    };
    expect(await allocate("1")).toMatchObject({ status: 409, body: { code: "action_not_possible" } });
    for (const key of [{}, { authorization: `Bearer ${second}` }]) {
      const { status, text: answered } = await allocate(tick, key);
      expect(status, answered).toBe(200);
    }
    await expectBalances(client, { [login]: "4000", [first]: "6000", [second_]: "4000" });
    await expectProven(login);
  },
);

test("an event of a break or a review was never before the lists show it", TIMEOUT, async () => {
  followedToMs = performance.now() + LAST_EVENTS_MS;
  const { compared } = await following;
  expect([...typesOf(compared)].toSorted()).toEqual(expect.arrayContaining(TYPES));
});

/** What the proof shows of the money on the Master that belongs to no Investor. */
async function expectOwn(login: string, expected: Readonly<Record<string, bigint>>): Promise<void> {
  await eventually(async () => {
    const { body } = await client.get(`/api/v1/info/master/${login}/proof`);
    const master = objectOf(body, "master");
    const found = Object.fromEntries(Object.keys(expected).map((name) => [name, cents(master, name)]));
    expect(found).toEqual(expected);
    expect(cents(master, "difference")).toBe(0n);
  });
}
