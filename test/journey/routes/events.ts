import { expect, test } from "vitest";
import { itemsOf, type JsonObject, textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, eventually, minorOf, platformBalanceOf } from "../support/client.ts";
import { assign, expectDone, newInvestor, newMaster, unassign } from "../support/client-requests.ts";
import * as shape from "../support/shape.ts";

const { integer, nullable, text, timestamp, login } = shape;

const EVENT = {
  id: integer,
  type: text,
  occurred_at: timestamp,
  state: text,
  subject_id: text,
  login: nullable(login),
  master_login: nullable(login),
  operation_id: nullable(text),
  amount: nullable(text),
  deal_id: nullable(integer),
  reason: nullable(text),
  key: text,
};
/** The states of one subject in their order: a route shows the state of an event, or a later one. */
const ORDER = ["pending", "unknown", "review", "executed", "not_executed", "ACTIVE", "PAUSED", "CANCELLED"];
const LIFE = [
  "deposit.pending",
  "deposit.executed",
  "subscription.active",
  "mirror.pending",
  "mirror.executed",
  "withdrawal.pending",
  "withdrawal.executed",
  "mirror.pending",
  "mirror.executed",
  "subscription.paused",
  "exit.pending",
  "exit.executed",
  "subscription.cancelled",
];

/** The state that the route of the event's subject shows now. */
async function shownState({ get }: Client, event: JsonObject): Promise<string> {
  const [kind = ""] = textOf(event, "type").split(".");
  if (kind === "deposit" || kind === "withdrawal") {
    return textOf((await get(`/api/v1/operations/${textOf(event, "subject_id")}`)).body, "outcome");
  }
  const { items } = await get(`/api/v1/info/subscriptions?investor_login=${textOf(event, "login")}`);
  return textOf(items.find((item) => textOf(item, "id") === textOf(event, "subject_id")) ?? {}, "status");
}

/** Reads on from the cursor until it has seen the event; compares each with its route when it arrives. */
async function follow(client: Client, after: string, isLast: (event: JsonObject) => boolean): Promise<JsonObject[]> {
  const seen: JsonObject[] = [];
  for (let cursor = after; !seen.some(isLast);) {
    const { status, body, text: answer } = await client.get(`/api/v1/events?after=${cursor}&wait=20&limit=3`);
    expect(status).toBe(200);
    for (const item of (JSON.parse(answer) as { items: unknown[] }).items) shape.expectShape(item, EVENT);
    for (const event of itemsOf(body["items"])) {
      seen.push(event);
      if (!/^(?:deposit|withdrawal|subscription)\./.test(textOf(event, "type"))) continue;
      const shown = await shownState(client, event);
      expect(ORDER.indexOf(shown), JSON.stringify(event)).toBeGreaterThanOrEqual(ORDER.indexOf(textOf(event, "state")));
    }
    cursor = textOf(body, "next_cursor");
  }
  return seen;
}

export function eventRoutes(client: () => Client): void {
  const newest = async (): Promise<string> => {
    for (let after = "0"; ;) {
      const { body } = await client().get(`/api/v1/events?after=${after}&limit=500`);
      after = textOf(body, "next_cursor");
      if (body["has_more"] === false) return after;
    }
  };

  test("each state of a life is one event, in order, and never before its route shows it", async () => {
    const after = await newest();
    const { login: master } = await newMaster(client(), "0");
    const investor = await newInvestor(client(), "150.25");
    const isLast = (event: JsonObject): boolean =>
      textOf(event, "type") === "subscription.cancelled" && textOf(event, "login") === investor;
    const following = follow(client(), after, isLast);
    await expectDone(assign(client(), master, investor));
    await eventually(async () => expect(await platformBalanceOf(client(), master)).toBe(minorOf("150.25")));
    await expectDone(client().post(`/api/v1/investor/withdraw?login=${investor}&amount=20.25`));
    await eventually(async () => expect(await platformBalanceOf(client(), master)).toBe(minorOf("130.00")));
    await expectDone(unassign(client(), master, investor));

    const events = (await following).filter((event) => textOf(event, "login") === investor);
    expect(events.map((event) => textOf(event, "type")).toSorted()).toEqual(LIFE.toSorted());
    expect(new Set(events.map((event) => textOf(event, "key"))).size).toBe(LIFE.length);
    const ofService = (names: RegExp): string[] =>
      events.map((event) => textOf(event, "type")).filter((type) => names.test(type));
    // Events of one service are in the order of its commits.
    expect(ofService(/^(deposit|withdrawal)/)).toEqual(LIFE.filter((type) => /^(deposit|withdrawal)/.test(type)));
    expect(ofService(/^(subscription|mirror|exit)/)).toEqual(
      LIFE.filter((type) => /^(subscription|mirror|exit)/.test(type)),
    );

    const again = await client().get(`/api/v1/events?after=${after}&types=subscription.*,exit.executed&limit=500`);
    const kept = itemsOf(again.body["items"]).filter((event) => textOf(event, "login") === investor);
    expect(kept.map((event) => textOf(event, "type"))).toEqual([
      "subscription.active",
      "subscription.paused",
      "exit.executed",
      "subscription.cancelled",
    ]);
  });
}
