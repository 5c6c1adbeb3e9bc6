import type { CallContext } from "#kernel/contract/contract.ts";
import { queryContext } from "#kernel/contract/deadlines.ts";
import { MAX_ENTRIES_PER_READ } from "#kernel/feed/read.ts";
import type { Deps } from "../../deps.ts";
import {
  findGap,
  type JournalBatch,
  type JournalEntry,
  type JournalPart,
  type JournalPosition,
  untilWeek,
} from "../../domain/journal.ts";
import type { FeeMaster } from "../../store/masters.ts";
import { entryOf, partOf, UnreadableJournal } from "../../messages/journal.ts";

/** Parts of results that one transaction records: others wait that long for the row of the Master. */
const PARTS_PER_READ = 2_000;

/** The next page of a Master's allocations, and the number of the last entry that there is. */
export type JournalPage = { readonly entries: readonly JournalEntry[]; readonly lastNumber: bigint };

export async function readPage(
  deps: Deps,
  { masterLogin, read }: FeeMaster,
  context: CallContext,
): Promise<JournalPage> {
  const request = { masterLogin, afterNumber: read.number, limit: MAX_ENTRIES_PER_READ };
  const { entries, lastNumber } = await deps.subscriptions.readAllocations(request, queryContext(context));
  if (lastNumber < read.number) {
    throw new UnreadableJournal(`allocations end with ${lastNumber}, but ${read.number} were read before`);
  }
  const gap = findGap(read.number, entries);
  if (gap !== undefined) throw new UnreadableJournal(gap);
  if (entries.length === 0 && lastNumber > read.number) {
    throw new UnreadableJournal(`no entries after ${read.number}, although the last one is ${lastNumber}`);
  }
  return { entries: entries.map(entryOf), lastNumber };
}

/** What one transaction records of a page that continues the journal: its first entries, or parts of a large first entry. */
export async function readBatch(
  deps: Deps,
  { masterLogin, after }: Pick<JournalBatch, "masterLogin" | "after">,
  page: readonly JournalEntry[],
  context: CallContext,
): Promise<JournalBatch> {
  const entries = untilWeek(page);
  const first = after.number + 1n;
  const range = {
    masterLogin,
    after: { number: first, subscriptionId: after.subscriptionId },
    through: after.number + BigInt(entries.length),
  };
  const limit = entries[0]?.kind === "WEEK" ? deps.steps.holdings : PARTS_PER_READ;
  const { parts, hasMore } = await readParts(deps, { ...range, limit }, context);
  const last = parts.at(-1)?.number;
  if (!hasMore) return { masterLogin, after, entries, parts, isComplete: true };
  if (last === undefined) throw new UnreadableJournal(`parts of entry ${first} are announced and missing`);
  // The last entry of a full answer may have further parts.
  if (last === first) return { masterLogin, after, entries: entries.slice(0, 1), parts, isComplete: false };
  const isWhole = ({ number }: { readonly number: bigint }): boolean => number < last;
  const whole = { entries: entries.filter(isWhole), parts: parts.filter(isWhole) };
  return { masterLogin, after, ...whole, isComplete: true };
}

type PartRange = {
  readonly masterLogin: string;
  readonly after: JournalPosition;
  readonly through: bigint;
  readonly limit: number;
};

async function readParts(
  { subscriptions }: Deps,
  { masterLogin, after, through, limit }: PartRange,
  context: CallContext,
): Promise<{ parts: JournalPart[]; hasMore: boolean }> {
  const { rows, hasMore } = await subscriptions.readAllocationRows(
    {
      masterLogin,
      afterNumber: after.number,
      afterSubscriptionId: after.subscriptionId,
      throughNumber: through,
      limit,
    },
    queryContext(context),
  );
  const unrequested = rows.find(({ number }) => number < after.number || number > through);
  if (unrequested !== undefined) throw new UnreadableJournal(`a part of entry ${unrequested.number} was not requested`);
  return { parts: rows.map(partOf), hasMore };
}
