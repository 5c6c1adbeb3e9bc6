import { expect } from "vitest";
import { isObject, itemsOf, textOf } from "../../../deploy/demo/exact-json.ts";
import { eventually, json, minorOf, withKey } from "../../journey/support/client.ts";
import { newOperator, reviewAbout } from "../../journey/support/reviews.ts";
import { dollars } from "../engine/cents.ts";
import * as investing from "../engine/investing.ts";
import * as capital from "../engine/own-capital.ts";
import type { PastResult } from "../engine/parts-of-repair.ts";
import { repair } from "../engine/repair.ts";
import { compensateStopOut } from "../engine/trading.ts";
import type { Investor, Master } from "../engine/world.ts";
import { type Live, loginOf, masterAccountsOf } from "./live.ts";
import { untilEqual } from "./until-equal.ts";
import { inWeek } from "./weeks.ts";

/** What the broker, its dealers and operators do; each function applies it to the system and to the reference. */

const CHARGE = 4;
const CORRECTION = 5;
const AGENT_COMMISSIONS = [10, 11, 18];
const COMPENSATION = 19;

/** The platform raises a balance below zero to 0.00: it sees nothing but the balance. */
export async function protect(live: Live, master: Master): Promise<void> {
  await untilEqual(live);
  await inWeek(live, `the platform raises the balance of ${master.name} to 0.00`, async () => {
    const { login } = masterAccountsOf(live, master);
    const paid = await live.client.control("POST", "compensations", { login });
    compensateStopOut(live.world, master, minorOf(textOf(isObject(paid) ? paid : {}, "amount")));
  });
  await untilEqual(live);
}

/** The broker pays an amount of its own choice for a stop-out, also where none was. */
export async function compensate(live: Live, master: Master, cents: bigint): Promise<void> {
  await untilEqual(live);
  const balance = `${master.balance < 0n ? "a balance below zero" : "the balance"} of ${master.name}`;
  await inWeek(live, `a compensation of ${dollars(cents)} is paid to ${balance}`, async () => {
    await book(live, masterAccountsOf(live, master).login, { action: COMPENSATION, cents });
    compensateStopOut(live.world, master, cents);
  });
  await untilEqual(live);
}

export async function earnAsAgent(live: Live, master: Master, cents: bigint): Promise<void> {
  await inWeek(live, `${master.name} earns ${dollars(cents)} as an agent`, async () => {
    const action = AGENT_COMMISSIONS[Number(cents % 3n)] ?? 0;
    await book(live, masterAccountsOf(live, master).login, { action, cents });
    capital.earnAsAgent(live.world, master, cents);
  });
}

/** The broker charges the account of an Investor, by a rule that adopts it. */
export async function charge(live: Live, investor: Investor, cents: bigint): Promise<void> {
  await untilEqual(live);
  await inWeek(live, `the broker charges ${investor.name} ${dollars(cents)}`, async () => {
    await book(live, loginOf(live, investor), { action: CHARGE, cents: -cents, comment: "dormant" });
    expect(investing.charge(live.world, investor, cents)).toBe(true);
  });
  await untilEqual(live);
}

/**
 * A dealer moves or corrects money on the Master. Waits only while positions are open, because on a flat Master the deals alone decide the order,
 * and while the Master lacks money, because then it refuses Investors.
 */
export async function moveOwn(live: Live, master: Master, cents: bigint): Promise<void> {
  await inWeek(live, `a dealer moves ${dollars(cents)} on ${master.name}`, async () => {
    const { login } = masterAccountsOf(live, master);
    if (cents % 2n !== 0n) await book(live, login, { action: CORRECTION, cents, comment: "dealer" });
    else await live.client.control("POST", "balance", { login, amount: dollars(cents), comment: "dealer" });
    capital.moveOwn(live.world, master, cents);
  });
  if (master.floating.size > 0 || investing.lacksOwnCapital(master)) await untilEqual(live);
}

export type Votes = (masterLogin: string, dealId: string) => Promise<void>;

/** Two operators that allocate what dealers have moved on a Master. */
export async function openVotes({ system, client }: Live): Promise<Votes> {
  const keys = [await newOperator(system, "Allocates"), await newOperator(system, "Approves")];
  return async (masterLogin, dealId) => {
    const review = await reviewAbout(client, masterLogin, "external_funds_on_master");
    for (const key of keys) {
      const vote = { id: textOf(review, "id"), action: "allocate", deal_id: dealId, note: "Checked." };
      const { status, text } = await withKey(client, key).send("/api/v1/ops/reviews", {
        method: "POST",
        ...json(vote),
      });
      expect(status, text).toBe(200);
    }
  };
}

/** Two operators decide that what dealers have moved is a result, of now or of the result that it repairs. False when that is not possible. */
export async function repairBy(live: Live, master: Master, votes: Votes, repaired?: PastResult): Promise<boolean> {
  const ticket = repaired === undefined ? "0" : live.tickets.get(repaired);
  if (ticket === undefined) return false;
  const named = repaired === undefined ? "now" : `${dollars(repaired.cents)}, by its deal`;
  await untilEqual(live);
  const isDone = await inWeek(live, `what dealers have moved on ${master.name} is a result of ${named}`, async () => {
    if (!repair(live.world, master, repaired)) return false;
    await votes(masterAccountsOf(live, master).login, ticket);
    return true;
  });
  if (!isDone) live.transcript.push("   not possible");
  await untilEqual(live);
  return isDone;
}

/** Two runs of the check, on a busy machine. */
const FOUND_WITHIN_MS = 60_000;

/** The broker archives an account when it is empty, and the service finds that. */
export async function archive(live: Live, investor: Investor): Promise<void> {
  await untilEqual(live);
  if (investor.isArchived || !investing.archive(live.world, investor)) return;
  live.transcript.push(`${investor.name} is archived`);
  await live.client.control("POST", `accounts/${loginOf(live, investor)}/archive`, {});
  await untilShown(live, investor, "archived");
}

export async function restore(live: Live, investor: Investor): Promise<void> {
  if (!investor.isArchived) return;
  live.transcript.push(`${investor.name} is back`);
  await live.client.control("POST", `accounts/${loginOf(live, investor)}/restore`, {});
  await untilShown(live, investor, undefined);
  investing.restore(live.world, investor);
  await untilEqual(live);
}

async function untilShown(live: Live, investor: Investor, state: "archived" | undefined): Promise<void> {
  await eventually(async () => {
    const { status, body, text } = await live.client.get("/api/v1/ops/archived-accounts?limit=100");
    expect(status, text).toBe(200);
    const shown = itemsOf(body["items"]).find((item) => item["mt5_login"] === loginOf(live, investor));
    expect(shown?.["state"], live.transcript.join("\n")).toBe(state);
  }, FOUND_WITHIN_MS);
}

type Booking = { readonly action: number; readonly cents: bigint; readonly comment?: string };

async function book({ client }: Live, login: string, { action, cents, comment = "" }: Booking): Promise<void> {
  await client.control("POST", "deals", { login, action, amount: dollars(cents), comment });
}
