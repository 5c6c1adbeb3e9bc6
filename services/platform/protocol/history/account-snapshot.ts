import { setTimeout as delay } from "node:timers/promises";
import { SECOND_MS } from "#kernel/values/duration.ts";
import type { Mt5Client } from "../../mt5/client.ts";
import type { Deal } from "../../mt5/deals.ts";
import type { Position } from "../../mt5/positions.ts";
import { CLOCK_WINDOW_MS } from "../../mt5/server-clock.ts";
import type { User } from "../../mt5/users.ts";

/** An account at one instant of the platform's clock. */
export type Snapshot = {
  readonly group: string;
  /** The sum of all deals before the cut, also of those that the history does not show yet. */
  readonly balanceMinor: bigint;
  readonly positions: readonly Position[];
  /** Deals before the cut that the history shows, as far back as a day. */
  readonly deals: readonly Deal[];
  /** The begin of a second on the platform's clock, as an instant. */
  readonly cut: Date;
};

type Platform = Pick<Mt5Client, "getUser" | "readPositions" | "readDeals" | "serverClock" | "readServerMs">;

/** Maximum tries to read an account that changes during the read; each takes a second at most. */
const MAX_TRIES = 5;
const POLL_MS = 50;
/** A clock that shows no further second within this time does not run. */
const MAX_POLLS = 60;

/**
 * Reads balance and positions before and after the begin of a second of the platform's clock. When they are equal, they are those of
 * that instant: a deal of an earlier time is part of the balance, even if the history shows it only later, and one of a later time is not.
 * Deal times and this second are of the same clock.
 */
export async function readAtCut(mt5: Platform, login: string): Promise<Snapshot | "not_shown" | "changes"> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const before = await look(mt5, login);
    if (before === undefined) return "not_shown";
    const second = await nextSecond(mt5);
    if (second === undefined) continue;
    const clock = await mt5.serverClock();
    const cut = new Date(clock.toUtcMs(second.beginMs));
    const deals = await mt5.readDeals(login, {
      from: new Date(cut.getTime() - CLOCK_WINDOW_MS),
      to: new Date(cut.getTime() + CLOCK_WINDOW_MS),
    });
    const after = await look(mt5, login);
    // A deal of this second may have come before the first look or after it.
    const isTradedOn = deals.some(({ serverTimeMs }) => serverTimeMs >= second.beginMs - SECOND_MS);
    if (after === undefined || isTradedOn || !isSame(before, after)) continue;
    const { group, balanceMinor } = after.user;
    return { group, balanceMinor, positions: after.positions, deals, cut };
  }
  return "changes";
}

type Look = { readonly user: User; readonly positions: readonly Position[] };

async function look(mt5: Platform, login: string): Promise<Look | undefined> {
  const user = await mt5.getUser(login);
  return user && { user, positions: await mt5.readPositions(login) };
}

/** Waits until the platform's clock shows another second. Undefined when it was set back, or does not run. */
async function nextSecond(mt5: Platform): Promise<{ readonly beginMs: number } | undefined> {
  const startMs = await mt5.readServerMs();
  for (let polls = 0; polls < MAX_POLLS; polls += 1) {
    const beginMs = await mt5.readServerMs();
    if (beginMs < startMs) return undefined;
    if (beginMs > startMs) return { beginMs };
    await delay(POLL_MS);
  }
  return undefined;
}

function isSame(before: Look, after: Look): boolean {
  const volumes = new Map(before.positions.map(({ ticket, volume }) => [ticket, volume]));
  return (
    before.user.balanceMinor === after.user.balanceMinor &&
    before.positions.length === after.positions.length &&
    after.positions.every(({ ticket, volume }) => volumes.get(ticket) === volume)
  );
}
