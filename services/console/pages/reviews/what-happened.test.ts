import { expect, test } from "vitest";
import type { Models } from "../../../client/index.ts";
import { choicesOf } from "./group-vote.tsx";
import { type Happened, inNumbers, whatHappened } from "./what-happened.ts";

const CAUSE = { action: 4, comment: "Dormant fee", day: "2026-01-31" };
const GROUP = {
  reason: "external_funds_on_investor",
  meaning: "Money was moved on an Investor without this service.",
  cause: CAUSE,
  count: 50,
  amount: "-750.00",
  lowest: "-15.00",
  highest: "-15.00",
} as const;

test.each<[Partial<Happened>, string]>([
  [{}, "The broker charged 15.00 on each of 50 Investors, 750.00 together: “Dormant fee”, on 2026-01-31."],
  [
    { highest: "-5.00", amount: "-400.00" },
    "The broker charged 15.00 to 5.00 on each of 50 Investors, 400.00 together: “Dormant fee”, on 2026-01-31.",
  ],
  [
    { count: 1, amount: "40.00", cause: { ...CAUSE, action: 2, comment: "" } },
    "A dealer paid in 40.00 on one Investor: without a comment, on 2026-01-31.",
  ],
  [{ cause: null }, "Money was moved on an Investor without this service. It concerns 50 accounts."],
  [
    { reason: "external_funds_on_master", count: 3, amount: "-45.00" },
    "The broker charged 15.00 on each of 3 Masters, 45.00 together: “Dormant fee”, on 2026-01-31.",
  ],
  [
    { reason: "external_funds_on_master", count: 1, cause: null, amount: "-30.00", isOwnCapital: true },
    "The Master lacks 30.00: it ends when the broker pays in exactly that much, or Investors bear it.",
  ],
  [
    { reason: "external_funds_on_master", count: 1, cause: null, amount: "20.00", isOwnCapital: true },
    "20.00 on the Master belong to no Investor.",
  ],
])("a case is described in plain words: %j", (own, described) => {
  expect(whatHappened({ ...GROUP, ...own })).toBe(described);
});

test("an action is described with the number of accounts and the amount", () => {
  const two = [{ amount: "-15.00" }, { amount: "-15.00" }];
  expect(inNumbers("adopt", two)).toContain("30.00 on 2 accounts leave the pool");
  expect(inNumbers("adopt", [{ amount: "40.00" }])).toContain("40.00 on this account join the pool");
  expect(inNumbers("acknowledge", two)).toContain("Nothing is moved: 30.00 on 2 accounts");
  expect(inNumbers("allocate", two)).toContain("30.00 on 2 accounts are borne by the Investors");
  expect(inNumbers("resume", [{ amount: null }])).toBe("");
});

test("of a group what another owner has proposed is approved, what one has proposed is withdrawn, and the rest is proposed", () => {
  const review = (id: number, action?: string, by = "Ann", deal_id: number | null = null) =>
    ({
      id: `subscription-${id}`,
      actions: action === undefined ? ["adopt", "acknowledge", "allocate_deal"] : [action, "withdraw_proposal"],
      decision: action === undefined ? null : { action, deal_id, proposed_by: by },
    }) as unknown as Models["Review"];
  const reviews = [review(1), review(2, "adopt"), review(3, "adopt"), review(4, "acknowledge", "Ben"), review(5)];
  // One that names a deal is decided by itself.
  reviews.push(review(6, "allocate", "Ann", 1_234_567));
  const shown = choicesOf(reviews, "ben").map(({ kind, action, by, reviews: { length } }) => [
    kind,
    action,
    by,
    length,
  ]);
  expect(shown).toEqual([
    ["approve", "adopt", "Ann", 2],
    ["withdraw", "adopt", "Ann", 2],
    ["withdraw", "acknowledge", "Ben", 1],
    ["propose", "adopt", "ben", 2],
    ["propose", "acknowledge", "ben", 2],
  ]);
});
