import { describe, expect, test } from "vitest";
import { serviceUnavailable } from "#kernel/contract/refusals.ts";
import { ReviewState } from "#proto/pamm/common/v1/review.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aBreak, aReview, granted } from "../../services/edge/api/samples/ops.ts";
import { AT, cents } from "../../services/edge/api/samples/values.ts";
import { consoleEdge, PAGES, SOME } from "./support/console-edge.ts";
import { isSkipped } from "./support/console-page.ts";
import { consoleTabs, expectQuiet } from "./support/console-tabs.ts";

describe.skipIf(isSkipped)("in a Chromium, where the machine has one,", { timeout: 180_000 }, () => {
  const { signedIn } = consoleTabs(consoleEdge);

  test("a search by a ticket says what was searched for, and what it means that nothing was found", async () => {
    const { tab, edge } = await signedIn(SOME);
    await tab.go("operations?comment=CRM-T1");
    await tab.shows("Searched for Comment CRM-T1.");
    await tab.go("operations");
    await tab.fill("input[name=ticket]", "1234567");
    await tab.click("button", "Search");
    await tab.shows("Searched for Ticket of a deal 1234567.");
    await tab.shows("No operation that matches has made this deal.");
    expect(await tab.violations()).toEqual([]);
    expect(edge.calls.find(({ method }) => method === "findTransferOfDeal")?.request).toEqual({ dealId: 1_234_567n });
    expectQuiet(tab);

    // The API refuses what is no ticket, in its words.
    await tab.go("operations?ticket=x");
    await tab.shows("must be a whole number");
  });

  test("an operation shows the breaks and reviews about it, decided ones too, and which services could not be asked", async () => {
    const away = () => Promise.reject(serviceUnavailable("fee"));
    const leg = { login: "3000003", kind: MovementKind.DEPOSIT, amount: cents(5_00n), appliedAt: AT, number: 4711n };
    const { APPLIED: state } = TransferState;
    const legs = [{ ...leg, state, dealId: 7n, reference: "R" }];
    const transfer = { transferId: 1n, key: "funding:deposit:17", state, refusalCode: "", platformCode: 0, legs };
    const { tab } = await signedIn(SOME, {
      platform: {
        readTransfers: async () => ({ transfers: [transfer] }),
        getPermits: async () => granted,
        listUnshownAccounts: async () => ({ accounts: [], hasMore: false, archived: 0n, unconfirmed: 0n }),
        readAttempts: async () => ({ attempts: [] }),
        listReviews: async ({ state: wanted }) => {
          const found = {
            id: wanted === ReviewState.DECIDED ? 71n : 72n,
            operationId: "4711",
            reason: "candidate_deal",
          };
          return { items: [aReview({ ...found, state: wanted || ReviewState.OPEN })], hasMore: false };
        },
        listReviewGroups: async () => ({ items: [], hasMore: false }),
        listBreaks: async () => ({
          items: [aBreak({ id: 73n, operationIds: ["4711"], message: "Leg 4711 differs." })],
          checks: [],
          hasMore: false,
        }),
      },
      fees: { listReviews: away, listReviewGroups: away, listBreaks: away },
    });
    await tab.go(PAGES[2] ?? "");
    await tab.shows("Not reached: fee. Their reviews and breaks are missing here.");
    const text = await tab.text();
    for (const shown of [
      "platform-72 candidate deal open",
      "platform-71 candidate deal decided",
      "Leg 4711 differs.",
    ]) {
      expect(text).toContain(shown);
    }
    expect(text).not.toContain("subscription-1");
    expect(await tab.violations()).toEqual([]);
    expectQuiet(tab);
  });
});
