import type { FieldError } from "./refusal.ts";

/**
 * Longer texts are cut by the trading platform without a word, in its 16-bit units: it has 63 of them for each name and for the e-mail address, and
 * 127 for both names with a space between them.
 */
export const MAX_PLATFORM_TEXT_LENGTH = 63;
/** The platform's own escapes are documented for parameters, not for the JSON in which these texts are sent: it could store another text. */
const NOT_CARRIED = /[\\=|\p{Cc}]/u;

/** Why the platform would not store exactly this text. `text` continues the name of the field. */
export function platformTextProblem(text: string): { readonly code: string; readonly text: string } | undefined {
  if (text.length > MAX_PLATFORM_TEXT_LENGTH) {
    const most = `must have at most ${MAX_PLATFORM_TEXT_LENGTH} characters, as many as the trading platform stores`;
    return { code: "too_long", text: most };
  }
  const [character] = NOT_CARRIED.exec(text) ?? [];
  if (character === undefined) return undefined;
  const shown = /\p{Cc}/u.test(character) ? "control characters" : character;
  return {
    code: "not_on_platform",
    text: `must not contain ${shown}, which the trading platform may store as another text`,
  };
}

export function platformTextError(field: string, text: string): FieldError | undefined {
  const problem = platformTextProblem(text);
  return problem && { field, code: problem.code, message: `${field} ${problem.text}.` };
}
