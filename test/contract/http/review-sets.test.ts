import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { reviewAction, reviewReason } from "../../../services/edge/api/schemas/review-sets.ts";
import { feeKind, feePaymentStatus, feeRunStatus } from "../../../services/edge/api/schemas/fee-listings.ts";
import { reviewActions, type ReviewAction } from "../../../services/platform/domain/review-actions.ts";
import type { ReviewReason } from "../../../services/platform/domain/leg.ts";

const ROOT = join(import.meta.dirname, "../../..");

/** Fails to compile when the platform has a reason or an action that the documentation does not explain. */
const EXPLAINED: Readonly<Record<Exclude<ReviewReason, keyof typeof reviewReason.meanings>, never>> = {};
const POSSIBLE: Readonly<Record<Exclude<ReviewAction, keyof typeof reviewAction.meanings>, never>> = {};

test("every reason that a service gives a review is documented with its meaning", () => {
  const sources = globSync("services/{platform,subscription,fee,kernel}/**/*.ts", { cwd: ROOT })
    .filter((file) => !/\.test\.ts$|\/testing\//.test(file))
    // The event of a leg that is given up has a reason too.
    .map((file) => readFileSync(join(ROOT, file), "utf8").replaceAll(/^.*"given_up".*$/gm, ""))
    .filter((source) => /openCase|reportFinding|NewCase|finding:/.test(source));
  const given = sources.flatMap((source) =>
    [...source.matchAll(/(?:reason|finding): "([a-z_]+)"/g)].map(([, reason]) => reason!),
  );
  const named = sources.flatMap((source) =>
    [...source.matchAll(/\? "([a-z]+_[a-z_]+)" : "([a-z]+_[a-z_]+)"/g)].flatMap((found) => found.slice(1)),
  );

  expect(given.length).toBeGreaterThan(8);
  expect([...new Set([...given, ...named])].filter((reason) => !Object.hasOwn(reviewReason.meanings, reason))).toEqual(
    [],
  );
  expect([EXPLAINED, POSSIBLE]).toEqual([{}, {}]);
});

test("every documented reason of the platform has only documented actions", () => {
  const actions = reviewReason.values.flatMap((reason) => reviewActions(reason, undefined));

  expect(actions.filter((action) => !Object.hasOwn(reviewAction.meanings, action))).toEqual([]);
});

test("the documented values of fees are those that the tables accept", () => {
  const sql = readFileSync(join(ROOT, "services/fee/migrations/0001_fee.sql"), "utf8");
  const sets = [...sql.matchAll(/check \((kind|status) in \(([^)]+)\)\)/g)].map(([, , list = ""]) =>
    list.split(",").map((value) => value.trim().slice(1, -1)),
  );

  for (const { values } of [feeKind, feeRunStatus, feePaymentStatus]) expect(sets).toContainEqual(values);
});
