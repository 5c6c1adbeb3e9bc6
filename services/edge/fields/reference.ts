import { checkCharacter } from "#kernel/check-character.ts";

/** How comments of this service begin: P, a letter of the kind, ten characters of the number, the attempt, a check character. */
const REFERENCE = /^P[DWFCTMXR][0-9A-HJKMNP-TV-Z]{10}[1-9A-HJKMNP-TV-Z][0-9A-Z]/;
const REFERENCE_LENGTH = 14;

/**
 * Whether a text begins with what could be a reference of this service. A caller's comment must not: on an account whose
 * deals another program comments, it could be taken for a transfer of this service.
 */
export function beginsWithReference(text: string): boolean {
  // As the platform will show it: without diacritical marks, in plain letters where they exist.
  const plain = text.normalize("NFKD").replaceAll(/\p{M}/gu, "").trimStart();
  const [reference = ""] = REFERENCE.exec(plain) ?? [];
  return reference !== "" && checkCharacter(reference.slice(0, REFERENCE_LENGTH - 1)) === reference.at(-1);
}
