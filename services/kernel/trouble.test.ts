import { expect, test } from "vitest";
import { CommitUnknown } from "./postgres/transaction.ts";
import { Refusal, REFUSAL_STATUSES } from "./refusal.ts";
import { isTrouble } from "./trouble.ts";

const TROUBLE = ["unavailable", "busy", "unknown_outcome", "internal"];

test.each(REFUSAL_STATUSES)("a refusal that is %s is trouble on the way, or an answer", (status) => {
  expect(isTrouble(new Refusal({ code: "no", status, message: "no" }))).toBe(TROUBLE.includes(status));
});

test("a lost connection is trouble; a commit of unknown outcome and a defect are not", () => {
  const lost = new Error("Connection terminated unexpectedly");

  expect([lost, new CommitUnknown(lost), new Error("a defect")].map(isTrouble)).toEqual([true, false, false]);
});
