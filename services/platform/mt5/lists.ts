import type { Envelope } from "./codec.ts";
import { badAnswer, Mt5Error } from "./errors.ts";
import { fieldsOf } from "./fields.ts";
import { isJsonArray, isJsonObject, type JsonValue } from "./http/json.ts";
import { findDone, type Reader, requireDone } from "./reader.ts";
import { RETCODE } from "./retcodes.ts";

/**
 * The rows of a list. Servers write an empty one as `[]`, as code 1, as an object without members, as null, as empty text or
 * not at all.
 */
export function rowsOf(envelope: Envelope): readonly JsonValue[] {
  const answer = answerOf(envelope);
  if (isNothing(answer)) return [];
  if (!isJsonArray(answer)) throw badAnswer("the platform's answer is not a list");
  return answer;
}

/**
 * The length of a list of an account. Some servers answer an empty list with "not found", which they also answer for an
 * account that does not exist: only the list of an account that the platform shows is empty. Throws for any other account.
 */
async function readTotal(
  { read }: { readonly read: Reader },
  path: string,
  query: Readonly<Record<string, string>> & { readonly login: string },
): Promise<number> {
  const { login } = query;
  const envelope = await read({ method: "GET", path, query });
  if (envelope.code !== RETCODE.notFound) return totalOf(envelope);
  if (findDone(await read({ method: "GET", path: "user/get", query: { login } })) !== undefined) return 0;
  throw new Mt5Error("retcode", `the platform answers ${envelope.code} ${envelope.text}, and shows no such account`, {
    retcode: envelope.code,
  });
}

/** The number of rows of a list; an answer without content means none. */
function totalOf(envelope: Envelope): number {
  const answer = answerOf(envelope);
  if (isNothing(answer)) return 0;
  const total = fieldsOf(answer).number("Total");
  if (total < 0) throw badAnswer("the platform's answer has a Total below zero");
  return total;
}

/** Code 1 is success without data: data beside it contradicts it. */
function answerOf(envelope: Envelope): JsonValue | undefined {
  if (envelope.code !== RETCODE.doneWithoutData) return requireDone(envelope).answer;
  if (isNothing(envelope.answer) || (isJsonArray(envelope.answer) && envelope.answer.length === 0)) return undefined;
  throw badAnswer("the platform answers that there is no data, with data");
}

function isNothing(answer: JsonValue | undefined): boolean {
  return answer === undefined || answer === null || answer === "" || (isJsonObject(answer) && answer.size === 0);
}

/** Maximum of rows that the platform returns at once. */
export const PAGE_ROWS = 100;
/** Above the size of any real account's list. */
const MAX_ROWS = 1_000_000;
/** Rows may be added during a read. A list that changes in each of these reads is read again by a later run. */
const MAX_TRIES = 3;

type PagedList<Row> = {
  readonly what: string;
  readonly total: () => Promise<number>;
  readonly page: (offset: number) => Promise<readonly Row[]>;
  /** Equal ids on two pages are the same row. */
  readonly idOf: (row: Row) => bigint;
};

/** Which list of an account is read, and how its rows are. */
type AccountList<Row> = {
  readonly what: string;
  /** The commands of the list begin with it. */
  readonly path: "deal" | "position";
  readonly query: Readonly<Record<string, string>> & { readonly login: string };
  readonly toRows: (rows: readonly JsonValue[]) => Promise<readonly Row[]>;
};

/** A whole list of an account, or an error. Some servers answer a page without rows with "not found". */
export async function readList<Row extends { readonly ticket: bigint }>(
  mt5: { readonly read: Reader },
  { what, path, query, toRows }: AccountList<Row>,
): Promise<readonly Row[]> {
  return await readWhole({
    what,
    total: () => readTotal(mt5, `${path}/get_total`, query),
    page: async (offset) => {
      const page = { ...query, offset: String(offset), total: String(PAGE_ROWS) };
      const envelope = await mt5.read({ method: "GET", path: `${path}/get_page`, query: page });
      return await toRows(envelope.code === RETCODE.notFound ? [] : rowsOf(envelope));
    },
    idOf: ({ ticket }) => ticket,
  });
}

/** A whole list, or an incomplete error: a missing row would be taken as proof that a deal does not exist. */
export async function readWhole<Row>(list: PagedList<Row>): Promise<readonly Row[]> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const total = await list.total();
    if (total > MAX_ROWS) break;
    const rows = total === 0 ? await readEmpty(list) : await readPages(list, total);
    if (rows?.length === total) return rows;
  }
  throw new Mt5Error("incomplete", `the platform's list of ${list.what} could not be read whole`);
}

/** A page with rows contradicts a total of zero: then the total is asked for again. */
async function readEmpty<Row>({ page }: PagedList<Row>): Promise<readonly Row[] | undefined> {
  return (await page(0)).length === 0 ? [] : undefined;
}

/**
 * Rows may be added and removed between two pages. When one is removed while another is added, the total is unchanged but
 * a third row moves across the edge of a page. So each page begins with the last row of the page before, which is then
 * a different row, and the last page must not be full. Undefined when the pages do not fit together.
 */
async function readPages<Row>({ page, idOf }: PagedList<Row>, total: number): Promise<readonly Row[] | undefined> {
  const rows = new Map<bigint, Row>();
  let last: bigint | undefined;
  for (let offset = 0; ;) {
    const read = await page(offset);
    const [first] = read;
    if (first === undefined || (last !== undefined && idOf(first) !== last)) return undefined;
    const known = rows.size;
    for (const row of read) {
      last = idOf(row);
      rows.set(last, row);
    }
    offset += read.length - 1;
    if (rows.size >= total && read.length < PAGE_ROWS) return Array.from(rows.values());
    if (rows.size === known || rows.size > total) return undefined;
  }
}
