import { expect, test } from "vitest";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { legNumber } from "../domain/leg-number.ts";
import type { Leg } from "../domain/leg.ts";
import { transferResult } from "./transfer-result.ts";

const APPLIED = { state: "APPLIED", ticket: 5n };
const REFUSED = { state: "REFUSED", reason: "platform_rejected" };
const INTENT = { state: "INTENT", attempt: 0 };
const SENDING = { state: "SENDING" };
const UNKNOWN = { state: "UNKNOWN" };
const OPEN_REVIEW = { state: "REVIEW", reason: "candidate_deal", cameFrom: "UNKNOWN" };
const LATE_REVIEW = { state: "REVIEW", reason: "amount_differs", cameFrom: "APPLIED" };
const EXHAUSTED = { state: "REVIEW", reason: "attempts_exhausted", cameFrom: "INTENT" };

function legs(...statuses: object[]): RecordedLeg[] {
  return statuses.map((own, index) => {
    const status = { kind: "fee_debit", attempt: 1, absences: 0, ...own } as Leg;
    const refusal = status.state === "REFUSED" ? status.reason : undefined;
    const number = legNumber(BigInt(index + 1));
    return { number, ordinal: index + 1, login: "1", amountMinor: 1n, status, refusal } as RecordedLeg;
  });
}

test.each([
  ["applied", [APPLIED], "APPLIED"],
  ["refused", [REFUSED], "REFUSED"],
  ["waiting", [INTENT], "PENDING"],
  ["being sent", [SENDING], "UNKNOWN"],
  ["lost", [UNKNOWN], "UNKNOWN"],
  ["lost and in manual review", [OPEN_REVIEW], "REVIEW"],
  ["applied, and in manual review later", [LATE_REVIEW], "APPLIED"],
  ["both applied", [APPLIED, APPLIED], "APPLIED"],
  ["debit refused", [REFUSED, REFUSED], "REFUSED"],
  ["debit applied, credit waiting", [APPLIED, INTENT], "PENDING"],
  ["debit lost", [UNKNOWN, INTENT], "UNKNOWN"],
  ["credit lost", [APPLIED, UNKNOWN], "UNKNOWN"],
  ["credit tried too often", [APPLIED, EXHAUSTED], "REVIEW"],
  ["debit in manual review, credit refused", [LATE_REVIEW, REFUSED], "REVIEW"],
  ["debit kept after manual review, credit refused before", [APPLIED, REFUSED], "REVIEW"],
  ["credit refused, reversal waiting", [APPLIED, REFUSED, INTENT], "PENDING"],
  ["credit refused, reversal lost", [APPLIED, REFUSED, UNKNOWN], "UNKNOWN"],
  ["credit refused, reversed", [APPLIED, REFUSED, APPLIED], "REFUSED"],
  ["credit refused, reversal refused", [APPLIED, REFUSED, REFUSED], "REVIEW"],
] as const)("a transfer whose legs are %s is answered as such", (_what, statuses, state) => {
  expect(transferResult(legs(...statuses)).state).toBe(TransferState[state]);
});

test("a refusal names its reason only when the whole transfer is refused", () => {
  expect(transferResult(legs(REFUSED)).refusalCode).toBe("platform_rejected");
  expect(transferResult(legs(APPLIED, REFUSED, APPLIED)).refusalCode).toBe("credit_refused");
  expect(transferResult(legs(APPLIED, REFUSED, INTENT)).refusalCode).toBe("");
  expect(transferResult(legs({ state: "REFUSED", reason: "decided" })).refusalCode).toBe("absent");
});

test("the platform's own code is that of the leg which it refused", () => {
  const coded = (statuses: object[], ...codes: (number | undefined)[]) =>
    legs(...statuses).map((leg, index) => ({ ...leg, platformCode: codes[index] }));
  const never = { ...REFUSED, attempt: 0 };

  expect(transferResult(coded([REFUSED], 8)).platformCode).toBe(8);
  expect(transferResult(coded([REFUSED, never], 8, undefined)).platformCode).toBe(8);
  expect(transferResult(coded([APPLIED, REFUSED, APPLIED], undefined, 13)).platformCode).toBe(13);
  expect(transferResult(coded([never], undefined)).platformCode).toBe(0);
});

test("a leg shows its reference once it has an attempt", () => {
  const [none] = transferResult(legs(INTENT)).legs;
  const [one] = transferResult(legs(SENDING)).legs;

  expect(none!.reference).toBe("");
  expect(one!.reference).toMatch(/^PF[0-9A-Z]{12}$/);
});
