import { HOUR_MS, MINUTE_MS, SECOND_MS } from "#kernel/values/duration.ts";
import type { GroupDeals } from "../mt5/deal-batches.ts";
import type { Period } from "../mt5/deals.ts";

/** Rows of one answer that are few enough not to hold up the process: about a megabyte, read in some 50 ms. */
export const MAX_ROWS = 1_000;
/** Where nothing is known about a group. */
const FIRST_SLICE_MS = MINUTE_MS;
/** The platform's bounds are whole seconds: shorter periods would show hardly fewer deals. */
const MIN_SLICE_MS = 2 * SECOND_MS;
/** Above the longest period that is read again, which one request shows while little happens. */
const MAX_SLICE_MS = 2 * HOUR_MS;

/** What a reader has learned about one group: the length of the periods whose deals fit into one answer. */
export type SliceLength = { ms: number };

export function firstSlice(): SliceLength {
  return { ms: FIRST_SLICE_MS };
}

/** The period to read. Deals after `nowMs` exist only when clocks differ, so the last slice has all of them. */
export type Span = { readonly fromMs: number; readonly nowMs: number; readonly toMs: number };

type Answer = Extract<GroupDeals, { readonly kind: "read" }>;

export type GroupReading = {
  readonly span: Span;
  readonly slice: SliceLength;
  readonly find: (period: Period) => Promise<GroupDeals>;
  /** Receives the deals of one slice after the other, oldest first. */
  readonly take: (answer: Answer, period: Period) => Promise<void>;
  /** Reads the accounts of the group by their logins. */
  readonly readByLogin: (period: Period) => Promise<void>;
  readonly mayContinue: () => Promise<boolean>;
};

export type GroupEnd = { readonly kind: "done" | "stopped" } | { readonly kind: "refused"; readonly reason: string };

/**
 * Reads the deals of a group in slices, so that no answer has more than about a thousand rows, however busy the group is.
 * A slice with more rows is read again in halves: a server that cuts a list would have cut this one. What the server
 * cannot answer in the shortest slice, or not by group at all, is read by the logins of the accounts.
 */
export async function readGroup({ span, slice, ...reading }: GroupReading): Promise<GroupEnd> {
  const { nowMs } = span;
  for (let fromMs = span.fromMs; ;) {
    const leftMs = Math.max(0, nowMs - fromMs);
    const isLast = leftMs <= slice.ms;
    const toMs = isLast ? span.toMs : fromMs + slice.ms;
    const period = { from: new Date(fromMs), to: new Date(toMs) };
    const answer = await findOrShorten(reading, period, slice);
    const rows = answer.kind === "read" ? answer.rows : 0;
    const lengthMs = Math.min(slice.ms, leftMs);
    if ((answer.kind === "too_many" || rows > MAX_ROWS) && lengthMs > MIN_SLICE_MS) {
      slice.ms = Math.max(MIN_SLICE_MS, lengthMs / 2);
      continue;
    }
    if (answer.kind === "read") await reading.take(answer, period);
    else await reading.readByLogin(answer.kind === "refused" ? { ...period, to: new Date(span.toMs) } : period);
    if (answer.kind === "refused") return answer;
    // A much shorter period shows nothing about whole slices.
    if (answer.kind === "read" && rows <= MAX_ROWS / 4 && 2 * lengthMs >= slice.ms) {
      slice.ms = Math.min(slice.ms * 2, MAX_SLICE_MS);
    }
    if (isLast) return { kind: "done" };
    fromMs = toMs;
    if (!(await reading.mayContinue())) return { kind: "stopped" };
  }
}

/** After a failure, which may be an answer too long to receive in time, the next try is about half of the period. */
async function findOrShorten({ find }: Pick<GroupReading, "find">, period: Period, slice: SliceLength) {
  try {
    return await find(period);
  } catch (error) {
    slice.ms = Math.max(MIN_SLICE_MS, slice.ms / 2);
    throw error;
  }
}
