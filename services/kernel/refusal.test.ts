import { expect, test } from "vitest";
import { Refusal, refusalsOf } from "./refusal.ts";

const { refuse, refusals } = refusalsOf({ below_min_deposit: "conflict", master_not_found: "not_found" });

test("a refusal takes its status from the table of its service", () => {
  const refusal = refuse("below_min_deposit", "The first deposit is too small.", { details: { required: "50.00" } });

  expect(refusal).toBeInstanceOf(Refusal);
  expect(refusal).toBeInstanceOf(Error);
  expect({ ...refusal }).toEqual({
    name: "Refusal",
    code: "below_min_deposit",
    status: "conflict",
    details: { required: "50.00" },
    errors: [],
    outcome: undefined,
    operationId: undefined,
    retryAfterMs: undefined,
  });
  expect(refusal.message).toBe("The first deposit is too small.");
});

test("a refusal contains every invalid field, the outcome and the operation id", () => {
  const errors = [{ field: "amount", code: "precision", message: "At most two decimals." }];
  const refusal = refuse("master_not_found", "No such Master.", {
    errors,
    outcome: "not_executed",
    operationId: "7",
    retryAfterMs: 250,
  });

  expect(refusal).toMatchObject({ errors, outcome: "not_executed", operationId: "7", retryAfterMs: 250 });
});

test("an unknown code does not compile", () => {
  // @ts-expect-error the table has no such code
  refuse("below_max_deposit", "never");
  expect(Object.keys(refusals)).toEqual(["below_min_deposit", "master_not_found"]);
});

// oxlint-disable-next-line vitest/expect-expect -- the compiler expects the errors.
test("an unknown status does not compile", () => {
  // @ts-expect-error not one of the statuses
  refusalsOf({ teapot: "i_am_a_teapot" });
});
