import { expect, test } from "vitest";
import { aCaller, testEdge } from "../../testing/test-edge.ts";
import { LATER, LATER_TEXT } from "../samples/values.ts";

const URL = "/api/v1/whoami";

test("a key is described without its secret", async () => {
  const limited = { environment: "live", expiresAt: LATER, isLimitedToAddresses: true } as const;
  const caller = { ...aCaller(["funds:deposit", "masters:read"]), ...limited };
  const edge = await testEdge({ app: { authenticate: async () => caller } });
  const answer = await edge.call({ url: URL });

  expect([answer.status, answer.body]).toEqual([
    200,
    {
      client: "tests",
      key_id: "KeyOfTests01",
      scopes: ["masters:read", "funds:deposit"],
      environment: "live",
      expires_at: LATER_TEXT,
      has_allow_list: true,
    },
  ]);
});
