import { setTimeout as sleep } from "node:timers/promises";
import { isObject, itemsOf, textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, clientOf, minorOf, type Reply, untilKnown } from "../../journey/support/client.ts";
import { newInvestor, newMaster, type NewMaster } from "../../journey/support/client-requests.ts";
import type { TestSystem } from "../../journey/support/system.ts";
import { closeWeek } from "../engine/fees.ts";
import type { PastResult } from "../engine/parts-of-repair.ts";
import { emptyPool, UNIT } from "../engine/pool.ts";
import { referencePool } from "../engine/pool-engine.ts";
import {
  addInvestor,
  addMaster,
  type Investor,
  type MakePool,
  type Master,
  newWorld,
  type World,
} from "../engine/world.ts";
import type { InternalState } from "./internal-state.ts";

/** A running system, and the reference to which the same steps are applied. */
export type Live = {
  readonly system: TestSystem;
  readonly client: Client;
  readonly internal: InternalState;
  readonly world: World;
  readonly investorLogins: Map<Investor, string>;
  readonly masterAccounts: Map<Master, NewMaster>;
  /** Of results, for those that repair them. */
  readonly tickets: Map<PastResult, string>;
  readonly transcript: string[];
  readonly week: { readonly periodMs: number; readonly anchorMs: number };
  /** End of the current fee week of the reference. */
  cutOff: number;
};

/** A step took until the next fee week, so the week of its effects is unknown: the example starts again with new accounts. */
export class WeekCrossedError extends Error {}

export async function openLive(system: TestSystem, internal: InternalState): Promise<Live> {
  const { feePeriodMs, feeAnchor } = system.info();
  const makePool: MakePool = (now) => referencePool(emptyPool(UNIT), now);
  const world = newWorld({ investors: 0, masters: 0, now: Date.now(), makePool });
  const week = { periodMs: feePeriodMs, anchorMs: Date.parse(feeAnchor) };
  const base = {
    system,
    client: untilKnown(clientOf(system)),
    internal,
    world,
    investorLogins: new Map(),
    masterAccounts: new Map(),
    tickets: new Map(),
  };
  return { ...base, transcript: [], week, cutOff: endOfWeek(week, Date.now()) };
}

export async function addLiveMaster(live: Live): Promise<Master> {
  const master = addMaster(live.world, `M${live.world.masters.length + 1}`);
  live.masterAccounts.set(master, await newMaster(live.client));
  return master;
}

export async function addLiveInvestor(live: Live): Promise<Investor> {
  const investor = addInvestor(live.world, `I${live.world.investors.length + 1}`);
  live.investorLogins.set(investor, await newInvestor(live.client));
  return investor;
}

export function loginOf({ investorLogins }: Live, investor: Investor): string {
  return investorLogins.get(investor)!;
}

export function masterAccountsOf({ masterAccounts }: Live, master: Master): NewMaster {
  return masterAccounts.get(master)!;
}

/** Ends each week of the reference that is over, and waits until the system has closed it. */
export async function closePassedWeeks(live: Live): Promise<void> {
  while (Date.now() >= live.cutOff) {
    live.world.now = live.cutOff;
    live.transcript.push(`-- a week ends, at ${new Date(live.cutOff).toISOString()}`);
    for (const master of live.world.masters) closeWeek(live.world, master);
    for (const { login } of live.masterAccounts.values()) await untilClosed(live, login);
    live.cutOff += live.week.periodMs;
  }
}

const CLOSE_TIMEOUT_MS = 90_000;
const POLL_MS = 100;

async function untilClosed({ internal, cutOff }: Live, masterLogin: string): Promise<void> {
  for (const until = Date.now() + CLOSE_TIMEOUT_MS; ; await sleep(POLL_MS)) {
    if (await internal.isClosedThrough(masterLogin, cutOff)) return;
    if (Date.now() > until) throw new Error(`the week of ${masterLogin} is not closed`);
  }
}

export function endOfWeek({ periodMs, anchorMs }: Live["week"], at: number): number {
  return at + periodMs - ((at - anchorMs) % periodMs);
}

/** Codes of refusals that pass by themselves. */
export const TEMPORARY = ["account_busy", "allocation_in_progress"];
const RETRY_MS = 200;
const SEND_TIMEOUT_MS = 60_000;

/** Repeats a request while it is refused with a temporary code. */
export async function retryWhileBusy(send: () => Promise<Reply>): Promise<Reply> {
  for (const until = Date.now() + SEND_TIMEOUT_MS; ;) {
    const reply = await send();
    if (Date.now() > until || !TEMPORARY.includes(codeOf(reply))) return reply;
    await sleep(RETRY_MS);
  }
}

/** The problem code; empty when the request succeeded. */
export function codeOf({ body }: Reply): string {
  return typeof body["code"] === "string" ? body["code"] : "";
}

/** Balance and floating results of an account on the trading platform, in cents. */
export async function accountOnPlatform({ client }: Live, login: string) {
  const account = await client.control("GET", `accounts/${login}`);
  if (!isObject(account)) throw new Error(`account ${login} does not exist`);
  const positions = itemsOf(account["open_positions"]);
  const floating = positions.map(
    (each) => [BigInt(textOf(each, "position")), minorOf(textOf(each, "profit"))] as const,
  );
  return { balance: minorOf(textOf(account, "balance")), floating: new Map(floating) };
}
