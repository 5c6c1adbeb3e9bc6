import { checkCharacter } from "#kernel/values/check-character.ts";
import { parseDuration } from "#kernel/values/duration.ts";
import { MAX_EXTERNAL_ID_LENGTH, MAX_METADATA_VALUE_LENGTH } from "#kernel/values/labels.ts";
import { MAX_COMMENT_LENGTH, MAX_LEVERAGE, MAX_NOTE_LENGTH, MAX_VOTED_REVIEWS } from "#kernel/values/limits.ts";
import { formatDecimal, MAX_AMOUNT, MIN_AMOUNT, type Money, parseAmount, usd } from "#kernel/values/money.ts";
import { MAX_PLATFORM_TEXT_LENGTH, platformTextProblem } from "#kernel/values/platform-text.ts";
import { MAX_QUEUE_MS, MIN_QUEUE_MS } from "#catalogue/queue-until-flat.ts";
import { parseRate, WHOLE } from "#kernel/values/rate.ts";
import { parseTimestamp } from "../wire/timestamp.ts";
import { EVENT_KINDS, readTypes } from "./event-types.ts";

/** What is wrong with one value. `text` continues the name of the field. */
export type Problem = { readonly code: string; readonly text: string };
type Check = (text: string) => Problem | undefined;

/** The columns of usual CRM systems. */
export const MAX_NAME_LENGTH = 255;
/** A page of 100 Masters with the longest texts still fits into one message of the broker. */
export const MAX_STRATEGY_LENGTH = 2_000;
/** Longer than any real group; the refusal of an unknown group repeats it. */
export const MAX_GROUP_LENGTH = 255;
const MAX_WEBHOOK_URL_LENGTH = 2_000;
/** Logins of one request: one call reads as many. */
const MAX_LOGINS = 100;
/** Half of the usual idle timeout of load balancers. */
export const MAX_WAIT_SECONDS = 30;
/** Ids are int64 in contracts and tables. */
const MAX_ID = 2n ** 63n - 1n;

const LOGIN = /^[1-9]\d{0,18}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const DIGITS = /^\d{1,19}$/;
const KEY_ID = /^[0-9A-Za-z]{12}$/;
const BREAK_ID = /^(platform|subscription|fee|funding)-[1-9]\d{0,17}$/;
const REVIEW_ID = /^(platform|subscription|fee)-[1-9]\d{0,17}$/;
const REVIEW_GROUP = /^(platform|subscription|fee)-[0-9a-f]{24}$/;
const ACTION = /^[a-z][a-z_]{0,63}$/;
const EMAIL =
  /^[a-z0-9!#$%&'*+/=?^_`{|}~-]{1,64}(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]{1,64})*@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const EMPTY: Problem = { code: "empty", text: "must not be empty" };
const CONTROL_CHARACTER = /\p{Cc}/u;
const CONTROL_CHARACTER_IN_LINE = /[^\P{Cc}\n]/u;
const VISIBLE = String.raw`[^\s\p{Default_Ignorable_Code_Point}]`;
/** Digits too have the property; they are emoji only as keycaps. */
const EMOJI = String.raw`[\p{Emoji}--[0-9#*]]`;
/** Of scripts whose letters join. */
const JOINING = `[${["Arab", "Beng", "Deva", "Gujr", "Guru", "Khmr", "Knda", "Mlym", "Mong", "Mymr", "Nkoo", "Orya", "Sinh", "Syrc", "Taml", "Telu", "Tibt"].map((script) => String.raw`\p{scx=${script}}`).join("")}]`;
/**
 * Characters that show nothing, or change the order in which others are shown: with them a text looks like another one. Persian and Indic words
 * and emoji need joiners between visible characters; emoji, and names in Chinese characters, variation selectors behind them.
 */
const INVISIBLE = new RegExp(
  [
    String.raw`[[\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2028\u2029\u2800\uFFF9-\uFFFB\u{1D159}]--[\p{Variation_Selector}\u200C\u200D]]`,
    String.raw`(?!(?<=${JOINING}\p{Variation_Selector}?).${VISIBLE}|(?<=${VISIBLE}).${JOINING}|(?<=${EMOJI}\uFE0F?)\u200D${EMOJI})[\u200C\u200D]`,
    String.raw`(?<!${EMOJI})(?!(?<=[0-9#*]).\u20E3)[\uFE0E\uFE0F]`,
    String.raw`(?<![\p{Ideographic}\p{scx=Mong}])[\p{Variation_Selector}--[\uFE0E\uFE0F]]`,
  ].join("|"),
  "v",
);
/** A time of day, and an offset behind what was a plus. */
const OFFSET_AFTER_SPACE = /:\S* \d{2}:?\d{2}$/;
const PLUS = "in a query, a + has to be sent as %2B";

/** Every check that a schema can ask for by `x-check`. Numbers are checked by the text they were written with. */
export const CHECKS = {
  login: (text) => (LOGIN.test(text) ? undefined : malformed("must be a positive number without leading zeros")),
  logins: checkLogins,
  id: (text) => (isId(text) ? undefined : malformed("must be a whole number of up to 19 digits")),
  amount: (text) => checkMoney(text, MIN_AMOUNT),
  min_deposit: (text) => checkMoney(text, usd(0n)),
  currency: (text) => (text === "USD" ? undefined : { code: "currency_not_supported", text: "must be USD" }),
  comment: checkComment,
  name: (text) => (text.trim() === "" ? EMPTY : checkText(text, MAX_NAME_LENGTH)),
  /** Of the owner of an account, as the trading platform stores it. */
  owner_name: (text) =>
    text.trim() === "" ? EMPTY : (platformTextProblem(text) ?? checkText(text, MAX_PLATFORM_TEXT_LENGTH)),
  external_id: (text) => (text.trim() === "" ? EMPTY : checkText(text, MAX_EXTERNAL_ID_LENGTH)),
  metadata_value: (text) => checkText(text, MAX_METADATA_VALUE_LENGTH),
  strategy_name: (text) => checkText(text, MAX_NAME_LENGTH),
  strategy: (text) => checkText(text, MAX_STRATEGY_LENGTH, CONTROL_CHARACTER_IN_LINE),
  group: (text) => (text === "" ? EMPTY : checkText(text, MAX_GROUP_LENGTH)),
  email: checkEmail,
  leverage: (text) => checkInteger(text, 1, MAX_LEVERAGE),
  rate: checkRate,
  day: (text) => (isDay(text) ? undefined : malformed("must be a day such as 2026-01-31")),
  datetime: checkInstant,
  limit_100: (text) => checkInteger(text, 1, 100),
  limit_500: (text) => checkInteger(text, 1, 500),
  review_id: (text) =>
    REVIEW_ID.test(text) ? undefined : malformed("must be the id of a review, such as subscription-5"),
  review_ids: (text) =>
    checkEach(text.split(","), REVIEW_ID, { most: MAX_VOTED_REVIEWS, name: "review", plural: "ids of reviews" }),
  review_group: (text) =>
    REVIEW_GROUP.test(text) ? undefined : malformed("must be the group of a review, as the list of groups has it"),
  break_id: (text) => (BREAK_ID.test(text) ? undefined : malformed("must be the id of a break, such as platform-17")),
  key_id: (text) => (KEY_ID.test(text) ? undefined : malformed("must be the id of a key, the next_cursor of a page")),
  review_action: (text) => (ACTION.test(text) ? undefined : malformed("must be one of the review's actions")),
  note: (text) => (text.trim() === "" ? EMPTY : checkText(text, MAX_NOTE_LENGTH)),
  wait: (text) => checkInteger(text, 0, MAX_WAIT_SECONDS),
  queue_time: checkQueueTime,
  operation_id: (text) => (UUID.test(text) ? undefined : malformed("must be a UUID")),
  comment_filter: (text) => (text === "" ? EMPTY : checkText(text, MAX_COMMENT_LENGTH)),
  webhook_url: checkWebhookUrl,
  event_types: (text) =>
    readTypes(text) === undefined
      ? malformed(
          `must be types of events such as deposit.executed, ${EVENT_KINDS.join(", ")} or *, separated by commas without spaces`,
        )
      : undefined,
  integer_cursor: (text) =>
    isId(text) ? undefined : { code: "invalid_cursor", text: "must be the next_cursor of the previous page" },
} as const satisfies Record<string, Check>;

export type CheckName = keyof typeof CHECKS;

function malformed(text: string): Problem {
  return { code: "malformed", text };
}

function isDay(text: string): boolean {
  return text.length === "2026-01-31".length && parseTimestamp(`${text}T00:00`) !== undefined;
}

function checkLogins(text: string): Problem | undefined {
  return checkEach(text.split(","), LOGIN, { most: MAX_LOGINS, name: "login", plural: "logins" });
}

type Named = { readonly most: number; readonly name: string; readonly plural: string };

/** Names each member of a list that is wrong. */
function checkEach(members: readonly string[], form: RegExp, { most, name, plural }: Named): Problem | undefined {
  if (members.length > most) return { code: "out_of_range", text: `must have 1 to ${most} ${plural}` };
  const wrong = members.filter((member) => !form.test(member)).map((member) => `"${member.slice(0, 20)}"`);
  if (wrong.length > 0) {
    return malformed(`must be ${plural} separated by commas; no ${plural} are ${wrong.slice(0, 20).join(", ")}`);
  }
  const repeated = members.filter((member, index) => members.indexOf(member) < index);
  return repeated.length === 0
    ? undefined
    : { code: "duplicate", text: `must name each ${name} once; ${repeated[0]} is repeated` };
}

function isId(text: string): boolean {
  return DIGITS.test(text) && BigInt(text) <= MAX_ID;
}

function checkMoney(text: string, min: Money): Problem | undefined {
  const amount = parseAmount(text);
  if (!amount.ok) {
    if (amount.problem === "precision") return { code: "amount_precision", text: "must have at most two decimals" };
    const decimal = "must be a decimal such as 100 or 100.50";
    return malformed(text.startsWith(" ") ? `${decimal}, without a space or a sign (${PLUS})` : decimal);
  }
  if (amount.minor >= min.minor && amount.minor <= MAX_AMOUNT.minor) return undefined;
  return { code: "out_of_range", text: `must be from ${formatDecimal(min)} to ${formatDecimal(MAX_AMOUNT)}` };
}

function checkRate(text: string): Problem | undefined {
  if (!/^-?\d+(\.\d+)?$/.test(text)) return malformed("must be a decimal from 0 to 1");
  if ((text.split(".")[1] ?? "").length > 6) return { code: "rate_precision", text: "must have at most six decimals" };
  const rate = parseRate(text);
  const isShare = rate !== undefined && rate.ppm <= WHOLE.ppm;
  return isShare ? undefined : { code: "out_of_range", text: "must be from 0 to 1" };
}

function checkInteger(text: string, min: number, max: number): Problem | undefined {
  if (!/^-?\d+$/.test(text)) return malformed(`must be a whole number from ${min} to ${max}`);
  const isInside = text.length <= 9 && Number(text) >= min && Number(text) <= max;
  return isInside ? undefined : { code: "out_of_range", text: `must be from ${min} to ${max}` };
}

/** Counts code points, so an emoji is one character. */
function checkText(text: string, max: number, control = CONTROL_CHARACTER): Problem | undefined {
  if (control.test(text)) return { code: "control_character", text: "must not contain control characters" };
  const [invisible] = INVISIBLE.exec(text) ?? [];
  if (invisible !== undefined) {
    const code = `U+${invisible.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}`;
    return { code: "invisible_character", text: `must not contain the invisible character ${code}` };
  }
  if (!text.isWellFormed()) return malformed("must be well-formed Unicode");
  if (Array.from(text).length > max) return { code: "too_long", text: `must have at most ${max} characters` };
  return undefined;
}

/** Whether it may be plain HTTP depends on the system. */
function checkWebhookUrl(text: string): Problem | undefined {
  if (text.length > MAX_WEBHOOK_URL_LENGTH) {
    return { code: "too_long", text: `must have at most ${MAX_WEBHOOK_URL_LENGTH} characters` };
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url !== undefined && url.username === "" && url.password === "" && url.hash === "";
  if (!isPlain || !/^https?:$/.test(url.protocol)) {
    return malformed(
      "must be a URL that begins with https (or with http, where keys are test), without a user, password or fragment",
    );
  }
  return undefined;
}

function checkInstant(text: string): Problem | undefined {
  if (parseTimestamp(text)) return undefined;
  const instant = "must be an ISO 8601 date and time, in UTC from 1970 to 9999";
  return malformed(OFFSET_AFTER_SPACE.test(text) ? `${instant} (${PLUS})` : instant);
}

/** A caller that has no comment leaves it out. */
function checkComment(text: string): Problem | undefined {
  if (text.trim() === "") return EMPTY;
  if (beginsWithReference(text)) {
    return {
      code: "reserved_reference",
      text: "must not begin like a reference of this service, such as PD0F7K3M9Q2X1A",
    };
  }
  return checkText(text, MAX_COMMENT_LENGTH);
}

function checkEmail(text: string): Problem | undefined {
  const problem = platformTextProblem(text);
  if (problem !== undefined) return problem;
  if (EMAIL.test(text)) return undefined;
  const address = "must be an e-mail address";
  return malformed(EMAIL.test(text.replaceAll(" ", "+")) ? `${address} (${PLUS})` : address);
}

function checkQueueTime(text: string): Problem | undefined {
  const ms = parseDuration(text);
  if (ms === undefined) return malformed("must be an ISO 8601 duration such as P7D or PT12H");
  return ms >= MIN_QUEUE_MS && ms <= MAX_QUEUE_MS
    ? undefined
    : { code: "out_of_range", text: "must be from PT1S to P30D" };
}

/** How comments of this service begin: P, a letter of the kind, ten characters of the number, the attempt, a check character. */
const REFERENCE = /^P[DWFCTMXR][0-9A-HJKMNP-TV-Z]{10}[1-9A-HJKMNP-TV-Z][0-9A-Z]/;
const REFERENCE_LENGTH = 14;

/**
 * Whether a text begins with what could be a reference of this service. A caller's comment must not: on an account whose
 * deals another program comments, it could be taken for a transfer of this service.
 */
function beginsWithReference(text: string): boolean {
  // As the platform will show it: without diacritical marks, in plain letters where they exist.
  const plain = text.normalize("NFKD").replaceAll(/\p{M}/gu, "").trimStart();
  const [reference = ""] = REFERENCE.exec(plain) ?? [];
  return reference !== "" && checkCharacter(reference.slice(0, REFERENCE_LENGTH - 1)) === reference.at(-1);
}
