import { expect, test } from "vitest";
import { A_WEBHOOK_SECRET, aWebhook } from "../samples/edge.ts";
import { testEdge } from "../../testing/test-edge.ts";
import type { Scope } from "../../wire/scopes.ts";

const URL = "https://crm.example.com/events";

async function edgeOfKey(...scopes: readonly Scope[]) {
  const edge = await testEdge({
    scopes: ["webhooks", ...scopes],
    webhooks: {
      create: async () => ({ webhook: aWebhook(), secret: A_WEBHOOK_SECRET }),
      update: async () => aWebhook(),
    },
  });
  const create = (types?: string) =>
    edge.call({
      method: "POST",
      url: "/api/v1/webhooks",
      payload: { url: URL, ...(types === undefined ? {} : { types }) },
    });
  const change = (types: string) => edge.call({ method: "PATCH", url: "/api/v1/webhooks/17", payload: { types } });
  return { edge, create, change };
}

test("a webhook is created and changed for types that its key may read", async () => {
  const { edge, create, change } = await edgeOfKey("fees:read", "investors:read");
  for (const types of ["fee.*", "deposit.executed,fee.executed", "unassign.*,withdrawal.*", "*", "*,fee.*"]) {
    expect((await create(types)).status, types).toBe(200);
    expect((await change(types)).status, types).toBe(200);
  }
  expect((await create()).status).toBe(200);
  edge.calls.length = 0;

  for (const send of [create, change]) {
    const refused = await send("deposit.*,mirror.*,review.decided");
    expect([refused.status, refused.body]).toMatchObject([
      403,
      {
        code: "insufficient_scope",
        required_scope: "subscriptions:read",
        outcome: "not_executed",
        detail:
          "The API key may not read events of the type mirror.*, review.decided: it lacks the scope subscriptions:read and ops.",
      },
    ]);
  }
  expect(edge.calls).toEqual([]);
});

test("a key that may read no subject creates no webhook", async () => {
  const { edge, create } = await edgeOfKey("funds:deposit");
  for (const types of [undefined, "*"]) expect((await create(types)).status).toBe(403);
  const named = await create("*");
  expect(named.body).toMatchObject({
    detail:
      "The API key may not read events of the type *: it lacks the scope investors:read or subscriptions:read or fees:read or ops.",
  });
  expect(edge.calls).toEqual([]);
});
