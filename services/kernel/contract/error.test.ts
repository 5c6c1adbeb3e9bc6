import { expect, test } from "vitest";
import { Error as ErrorMessage } from "#proto/pamm/common/v1/error.ts";
import { Refusal, REFUSAL_STATUSES } from "../values/refusal.ts";
import { decodeRefusal, encodeRefusal, refusalFromProto, refusalToProto } from "./error.ts";

test.each(REFUSAL_STATUSES)("a refusal with status %s is equal after encoding and decoding", (status) => {
  const bare = new Refusal({ code: "no", status, message: "no" });
  const full = new Refusal({
    code: "account_busy",
    status,
    message: "the account is busy",
    details: { required: "10.00", actual: "5.00" },
    errors: [{ field: "perf_fee.rate", code: "precision", message: "has too many decimals" }],
    outcome: "unknown",
    operationId: "op-1",
    retryAfterMs: 250,
  });

  expect(decodeRefusal(encodeRefusal(bare))).toEqual(bare);
  expect(decodeRefusal(encodeRefusal(full))).toEqual(full);
  expect(refusalFromProto(refusalToProto(full))).toEqual(full);
});

test("an unknown status is decoded as internal, and an unknown outcome as unknown", () => {
  const bytes = ErrorMessage.encode({
    code: "new",
    status: 99 as never,
    message: "",
    details: {},
    errors: [],
    outcome: 99 as never,
    operationId: "",
    retryAfterMs: 0n,
  }).finish();

  expect(decodeRefusal(bytes)).toMatchObject({ code: "new", status: "internal", outcome: "unknown" });
});
