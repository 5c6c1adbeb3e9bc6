import { expect, test } from "vitest";
import { CommitUnknown } from "../postgres/failure.ts";
import { Refusal, REFUSAL_STATUSES } from "../values/refusal.ts";
import { isTransientFailure, retryLevel } from "./transient-failure.ts";

const TRANSIENT = ["unavailable", "busy", "unknown_outcome", "internal"];

test.each(REFUSAL_STATUSES)("a refusal with status %s is transient or final", (status) => {
  expect(isTransientFailure(new Refusal({ code: "no", status, message: "no" }))).toBe(TRANSIENT.includes(status));
});

test("a lost connection is transient; a commit of unknown outcome and a defect are not", () => {
  const lost = new Error("Connection terminated unexpectedly");

  expect([lost, new CommitUnknown(lost), new Error("a defect")].map(isTransientFailure)).toEqual([true, false, false]);
});

test("a retry of a transient failure is logged as info, that of a defect as an error", () => {
  const lost = new Error("Connection terminated unexpectedly");

  expect([lost, new CommitUnknown(lost), new Error("a defect")].map(retryLevel)).toEqual(["info", "error", "error"]);
});
