/** The reference in a deal comment, parsed without the code under test. */
export type SentReference = { readonly number: bigint; readonly attempt: number; readonly text: string };

const REFERENCE = /^P[A-Z]([0-9A-HJKMNP-TV-Z]{10})([0-9A-HJKMNP-TV-Z])[0-9A-Z](?: |$)/;
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

export function readSentReference(comment: string): SentReference | undefined {
  const [text, number, attempt] = REFERENCE.exec(comment) ?? [];
  if (text === undefined || number === undefined || attempt === undefined) return undefined;
  return { number: valueOf(number), attempt: Number(valueOf(attempt)), text: text.trim() };
}

function valueOf(text: string): bigint {
  return Array.from(text).reduce((sum, digit) => sum * 32n + BigInt(DIGITS.indexOf(digit)), 0n);
}
