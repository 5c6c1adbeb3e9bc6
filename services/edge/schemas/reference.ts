/** How comments of this service begin: P, a letter of the kind, ten characters of the number, the attempt, a check character. */
const REFERENCE = /^P[DWFCTMXR][0-9A-HJKMNP-TV-Z]{10}[1-9A-HJKMNP-TV-Z][0-9A-Z]/;
const REFERENCE_LENGTH = 14;
const ALPHANUMERIC = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

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

/** ISO 7064 MOD 37,36. */
function checkCharacter(body: string): string {
  const product = Array.from(body).reduce((carry, character) => {
    const sum = (carry + ALPHANUMERIC.indexOf(character)) % 36;
    return ((sum === 0 ? 36 : sum) * 2) % 37;
  }, 36);
  return ALPHANUMERIC.charAt((37 - product) % 36);
}
