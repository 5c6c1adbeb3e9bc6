import { signal } from "@preact/signals";
import { type Client, isProblem, type Models } from "../../client/index.ts";
import { endOfLog } from "./end-of-log.ts";
import { publish, publishAll } from "./topics.ts";

/** `behind`: events may have happened that are not shown yet. */
export type FeedState = "live" | "behind" | "off";

export const feedState = signal<FeedState>("off");
/** The last events, newest first, for the overview. */
export const latestEvents = signal<readonly Models["Event"][]>([]);

const WAIT_SECONDS = 25;
const LIMIT = 500;
const KEPT = 50;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;
/** After so many full pages everything is read again, instead of page by page. */
const MAX_PAGES_BEHIND = 4;

/** Follows the log until the signal ends it. A tab that is not seen holds no request open. */
export async function followFeed(client: Client, begin: bigint, signal: AbortSignal): Promise<void> {
  let after = begin;
  let failures = 0;
  let pagesBehind = 0;
  feedState.value = "live";
  while (!signal.aborted) {
    await untilVisible(signal);
    if (signal.aborted) break;
    try {
      const query = { after, limit: LIMIT, wait: WAIT_SECONDS };
      const page = await client.query("listEvents", { query }, { signal, timeoutMs: (WAIT_SECONDS + 15) * 1_000 });
      failures = 0;
      after = page.next_cursor;
      note(page.items);
      pagesBehind = page.has_more ? pagesBehind + 1 : 0;
      feedState.value = page.has_more ? "behind" : "live";
      if (pagesBehind < MAX_PAGES_BEHIND) continue;
      after = await beginAgain(client, signal);
      pagesBehind = 0;
    } catch (error) {
      if (signal.aborted) break;
      failures += 1;
      feedState.value = failures < 3 ? "behind" : "off";
      await pause(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)), signal);
      const isLost = isProblem(error, "events_removed", "invalid_cursor");
      if (isLost) after = await beginAgain(client, signal).catch(() => after);
    }
  }
  feedState.value = "off";
}

function note(events: readonly Models["Event"][]): void {
  if (events.length === 0) return;
  latestEvents.value = [...events.toReversed(), ...latestEvents.peek()].slice(0, KEPT);
  publish(events);
}

async function beginAgain(client: Client, signal: AbortSignal): Promise<bigint> {
  const end = await endOfLog(client, signal);
  publishAll();
  return end;
}

async function untilVisible(signal: AbortSignal): Promise<void> {
  if (document.visibilityState === "visible") return;
  feedState.value = "behind";
  await new Promise<void>((resolve) => {
    const end = (): void => {
      document.removeEventListener("visibilitychange", end);
      signal.removeEventListener("abort", end);
      resolve();
    };
    document.addEventListener("visibilitychange", end);
    signal.addEventListener("abort", end);
  });
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
