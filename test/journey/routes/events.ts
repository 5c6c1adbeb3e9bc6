import { expect, test } from "vitest";
import { itemsOf, type JsonObject, textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, eventually, minorOf, platformBalanceOf } from "../support/client.ts";
import { assign, deposit, expectDone, newInvestor, newMaster, unassign } from "../support/client-requests.ts";
import { followEvents, newestEvent } from "../support/follow-events.ts";
import { bookResult } from "../support/trading.ts";

const LIFE = [
  "deposit.pending",
  "deposit.executed",
  "subscription.active",
  "mirror.pending",
  "mirror.executed",
  "deposit.pending",
  "deposit.executed",
  "mirror.pending",
  "mirror.executed",
  "withdrawal.pending",
  "withdrawal.executed",
  "mirror.pending",
  "mirror.executed",
  "mirror.pending",
  "mirror.executed",
  "fee.executed",
  "subscription.paused",
  "exit.pending",
  "exit.executed",
  "subscription.cancelled",
];

export function eventRoutes(client: () => Client): void {
  test("each state of a life is one event, in order, and never before its route shows it", async () => {
    const after = await newestEvent(client());
    const { login: master } = await newMaster(client(), "0");
    const investor = await newInvestor(client(), "150.25");
    // Of two services, whose events come in either order.
    const isOver = (seen: readonly JsonObject[]): boolean =>
      ["subscription.cancelled", "fee.executed"].every((type) =>
        seen.some((event) => textOf(event, "type") === type && event["login"] === investor),
      );
    const following = followEvents(client(), { after, isOver });
    await expectDone(assign(client(), master, investor));
    await eventually(async () => expect(await platformBalanceOf(client(), master)).toBe(minorOf("150.25")));
    await expectDone(deposit(client(), investor, "40.50", "again"));
    await eventually(async () => expect(await platformBalanceOf(client(), master)).toBe(minorOf("190.75")));
    await expectDone(client().post(`/api/v1/investor/withdraw?login=${investor}&amount=20.25`));
    await eventually(async () => expect(await platformBalanceOf(client(), master)).toBe(minorOf("170.50")));
    await bookResult(client(), master, "10.00");
    await eventually(async () => expect(await platformBalanceOf(client(), investor)).toBe(minorOf("180.50")));
    await expectDone(unassign(client(), master, investor));

    const { seen, compared } = await following;
    const isOwn = (event: JsonObject): boolean => event["login"] === investor;
    const events = seen.filter(isOwn);
    const typesCompared = compared.filter(isOwn).map((event) => textOf(event, "type"));
    expect(events.map((event) => textOf(event, "type")).toSorted()).toEqual(LIFE.toSorted());
    expect(new Set(events.map((event) => textOf(event, "key"))).size).toBe(LIFE.length);
    const ofService = (names: RegExp): string[] =>
      events.map((event) => textOf(event, "type")).filter((type) => names.test(type));
    // Events of one service are in the order of its commits.
    expect(ofService(/^(deposit|withdrawal)/)).toEqual(LIFE.filter((type) => /^(deposit|withdrawal)/.test(type)));
    expect(ofService(/^(subscription|exit)/)).toEqual(LIFE.filter((type) => /^(subscription|exit)/.test(type)));
    // The next part may be recorded before the mirror of the last one is.
    const mirrored = Map.groupBy(
      events.filter((event) => textOf(event, "type").startsWith("mirror.")),
      (event) => textOf(event, "subject_id"),
    );
    for (const part of mirrored.values()) {
      expect(part.map((event) => textOf(event, "state"))).toEqual(["pending", "executed"]);
    }

    // Of four parts that were mirrored one is that of a deposit, so a leg of its operation shows it, if funding had received the assignment.
    const { body } = await client().get(`/api/v1/operations?login=${investor}&action=deposit&limit=100`);
    const isNamed = itemsOf(body["items"]).some((item) => item["master_login"] === master);
    expect(typesCompared.filter((type) => type.startsWith("mirror."))).toEqual(
      isNamed ? ["mirror.pending", "mirror.executed"] : [],
    );
    expect(typesCompared.filter((type) => !type.startsWith("mirror.")).toSorted()).toEqual(
      LIFE.filter((type) => !type.startsWith("mirror.")).toSorted(),
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
