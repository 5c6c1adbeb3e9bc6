import { expect, test } from "vitest";
import type { JsonObject } from "../../../deploy/demo/exact-json.ts";
import type { Reply } from "../../journey/support/client.ts";
import { sendPreviewed } from "./previewed.ts";

function replyOf(status: number, body: JsonObject): Reply {
  return { status, body, text: JSON.stringify(body), headers: new Headers(), items: [] };
}

const previewOf = (...codes: readonly string[]) => ({
  allowed: codes.length === 0,
  blocking: codes.map((code) => ({ code })),
  amount: "1.00",
  subscription: { status: "PAUSED" },
});
const DONE = replyOf(200, { amount: "1.00", subscription: { status: "PAUSED" } });
const OPEN = replyOf(409, { code: "master_open_positions" });

const differences = async (preview: JsonObject, reply: Reply, status = 200): Promise<readonly string[]> => {
  const members = ["amount", "subscription.status"];
  const sent = { preview: async () => replyOf(status, preview), send: async () => reply, members };
  return (await sendPreviewed(sent)).differences;
};

test("a preview that is followed by what it says has no differences", async () => {
  expect(await differences(previewOf(), DONE)).toEqual([]);
  expect(await differences(previewOf("master_open_positions", "investor_deficit"), OPEN)).toEqual([]);
  const unknown = replyOf(404, { code: "subscription_not_found" });
  expect(await differences({ code: "subscription_not_found" }, unknown, 404)).toEqual([]);
  expect(await differences(previewOf("safety_stop"), replyOf(409, { code: "safety_stop" }))).toEqual([]);
});

test("a preview that was wrong is found: figures, the first reason, and whether the command is allowed", async () => {
  const other = replyOf(200, { amount: "2.00", subscription: { status: "CANCELLED" } });
  expect(await differences(previewOf(), other)).toHaveLength(2);
  expect(await differences(previewOf(), OPEN)).toHaveLength(1);
  expect(await differences(previewOf("investor_deficit", "master_open_positions"), OPEN)).toHaveLength(1);
  expect(await differences(previewOf("master_open_positions"), DONE)).toHaveLength(1);
  expect(await differences({ code: "investor_not_found" }, DONE, 404)).toHaveLength(1);
});
