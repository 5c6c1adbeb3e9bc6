import type { CallContext } from "#kernel/contract/contract.ts";
import { queryContext } from "#kernel/contract/deadlines.ts";
import { MAX_ENTRIES_PER_READ } from "#kernel/feed/read.ts";
import type { Deps } from "../../deps.ts";
import { findGap, type JournalBatch, type JournalEntry, type JournalPart, untilWeek } from "../../domain/journal.ts";
import type { FeeMaster } from "../../store/masters.ts";
import { entryOf, partOf, UnreadableJournal } from "../../messages/journal.ts";

/** The maximum that subscription accepts. Batches end between two entries, so only a single entry may have more. */
const PARTS_PER_READ = 5_000;

type Reader = { readonly deps: Deps; readonly masterLogin: string; readonly context: CallContext };

/** The next page of a Master's allocations; undefined at the end. */
export async function readPage(
  deps: Deps,
  { masterLogin, readNumber }: FeeMaster,
  context: CallContext,
): Promise<JournalEntry[] | undefined> {
  const request = { masterLogin, afterNumber: readNumber, limit: MAX_ENTRIES_PER_READ };
  const page = await deps.subscriptions.readAllocations(request, queryContext(context));
  if (page.lastNumber < readNumber) {
    throw new UnreadableJournal(`allocations end with ${page.lastNumber}, but ${readNumber} were read before`);
  }
  const gap = findGap(readNumber, page.entries);
  if (gap !== undefined) throw new UnreadableJournal(gap);
  if (page.entries.length === 0 && page.lastNumber > readNumber) {
    throw new UnreadableJournal(`no entries after ${readNumber}, although the last one is ${page.lastNumber}`);
  }
  return page.entries.length === 0 ? undefined : page.entries.map(entryOf);
}

/** The first entries of the page that one transaction records, with all their parts. */
export async function readBatch(
  deps: Deps,
  masterLogin: string,
  page: readonly JournalEntry[],
  context: CallContext,
): Promise<JournalBatch> {
  const reader = { deps, masterLogin, context };
  const entries = untilWeek(page);
  const [first] = entries;
  if (first === undefined) throw new UnreadableJournal("a batch has an entry");
  const begin = { number: first.number, subscriptionId: 0n };
  const through = entries.at(-1)?.number ?? first.number;
  const { parts, hasMore } = await readParts(reader, begin, through);
  const after = first.number - 1n;
  if (!hasMore) return { masterLogin, after, entries, parts };
  // The last entry of a full answer may have further parts.
  const broken = parts.at(-1)?.number ?? through;
  const complete = entries.filter(({ number }) => number < broken);
  if (complete.length > 0) {
    return { masterLogin, after, entries: complete, parts: parts.filter(({ number }) => number < broken) };
  }
  return { masterLogin, after, entries: [first], parts: await readRest(reader, parts) };
}

/** All parts of one entry that has more of them than one answer. */
async function readRest(reader: Reader, begun: readonly JournalPart[]): Promise<JournalPart[]> {
  const parts = [...begun];
  for (;;) {
    const last = parts.at(-1);
    if (last === undefined) throw new UnreadableJournal("an entry has further parts but no first one");
    const page = await readParts(reader, last, last.number);
    parts.push(...page.parts);
    if (!page.hasMore) return parts;
    if (page.parts.length === 0) {
      throw new UnreadableJournal(`further parts of entry ${last.number} are announced and missing`);
    }
  }
}

async function readParts(
  { deps, masterLogin, context }: Reader,
  after: Pick<JournalPart, "number" | "subscriptionId">,
  throughNumber: bigint,
): Promise<{ parts: JournalPart[]; hasMore: boolean }> {
  const { rows, hasMore } = await deps.subscriptions.readAllocationRows(
    {
      masterLogin,
      afterNumber: after.number,
      afterSubscriptionId: after.subscriptionId,
      throughNumber,
      limit: PARTS_PER_READ,
    },
    queryContext(context),
  );
  const unrequested = rows.find(({ number }) => number < after.number || number > throughNumber);
  if (unrequested !== undefined) throw new UnreadableJournal(`a part of entry ${unrequested.number} was not requested`);
  return { parts: rows.map(partOf), hasMore };
}
