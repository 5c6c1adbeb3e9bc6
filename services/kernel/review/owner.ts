/** White space of any kind, and characters that are not shown. */
const SPACES = /[\s\p{Z}]+/gu;
const UNSEEN = /[\p{Cc}\p{Cf}]+/gu;

/** A name as it is written: composed characters, single spaces, nothing that is not shown. */
export function writtenName(name: string): string {
  return name.normalize("NFC").replaceAll(SPACES, " ").replaceAll(UNSEEN, "").trim();
}

/** Whether two names of owners of API keys are those of one person: capitals, spaces and the form of a character make no difference. */
export function isSameOwner(one: string, other: string): boolean {
  return comparedName(one) === comparedName(other);
}

/** To capitals first: some letters differ in one direction only. */
function comparedName(name: string): string {
  return writtenName(name.normalize("NFKC").toUpperCase().toLowerCase());
}
