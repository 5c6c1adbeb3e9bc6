/** A number that is serialised with exactly its own digits; it never becomes a float. */
export type JsonNumber = { readonly rawJSON: string };

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?$/;

// The type library does not know this member of JSON yet.
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => JsonNumber };

export function jsonNumber(digits: string): JsonNumber {
  if (!NUMBER.test(digits)) throw new TypeError("not the digits of a number");
  return rawJSON(digits);
}

export function jsonInteger(value: bigint): JsonNumber {
  return jsonNumber(value.toString());
}
