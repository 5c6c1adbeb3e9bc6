import { expect, test } from "vitest";
import { unpaid } from "./payment-outcome.ts";

test("a refused debit is deferred, a refused credit reversed, and a debt without free funds skipped", () => {
  expect(unpaid("PF", "insufficient_funds").status).toBe("DEFERRED");
  expect(unpaid("PF", "nothing_to_take").status).toBe("DEFERRED");
  expect(unpaid("PF_DEBT", "nothing_to_take").status).toBe("SKIPPED");
  expect(unpaid("PF_DEBT", "absent").status).toBe("DEFERRED");
  expect(unpaid("PF_DEBT", "credit_refused").status).toBe("REVERSED");
});
