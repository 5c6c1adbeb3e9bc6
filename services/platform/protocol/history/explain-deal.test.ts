import { expect, test } from "vitest";
import { type Deal, effectOf } from "../../mt5/deals.ts";
import type { RecordedLeg } from "../../store/leg-row.ts";
import { aDeal as aBalanceDeal } from "../../testing/deals.ts";
import { type DealRecords, explainDeal } from "./explain-deal.ts";
import { legNumber } from "../../domain/leg-number.ts";
import type { Leg } from "../../domain/leg.ts";
import { platformComment, readReference } from "../../domain/reference.ts";

const NUMBER = legNumber(42n);

function aLeg(status: Partial<Leg>, own: Partial<RecordedLeg> = {}): RecordedLeg {
  const kept = { kind: "mirror", attempt: 1, absences: 0, state: "UNKNOWN" };
  return {
    number: NUMBER,
    transferId: 1n,
    ordinal: 1,
    login: "900101",
    requestedMinor: 5_00n,
    amountMinor: 5_00n,
    isReady: true,
    status: { ...kept, ...status } as Leg,
    dealId: undefined,
    appliedAt: undefined,
    refusal: undefined,
    platformCode: undefined,
    key: "mirror:1",
    lockOwner: "",
    legCount: 1,
    comment: "",
    isEnqueued: false,
    releasesLock: false,
    requestId: "",
    isLate: false,
    isEarly: false,
    isOutdated: false,
    createdAt: new Date(0),
    changedAt: new Date(0),
    ...own,
  };
}

function aDeal(own: Partial<Deal> = {}): Deal {
  const deal = aBalanceDeal({ ticket: 77n, login: "900101", at: new Date(0) });
  return { ...deal, profitMinor: 5_00n, ...own };
}

function records(own: Partial<DealRecords> = {}): DealRecords {
  return { byTicket: undefined, reference: undefined, byReference: undefined, underWay: [], ...own };
}

function referenced(leg: RecordedLeg | undefined, attempt = 1): DealRecords {
  const comment = platformComment({ kind: "mirror", number: NUMBER, attempt }, "");
  return records({ reference: readReference(comment), byReference: leg });
}

test.each([3, 6, 20])("action %i leaves the balance as it is", (action) => {
  expect(explainDeal(aDeal({ action }), records())).toEqual({ kind: "no_effect" });
});

test.each([13, 14])("a cancelled deal (action %i) is no movement", (action) => {
  expect(explainDeal(aDeal({ action }), records())).toEqual({ kind: "no_effect" });
});

test.each([0, 1, 7, 8, 9, 10, 11, 12, 15, 16, 17, 18, 19])("action %i is a trade", (action) => {
  expect(explainDeal(aDeal({ action }), records())).toEqual({ kind: "trade" });
});

test.each([2, 4, 5])("a balance operation (action %i) without a reference of the service is external", (action) => {
  expect(explainDeal(aDeal({ action }), records())).toEqual({ kind: "external", finding: "external_funds" });
});

test.each([
  [{ action: 4 }, { actions: [4, 5], comments: [] }, "trade"],
  [{ action: 2 }, { actions: [4, 5], comments: [] }, "external"],
  [{ action: 2, comment: "SWAPFREE 2026-01" }, { actions: [], comments: ["SWAPFREE"] }, "trade"],
  [{ action: 2, comment: "Bonus SWAPFREE" }, { actions: [], comments: ["SWAPFREE"] }, "external"],
])("%j with the rules %j is %s", (deal, rules, kind) => {
  expect(explainDeal(aDeal(deal), records(), rules)).toMatchObject({ kind });
});

test("no rule makes a result of a deal that carries a reference, or that may belong to a leg under way", () => {
  const rules = { actions: [2, 4, 5], comments: [] };
  expect(explainDeal(aDeal(), referenced(undefined), rules)).toMatchObject({ finding: "unknown_reference" });
  const leg = aLeg({ state: "UNKNOWN" });
  expect(explainDeal(aDeal(), records({ underWay: [leg] }), rules)).toMatchObject({ kind: "undecided" });
  expect(explainDeal(aDeal(), records({ byTicket: leg }), rules)).toMatchObject({ kind: "own" });
});

test("a known ticket takes precedence over the comment", () => {
  const leg = aLeg({ state: "APPLIED", ticket: 77n });
  const rewritten = aDeal({ comment: "rewritten by the broker" });

  expect(explainDeal(rewritten, records({ byTicket: leg }))).toEqual({ kind: "own", leg });
});

test("a ticket that is reused on another login is no evidence about its first leg", () => {
  const leg = aLeg({ state: "APPLIED", ticket: 77n }, { login: "900102" });

  expect(explainDeal(aDeal(), records({ byTicket: leg }))).toMatchObject({ kind: "external" });
});

test.each(["SENDING", "UNKNOWN"] as const)("the reference of a leg in %s applies it", (state) => {
  const leg = aLeg({ state });

  const event = { type: "applied", attempt: 1, ticket: 77n };
  expect(explainDeal(aDeal(), referenced(leg))).toEqual({ kind: "applies", leg, event });
});

test.each(["INTENT", "SENDING", "UNKNOWN"] as const)(
  "the reference of a later attempt than the recorded one applies a leg in %s, and proves that its permit was lost",
  (state) => {
    const leg = aLeg({ state });
    const event = { type: "lost_permit_applied", attempt: 2, ticket: 77n };

    expect(explainDeal(aDeal(), referenced(leg, 2))).toEqual({ kind: "applies", leg, event, isPermitLost: true });
  },
);

test.each(["INTENT", "UNKNOWN"] as const)(
  "a later attempt with another amount sends its leg in %s to manual review, and proves that its permit was lost",
  (state) => {
    const leg = aLeg({ state });

    expect(explainDeal(aDeal({ profitMinor: 5_01n }), referenced(leg, 2))).toEqual({
      kind: "external",
      finding: "unmatched_deal",
      leg,
      event: { type: "applied", attempt: 2, ticket: 77n },
      isPermitLost: true,
    });
  },
);

test.each([
  ["was refused", aLeg({ state: "REFUSED", reason: "absent" })],
  ["has its deal", aLeg({ state: "APPLIED", ticket: 5n })],
  ["is in manual review", aLeg({ state: "REVIEW", reason: "candidate_deal", cameFrom: "UNKNOWN" })],
])("a later attempt of a leg that %s is external, and proves that its permit was lost", (_what, leg) => {
  const attempt = leg.status.attempt + 1;

  expect(explainDeal(aDeal(), referenced(leg, attempt))).toEqual({
    kind: "external",
    finding: "unmatched_deal",
    leg,
    event: { type: "applied", attempt, ticket: 77n },
    isPermitLost: true,
  });
});

test("the reference with another amount is sent to manual review and not booked", () => {
  const leg = aLeg({ state: "UNKNOWN" });

  expect(explainDeal(aDeal({ profitMinor: 5_01n }), referenced(leg))).toEqual({
    kind: "undecided",
    leg,
    misfit: "amount_differs",
  });
});

test("a leg is recognised by its reference on a charge or a correction too: the type of its operation is a setting", () => {
  const leg = aLeg({ state: "UNKNOWN" });

  for (const action of [4, 5]) {
    const explained = explainDeal(aDeal({ action }), referenced(leg));
    expect(explained).toMatchObject({ kind: "applies", leg });
  }
});

test("during manual review of a leg that may have been applied, its deal is undecided", () => {
  const leg = aLeg({ state: "REVIEW", reason: "candidate_deal", cameFrom: "UNKNOWN" });

  expect(explainDeal(aDeal(), referenced(leg))).toEqual({ kind: "undecided", leg });
});

test.each([
  ["another attempt than the current one", aLeg({ state: "UNKNOWN", attempt: 2 })],
  ["an attempt that has ended", aLeg({ state: "INTENT" })],
  ["a leg that was refused", aLeg({ state: "REFUSED", reason: "absent" })],
  ["a leg that has its deal", aLeg({ state: "APPLIED", ticket: 5n })],
])("the reference of %s makes the deal unmatched: external, and sent to manual review", (_what, leg) => {
  const explained = explainDeal(aDeal(), referenced(leg));
  expect(explained).toMatchObject({ kind: "external", finding: "unmatched_deal" });
  expect(explained).not.toHaveProperty("isPermitLost");
});

test("an unknown reference, or one on another login, is external and reported", () => {
  const elsewhere = aLeg({ state: "UNKNOWN" }, { login: "900102" });

  expect(explainDeal(aDeal(), referenced(undefined))).toEqual({ kind: "external", finding: "unknown_reference" });
  expect(explainDeal(aDeal(), referenced(elsewhere))).toMatchObject({
    kind: "external",
    finding: "misplaced_reference",
  });
});

test("a reference of another kind than its leg is misplaced, also with a matching number", () => {
  const deposit = aLeg({ kind: "deposit", state: "UNKNOWN" });

  expect(explainDeal(aDeal(), referenced(deposit))).toEqual({
    kind: "external",
    finding: "misplaced_reference",
    leg: deposit,
  });
});

test("a deal changes the balance by its profit, swap, commission and fee together", () => {
  const deal = aDeal({ profitMinor: 100_00n, swapMinor: -3_00n, commissionMinor: -20n, feeMinor: -1n });

  expect(effectOf(deal)).toBe(96_79n);
});

test("a deal with the amount of an open leg is undecided, another amount is external", () => {
  const leg = aLeg({ state: "SENDING" });

  expect(explainDeal(aDeal(), records({ underWay: [leg] }))).toEqual({ kind: "undecided", leg });
  expect(explainDeal(aDeal({ profitMinor: 5_01n }), records({ underWay: [leg] }))).toMatchObject({
    kind: "external",
  });
});
