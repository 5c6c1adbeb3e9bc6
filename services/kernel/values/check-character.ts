const ALPHANUMERIC = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** ISO 7064 MOD 37,36: detects every single wrong character and nearly every swap of two neighbours. */
export function checkCharacter(body: string): string {
  const product = Array.from(body).reduce((carry, character) => {
    const sum = (carry + ALPHANUMERIC.indexOf(character)) % 36;
    return ((sum === 0 ? 36 : sum) * 2) % 37;
  }, 36);
  return ALPHANUMERIC.charAt((37 - product) % 36);
}
