import { setTimeout as sleep } from "node:timers/promises";
import { isObject, itemsOf, textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, clientOf, minorOf, type Reply } from "../../journey/support/client.ts";
import { newInvestor, newMaster, type NewMaster } from "../../journey/support/people.ts";
import type { TestSystem } from "../../journey/support/system.ts";
import { closeWeek } from "../engine/fees.ts";
import { addInvestor, addMaster, type Investor, type Master, newWorld, type World } from "../engine/world.ts";
import type { InnerBooks } from "./inner-books.ts";

/** A running system and the world that it should be, step by step in the same order. */
export type Live = {
  readonly system: TestSystem;
  readonly client: Client;
  readonly books: InnerBooks;
  readonly world: World;
  readonly people: Map<Investor, string>;
  readonly places: Map<Master, NewMaster>;
  readonly saga: string[];
  readonly week: { readonly periodMs: number; readonly anchorMs: number };
  /** End of the fee week in which the world is. */
  cutOff: number;
};

/** A step may cross the end of a week in an order that nobody can know: then all begins again, with new accounts. */
export class Straddled extends Error {}

export async function openLive(system: TestSystem, books: InnerBooks): Promise<Live> {
  const { feePeriodMs, feeAnchor } = system.info();
  const world = newWorld({ investors: 0, masters: 0, now: Date.now() });
  const week = { periodMs: feePeriodMs, anchorMs: Date.parse(feeAnchor) };
  const base = { system, client: clientOf(system), books, world, people: new Map(), places: new Map() };
  return { ...base, saga: [], week, cutOff: endOfWeek(week, Date.now()) };
}

export async function addLiveMaster(live: Live): Promise<Master> {
  const master = addMaster(live.world, `M${live.world.masters.length + 1}`);
  live.places.set(master, await newMaster(live.client));
  return master;
}

export async function addLiveInvestor(live: Live): Promise<Investor> {
  const investor = addInvestor(live.world, `I${live.world.investors.length + 1}`);
  live.people.set(investor, await newInvestor(live.client));
  return investor;
}

export function loginOf({ people }: Live, investor: Investor): string {
  return people.get(investor)!;
}

export function placeOf({ places }: Live, master: Master): NewMaster {
  return places.get(master)!;
}

/** Ends every week of the world that has ended here, once the system has ended it too. */
export async function passWeeks(live: Live): Promise<void> {
  while (Date.now() >= live.cutOff) {
    live.world.now = live.cutOff;
    live.saga.push(`-- a week ends, at ${new Date(live.cutOff).toISOString()}`);
    for (const master of live.world.masters) closeWeek(live.world, master);
    for (const { login } of live.places.values()) await untilClosed(live, login);
    live.cutOff += live.week.periodMs;
  }
}

const CLOSE_TIMEOUT_MS = 30_000;
const POLL_MS = 50;

async function untilClosed({ books, cutOff }: Live, masterLogin: string): Promise<void> {
  for (const until = Date.now() + CLOSE_TIMEOUT_MS; ; await sleep(POLL_MS)) {
    if (await books.isClosedThrough(masterLogin, cutOff)) return;
    if (Date.now() > until) throw new Error(`the week of ${masterLogin} is not closed`);
  }
}

export function endOfWeek({ periodMs, anchorMs }: Live["week"], at: number): number {
  return at + periodMs - ((at - anchorMs) % periodMs);
}

const PASSING = ["account_busy", "allocation_in_progress"];
const RETRY_MS = 200;
const ASK_TIMEOUT_MS = 30_000;

/** Asks again for as long as something is in the way that passes by itself. */
export async function asked(ask: () => Promise<Reply>): Promise<Reply> {
  for (const until = Date.now() + ASK_TIMEOUT_MS; ;) {
    const reply = await ask();
    if (Date.now() > until || !PASSING.includes(codeOf(reply))) return reply;
    await sleep(RETRY_MS);
  }
}

/** Empty when nothing is refused. */
export function codeOf({ body }: Reply): string {
  return typeof body["code"] === "string" ? body["code"] : "";
}

/** What the trading platform says of an account, in cents. */
export async function accountOnPlatform({ client }: Live, login: string) {
  const account = await client.control("GET", `accounts/${login}`);
  if (!isObject(account)) throw new Error(`account ${login} is not there`);
  const positions = itemsOf(account["open_positions"]);
  const floating = positions.map(
    (each) => [BigInt(textOf(each, "position")), minorOf(textOf(each, "profit"))] as const,
  );
  return { balance: minorOf(textOf(account, "balance")), floating: new Map(floating) };
}
