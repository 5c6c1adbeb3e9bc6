import { describe, expect, test } from "vitest";
import type { Contestant } from "./contest/contestant.ts";
import type { Bench } from "./bench.ts";
import { type AccountBooks, violationsOf } from "./checks/violations.ts";
import { readOptions } from "./options.ts";
import { outcomeOf } from "./run-workload.ts";
import { serveDeposits } from "./testing/deposit-server.ts";

describe("violations", () => {
  const sent = {
    login: "1",
    minor: 100,
    comment: "b1",
    status: 200,
    dealId: "7",
    isDenied: false,
    firstStatus: undefined,
  };
  const deal = { ticket: "7", minor: 100n, comment: "PD0F7K3M9Q2X1X b1" };
  const books: AccountBooks = { login: "1", deals: [deal], platformMinor: 100n, reportedMinor: 100n };

  test("an answer with its deal is none", () => {
    expect(violationsOf([sent], [books])).toEqual([]);
    // Deals of the preparation belong to no request.
    const capital = { ticket: "6", minor: 5n, comment: "PD0F7K3M9Q2X1X capital" };
    const more = { ...books, deals: [capital, deal], platformMinor: 105n, reportedMinor: 105n };
    expect(violationsOf([sent], [more])).toEqual([]);
  });

  test.each([
    ["a 200 without a deal", sent, { ...books, deals: [], platformMinor: 0n, reportedMinor: 0n }],
    [
      "a 200 with two deals",
      sent,
      { ...books, deals: [deal, { ...deal, ticket: "8" }], platformMinor: 200n, reportedMinor: 200n },
    ],
    ["another ticket than the answer's", { ...sent, dealId: "9" }, books],
    ["another amount", { ...sent, minor: 99 }, books],
    ["a denied request with a deal", { ...sent, status: 409, dealId: "", isDenied: true }, books],
    ["a deal without a request", { ...sent, comment: "b2", status: 409, dealId: "", isDenied: true }, books],
    ["a balance that is not the sum of the deals", sent, { ...books, platformMinor: 101n, reportedMinor: 101n }],
    ["a balance that the service reports differently", sent, { ...books, reportedMinor: 99n }],
  ])("%s is one", (_, request, account) => {
    expect(violationsOf([request], [account])).not.toEqual([]);
  });

  test("a deal on the account of another request is one", () => {
    const other: AccountBooks = { ...books, login: "2" };
    const none: AccountBooks = { login: "1", deals: [], platformMinor: 0n, reportedMinor: 0n };
    expect(violationsOf([sent], [none, other])).not.toEqual([]);
  });

  test("a request without an answer may have one deal or none", () => {
    const lost = { ...sent, status: 0, dealId: "" };
    expect(violationsOf([lost], [books])).toEqual([]);
    expect(violationsOf([lost], [{ ...books, deals: [], platformMinor: 0n, reportedMinor: 0n }])).toEqual([]);
  });
});

describe("a run", () => {
  const settings = {
    options: readOptions(["--quick", "--seconds", "0.4"]),
    system: () => Promise.reject(new Error("none")),
    large: () => Promise.reject(new Error("none")),
  };
  const workloadOf = (contestant: Contestant) => ({
    name: "deposit",
    title: "Deposits",
    about: "",
    async run(bench: Bench) {
      const { rate } = await bench.measure(contestant, contestant.deposits, { kind: "closed", callers: 4 });
      const row = [`${rate} per second`];
      return { comparisons: [], tables: [{ title: "", columns: ["rate"], rows: [row] }] };
    },
  });

  test("a workload whose deposits are all on the accounts has figures", async () => {
    await using server = await serveDeposits({ isHonest: true });
    const outcome = await outcomeOf(workloadOf(server.contestant), { ...settings, print: () => undefined });

    expect(outcome).toMatchObject({ section: { tables: [{ rows: [[expect.stringMatching(/per second$/)]] }] } });
    expect(server.deals()).toBeGreaterThan(10);
  });

  test("one deposit that was answered 200 and has no deal: no figure", async () => {
    await using server = await serveDeposits({ isHonest: false });
    const outcome = await outcomeOf(workloadOf(server.contestant), {
      ...settings,
      restsWithinMs: 0,
      print: () => undefined,
    });

    expect(outcome).toEqual({
      violations: expect.arrayContaining([expect.stringMatching(/was answered 200 and has no deal/)]),
    });
  });
});
