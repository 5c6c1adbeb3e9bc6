import { retcodeText } from "../domain/retcode.ts";
import type { KeyCase } from "../settings.ts";

/** A value of an answer. Every scalar is text; arrays and objects are structure only. */
export type WireValue = string | readonly WireValue[] | { readonly [name: string]: WireValue };
export type WireRecord = { readonly [name: string]: WireValue };

export type Answer = {
  readonly answer?: WireValue;
  /** `answer` has values of the command itself, no record: `live` writes their names in lower case. */
  readonly hasValues?: true;
  /** Members beside `answer`. */
  readonly siblings?: WireRecord;
};

export type Reply =
  | { readonly kind: "json"; readonly retcode: number; readonly content: Answer; readonly closes: boolean }
  | { readonly kind: "plain"; readonly status: number }
  /** The connection closes without an answer. */
  | { readonly kind: "drop" };

/** Values of a command, such as a total or a ticket, under their documented names. */
export function valuesOf(values: WireRecord): Answer {
  return { answer: values, hasValues: true };
}

export const NO_CONTENT: Answer = {};
export const DROP: Reply = { kind: "drop" };

/** `closes`: the connection ends after this answer. */
export function done(content: Answer = NO_CONTENT, closes = false): Reply {
  return { kind: "json", retcode: 0, content, closes };
}

export function refusal(retcode: number): Reply {
  return { kind: "json", retcode, content: NO_CONTENT, closes: false };
}

export function plain(status: number): Reply {
  return { kind: "plain", status };
}

export function encodeJson(retcode: number, { answer, hasValues, siblings }: Answer, keyCase: KeyCase): string {
  const shown = keyCase === "live" && hasValues && answer !== undefined ? lowerKeys(answer) : answer;
  const content = shown === undefined ? siblings : { ...siblings, answer: shown };
  const cased = keyCase === "lower" && content !== undefined ? lowerKeys(content) : content;
  return JSON.stringify({ retcode: retcodeText(retcode), ...(cased as WireRecord | undefined) });
}

function lowerKeys(value: WireValue): WireValue {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(lowerKeys);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toLowerCase(), lowerKeys(member)]));
}
