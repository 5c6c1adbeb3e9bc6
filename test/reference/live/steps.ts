import { expect } from "vitest";
import { isObject, itemsOf, textOf } from "../../../deploy/demo/exact-json.ts";
import { minorOf, type Reply } from "../../journey/support/client.ts";
import * as requests from "../../journey/support/client-requests.ts";
import { dollars } from "../engine/cents.ts";
import { mayPlan } from "../engine/configuration.ts";
import * as investing from "../engine/investing.ts";
import { mark, realise, trade } from "../engine/trading.ts";
import { activeOf, type Investor, type Master } from "../engine/world.ts";
import { accountOnPlatform, codeOf, type Live, loginOf, masterAccountsOf } from "./live.ts";
import { type Previewed, sendPreviewed } from "./previewed.ts";
import { untilEqual, untilPoolIsValued, untilValued } from "./until-equal.ts";
import { inWeek } from "./weeks.ts";

/** Each function applies one step to the system and to the reference, and compares the answer of the system. */

export async function deposit(live: Live, investor: Investor, cents: bigint): Promise<void> {
  await inWeek(live, `${investor.name} deposits ${dollars(cents)}`, async () => {
    const reply = await requests.deposit(live.client, loginOf(live, investor), dollars(cents), "reference");
    const outcome = investing.deposit(live.world, investor, cents);
    expectOutcome(live, reply, outcome);
    if (!("refused" in outcome)) expectNumbers(live, reply, { amount: cents });
  });
  await untilEqual(live);
}

export async function assign(live: Live, investor: Investor, master: Master, terms: investing.Terms): Promise<void> {
  const text = `${investor.name} is assigned to ${master.name} at ${rateText(terms.ratePpm)}, ${terms.enabled ? "on" : "off"}`;
  await inWeek(live, text, async () => {
    const body = {
      master_login: masterAccountsOf(live, master).login,
      investor_login: loginOf(live, investor),
      perf_fee: { rate: Number(rateText(terms.ratePpm)), enabled: terms.enabled },
    };
    const assignment = "/api/v1/investor/assign";
    const reply = await previewed(live, {
      preview: () => live.client.post(`${assignment}/preview`, body),
      send: () => live.client.post(assignment, body),
      members: ["master_id", "investor_id", "status", "in_pool"],
    });
    const started = reply.status === 200 ? { startedAt: instantIn(reply, "started_at") } : {};
    const outcome = investing.assign(live.world, investor, master, { ...terms, ...started });
    expectOutcome(live, reply, outcome);
  });
  await untilEqual(live);
}

export async function withdraw(live: Live, investor: Investor, cents: bigint): Promise<void> {
  await untilValued(live, investor);
  await inWeek(live, `${investor.name} wants to withdraw ${dollars(cents)}`, async () => {
    const query = `login=${loginOf(live, investor)}&amount=${dollars(cents)}`;
    const reply = await previewed(live, {
      preview: () => live.client.post(`/api/v1/investor/withdraw/preview?${query}`),
      send: () => requests.withdraw(live.client, loginOf(live, investor), dollars(cents)),
      members: OF_A_WITHDRAWAL,
      blocked: investor.isArchived ? ["account_archived"] : investing.withdrawalOf(live.world, investor).blocked,
    });
    const outcome = investing.withdraw(live.world, investor, cents);
    expectOutcome(live, reply, outcome);
    if ("refused" in outcome) return;
    expectNumbers(live, reply, {
      requested_amount: outcome.requested,
      effective_withdraw: outcome.effective,
      perf_fee_pending_at_request: outcome.pending,
      balance_before: outcome.before,
      available_after_perf_fee: outcome.available,
    });
  });
  await untilEqual(live);
}

export async function unassign(live: Live, investor: Investor, master: Master): Promise<void> {
  await untilValued(live, investor);
  await inWeek(live, `${investor.name} is unassigned from ${master.name}`, async () => {
    const [masterLogin, investorLogin] = [masterAccountsOf(live, master).login, loginOf(live, investor)];
    const query = `master_login=${masterLogin}&investor_login=${investorLogin}`;
    const holding = activeOf(live.world, investor);
    const reply = await previewed(live, {
      preview: () => live.client.post(`/api/v1/subscriptions/unassign/preview?${query}`),
      send: () => requests.unassign(live.client, masterLogin, investorLogin),
      members: ["subscription.id", "subscription.status", "subscription.in_pool", "payout_enqueued", "amount"],
      ...(holding?.master === master ? { blocked: investing.leaveBlockedBy(holding) } : {}),
    });
    const isKnown = live.world.subscriptions.some((each) => each.investor === investor && each.master === master);
    const outcome = investing.unassign(live.world, investor);
    if (!isKnown) return expectAnswer(live, reply, "404 subscription_not_found");
    expectOutcome(live, reply, outcome);
    if (!("refused" in outcome)) expectNumbers(live, reply, { amount: outcome.amount });
  });
  await untilEqual(live);
}

const OF_A_WITHDRAWAL = [
  "status",
  "message",
  "requested_amount",
  "effective_withdraw",
  "check_open_positions",
  "perf_fee_pending_at_request",
  "balance_before",
  "available_after_perf_fee",
];

async function previewed(live: Live, command: Previewed): Promise<Reply> {
  const { reply, differences } = await sendPreviewed(command);
  if (differences.length > 0) fail(live, differences.join("; "));
  return reply;
}

type Change = { readonly ratePpm?: bigint; readonly enabled?: boolean; readonly since?: number };

export async function configure(live: Live, investor: Investor, { ratePpm, enabled, since }: Change): Promise<void> {
  const parts = [ratePpm === undefined ? "" : rateText(ratePpm), enabled === undefined ? "" : enabled ? "on" : "off"];
  const from = since === undefined ? "now" : new Date(since).toISOString();
  await inWeek(live, `the fee of ${investor.name} is ${parts.join(" ").trim()} from ${from}`, async () => {
    const body = {
      investor_login: loginOf(live, investor),
      ...(ratePpm === undefined ? {} : { rate: Number(rateText(ratePpm)) }),
      ...(enabled === undefined ? {} : { enabled }),
      ...(since === undefined ? {} : { effective_since: new Date(since).toISOString() }),
    };
    const isPlanned = since !== undefined && !mayPlan(investor.configuration, Date.now(), since);
    const reply = await live.client.post("/api/v1/investor/perf-fee/update", body);
    if (isPlanned && codeOf(reply) === "too_many_scheduled_versions") return;
    if (reply.status !== 200) fail(live, reply.text);
    const change = { ...(ratePpm === undefined ? {} : { ratePpm }), ...(enabled === undefined ? {} : { enabled }) };
    const command = { ...change, ...(since === undefined ? {} : { since }) };
    // The instant at which the service has decided, so that both know alike which scheduled versions have begun.
    investing.configure(live.world, investor, { ...command, at: instantIn(reply, "updated_at") });
  });
}

/** Cancels the scheduled version, if there is one that does not begin meanwhile. */
export async function cancelScheduled(live: Live, investor: Investor): Promise<void> {
  const configuration = `/api/v1/investor/${loginOf(live, investor)}/performance-fee`;
  const listed = itemsOf((await live.client.get(`${configuration}/versions?limit=500`)).body["items"]);
  const version = listed.find((each) => textOf(each, "state") === "scheduled");
  if (version === undefined) return;
  const since = textOf(version, "effective_since");
  await inWeek(live, `the fee of ${investor.name} from ${since} is cancelled`, async () => {
    const reply = await live.client.send(`${configuration}/versions/${textOf(version, "id")}`, { method: "DELETE" });
    if (codeOf(reply) === "fee_version_not_scheduled") return;
    if (reply.status !== 200) fail(live, reply.text);
    const at = instantIn(await live.client.get(configuration), "updated_at");
    investing.configure(live.world, investor, { kind: "cancellation", at, since: Date.parse(`${since}Z`) });
  });
}

/** What a client reads that sends back the whole configuration. */
export async function storedSince(live: Live, investor: Investor): Promise<number> {
  return instantIn(
    await live.client.get(`/api/v1/investor/${loginOf(live, investor)}/performance-fee`),
    "effective_since",
  );
}

/** Milliseconds since 1970 of a timestamp in an answer. */
function instantIn({ body }: Reply, member: string): number {
  return Date.parse(`${textOf(body, member)}Z`);
}

/** Does not wait: the service has to order this result and the next step by their deals. */
export async function result(live: Live, master: Master, cents: bigint): Promise<void> {
  await inWeek(live, `${master.name} opens and closes with ${dollars(cents)}`, async () => {
    const { login } = masterAccountsOf(live, master);
    const booked = await live.client.control("POST", "results", { login, profit: dollars(cents) });
    const ticket = textOf(isObject(booked) ? booked : {}, "deal");
    realise(live.world, master, BigInt(ticket), cents);
    const past = master.results.at(-1);
    if (cents !== 0n && past !== undefined) live.tickets.set(past, ticket);
  });
}

export async function open(live: Live, master: Master, lots: string, commission = 0n): Promise<bigint> {
  return await inWeek(live, `${master.name} buys ${lots} lots, commission ${dollars(commission)}`, async () => {
    const { login } = masterAccountsOf(live, master);
    const order = { login, symbol: "EURUSD", side: "buy", volume: lots, commission: dollars(commission) };
    const opened = await live.client.control("POST", "positions", order);
    const positionId = BigInt(textOf(isObject(opened) ? opened : {}, "position"));
    const volume = volumeOf(lots);
    trade(live.world, master, { kind: "entry", positionId, volume, volumeClosed: 0n, result: commission });
    return positionId;
  });
}

/** Sets the price of all positions. The price must not move before earlier steps have their units. */
export async function price(live: Live, value: string): Promise<void> {
  await untilEqual(live);
  await inWeek(live, `the price is ${value}`, async () => {
    await live.client.control("POST", "prices", { symbol: "EURUSD", bid: value, ask: value });
    for (const master of live.world.masters) {
      const { floating } = await accountOnPlatform(live, masterAccountsOf(live, master).login);
      for (const [position, cents] of floating) mark(live.world, master, position, cents);
      master.pool.observe(master.floating);
    }
  });
  for (const master of live.world.masters) await untilPoolIsValued(live, master);
}

export async function close(live: Live, master: Master, positionId: bigint, lots?: string): Promise<void> {
  await inWeek(live, `${master.name} closes ${lots ?? "all"} of ${positionId}`, () =>
    closeNow(live, master, positionId, lots),
  );
}

/** The same as part of another step. */
export async function closeNow(live: Live, master: Master, positionId: bigint, lots?: string): Promise<void> {
  const volume = lots === undefined ? master.pool.volumeOf(positionId) : volumeOf(lots);
  const path = `positions/${positionId}/close`;
  const closed = await live.client.control("POST", path, lots === undefined ? {} : { volume: lots });
  const profit = minorOf(textOf(isObject(closed) ? closed : {}, "profit"));
  const { floating } = await accountOnPlatform(live, masterAccountsOf(live, master).login);
  const deal = { kind: "exit", positionId, volume, volumeClosed: volume, result: profit } as const;
  trade(live.world, master, deal, floating.get(positionId) ?? 0n);
}

function volumeOf(lots: string): bigint {
  const [whole = "", decimals = ""] = lots.split(".");
  return BigInt(whole) * 100_000_000n + BigInt(decimals.padEnd(8, "0"));
}

function rateText(ppm: bigint): string {
  const digits = ppm.toString().padStart(7, "0");
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

function expectOutcome(live: Live, reply: Reply, outcome: object): void {
  expectAnswer(live, reply, "refused" in outcome ? `409 ${String(outcome.refused)}` : "200 ");
}

function expectAnswer(live: Live, reply: Reply, exact: string): void {
  const real = `${reply.status} ${codeOf(reply)}`;
  if (real !== exact) fail(live, `the answer is ${real}, not ${exact}: ${reply.text}`);
}

function expectNumbers(live: Live, reply: Reply, exact: Readonly<Record<string, bigint>>): void {
  if (reply.status !== 200) fail(live, reply.text);
  const wrong = Object.entries(exact).filter(([name, cents]) => minorOf(textOf(reply.body, name)) !== cents);
  const differences = wrong.map(
    ([name, cents]) => `${name} is ${textOf(reply.body, name)}, and ${dollars(cents)} by the reference`,
  );
  if (differences.length > 0) fail(live, differences.join("; "));
}

function fail({ transcript }: Live, difference: string): never {
  expect.fail([...transcript, `   => ${difference}`].join("\n"));
}
