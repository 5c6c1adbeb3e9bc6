import { checkCharacter } from "#kernel/values/check-character.ts";
import { BASE32, toBase32 } from "#kernel/values/base32.ts";
import { LEG_KINDS, type LegKind } from "./leg-kind.ts";
import { MAX_ATTEMPTS } from "./leg-machine.ts";
import { legNumber, type LegNumber } from "./leg-number.ts";

/** Links a deal in the platform's history to one attempt of one leg of the service. */
export type Reference = {
  readonly kind: LegKind;
  readonly number: LegNumber;
  /** 1 to 31: distinguishes two deals of one leg. */
  readonly attempt: number;
};

/** The platform silently cuts longer comments. */
const PLATFORM_COMMENT_LENGTH = 31;
const REFERENCE_LENGTH = 14;
/** Length of the text after the reference and a space. */
const TEXT_LENGTH = PLATFORM_COMMENT_LENGTH - REFERENCE_LENGTH - 1;
const NUMBER_LENGTH = 10;
const PREFIX = "P";
const REFERENCE = new RegExp(`^${PREFIX}([A-Z])([${BASE32}]{${NUMBER_LENGTH}})([${BASE32}])([0-9A-Z])`);
/** Marks and ligatures that Unicode does not decompose. */
const FOLDED = new Map(
  Object.entries({
    ß: "ss",
    æ: "ae",
    Æ: "AE",
    œ: "oe",
    Œ: "OE",
    ø: "o",
    Ø: "O",
    đ: "d",
    Đ: "D",
    ł: "l",
    Ł: "L",
    ı: "i",
  }),
);
const KIND_OF_LETTER = new Map(Object.entries(LEG_KINDS).map(([kind, { letter }]) => [letter, kind as LegKind]));

/** Fourteen characters at the start of the comment, because truncation and additions of a broker affect its end. */
export function formatReference({ kind, number, attempt }: Reference): string {
  if (!Number.isInteger(attempt) || attempt < 1 || attempt > MAX_ATTEMPTS) {
    throw new RangeError(`An attempt is numbered 1 to ${MAX_ATTEMPTS}.`);
  }
  const body = PREFIX + LEG_KINDS[kind].letter + toBase32(legNumber(number), NUMBER_LENGTH) + BASE32.charAt(attempt);
  return body + checkCharacter(body);
}

/** The reference at the beginning of a platform comment, followed by any text; undefined when there is none. */
export function readReference(comment: string): Reference | undefined {
  const [, letter = "", digits = "", attemptDigit = "", check] = REFERENCE.exec(comment) ?? [];
  const kind = KIND_OF_LETTER.get(letter);
  const attempt = BASE32.indexOf(attemptDigit);
  if (kind === undefined || attempt < 1) return undefined;
  if (checkCharacter(comment.slice(0, REFERENCE_LENGTH - 1)) !== check) return undefined;
  const number = Array.from(digits).reduce((sum, digit) => sum * 32n + BigInt(BASE32.indexOf(digit)), 0n);
  return { kind, number: legNumber(number), attempt };
}

/** The comment as the platform gets it: reference, then as much of the text as fits. */
export function platformComment(reference: Reference, text: string): string {
  return `${formatReference(reference)} ${foldText(text)}`.trimEnd();
}

/** The text after the reference in a comment of the platform. */
export function textOfComment(comment: string): string {
  return comment.slice(REFERENCE_LENGTH).trim();
}

/** ASCII that needs no escaping in a request to the platform; a character that cannot be folded becomes an underscore. */
export function foldText(text: string): string {
  return Array.from(text.normalize("NFKD").replaceAll(/\p{M}/gu, ""))
    .map((character) => FOLDED.get(character) ?? character)
    .join("")
    .replaceAll(/[^A-Za-z0-9 _.:#@!-]/gu, "_")
    .trim()
    .slice(0, TEXT_LENGTH)
    .trimEnd();
}
