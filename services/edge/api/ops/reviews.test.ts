import { expect, test } from "vitest";
import { testEdge } from "../../testing/test-edge.ts";

test("an action that names no deal is refused with a deal_id, and no service is called", async () => {
  const edge = await testEdge();
  for (const action of ["acknowledge", "resume", "withdraw_proposal"]) {
    const payload = { id: "subscription-7", action, deal_id: 4711, note: "seen" };
    const { status, body } = await edge.call({ method: "POST", url: "/api/v1/ops/reviews", payload });
    const message = `deal_id must be left out: ${action} names no deal.`;
    expect([status, body]).toMatchObject([422, { errors: [{ field: "deal_id", code: "malformed", message }] }]);
  }
});
