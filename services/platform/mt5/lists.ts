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

/** The rows of a page. Some servers answer a page without rows with "not found". */
export function pageRowsOf(envelope: Envelope): readonly JsonValue[] {
  return envelope.code === RETCODE.notFound ? [] : rowsOf(envelope);
}

/**
 * The length of a list of an account. Some servers answer an empty list with "not found", which they also answer for an
 * account that does not exist: only the list of an account that the platform shows is empty. Throws for any other account.
 */
export async function readTotal(
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
