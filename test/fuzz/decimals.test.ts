import fc from "fast-check";
import { expect, test } from "vitest";
import { formatMinor, parseAmount } from "#kernel/values/money.ts";
import { formatRate, parseRate, rateFromPpm } from "#kernel/values/rate.ts";
import { decimalText, parseJson } from "../../services/edge/wire/json-body.ts";
import { exactMinor, roundedMinor } from "../../services/platform/mt5/fields.ts";
import { FUZZ_TIMEOUT_MS, fuzz } from "./support/fuzz.ts";

/** Numbers and texts that resemble numbers. */
const numberLike = fc.oneof(
  fc.string({ unit: fc.constantFrom(..."0123456789.-+eE,_ xn"), maxLength: 12 }),
  fc.tuple(fc.bigInt(-(10n ** 20n), 10n ** 20n), fc.nat(12)).map(([whole, places]) => withPoint(whole, places)),
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.constantFrom(
    "\u0661",
    "1\n",
    "１",
    "1\u00a0",
    "-0",
    "-0.00",
    "0.000",
    "9".repeat(60),
    "9".repeat(65),
    "1e400",
    "Infinity",
  ),
);

test(
  "decimal text is parsed exactly, or refused",
  () => {
    fuzz("decimals", 2_500, numberLike, (text) => {
      const value = exactly(text);
      const parsed = parseAmount(text);
      const isAmount = value !== undefined && value.places <= 2 && text.length <= 64;
      expect([text, parsed.ok]).toEqual([text, isAmount]);
      if (parsed.ok && value !== undefined) {
        expect(parsed.minor * 10n ** BigInt(value.places)).toBe(value.digits * 100n);
        expect(parseAmount(formatMinor(parsed.minor))).toEqual(parsed);
      }
      const rate = parseRate(text);
      expect([text, rate !== undefined]).toEqual([text, isRate(text)]);
      if (rate !== undefined && value !== undefined) {
        expect(rate.ppm * 10n ** BigInt(value.places)).toBe(value.digits * 1_000_000n);
        expect(parseRate(formatRate(rateFromPpm(rate.ppm)))).toEqual(rate);
      }
    });
  },
  FUZZ_TIMEOUT_MS,
);

test(
  "decimals of the platform are exact for booked amounts, and rounded half to even for floating amounts",
  () => {
    fuzz("decimals of the platform", 2_500, numberLike, (text) => {
      const value = exactly(text);
      const [exact, rounded] = [exactMinor(text), roundedMinor(text)];
      if (exact !== undefined) expect(exactMinor(formatMinor(exact))).toBe(exact);
      if (value === undefined) {
        expect([exact, rounded]).toEqual([undefined, undefined]);
        return;
      }
      const scale = 10n ** BigInt(value.places);
      if (exact !== undefined) expect(exact * scale).toBe(value.digits * 100n);
      if (rounded === undefined) {
        expect(exact).toBeUndefined();
        return;
      }
      const twiceRest = 2n * (rounded * scale - value.digits * 100n);
      const distance = twiceRest < 0n ? -twiceRest : twiceRest;
      expect(distance < scale || (distance === scale && rounded % 2n === 0n), text).toBe(true);
      expect(exact).toBe(twiceRest === 0n ? rounded : undefined);
    });
  },
  FUZZ_TIMEOUT_MS,
);

const literal = fc
  .tuple(
    fc.bigInt(-(10n ** 15n), 10n ** 15n),
    fc.option(fc.stringMatching(/^[0-9]{1,12}$/), { nil: undefined }),
    fc.option(fc.tuple(fc.constantFrom("e", "E"), fc.constantFrom("", "+", "-"), fc.nat(38)), {
      nil: undefined,
      freq: 2,
    }),
  )
  .map(([whole, fraction, power]) => `${whole}${fraction === undefined ? "" : `.${fraction}`}${power?.join("") ?? ""}`);

test(
  "a JSON number is read as written, without the rounding of a float",
  () => {
    fuzz("numbers of JSON", 2_500, literal, (written) => {
      const body = parseJson(Buffer.from(`{"a":${written}}`))?.value as object;
      const text = decimalText(body, "a")!;
      const value = exactly(text)!;
      expect(value, text).toBeDefined();
      const [, whole = "", fraction = "", power = "0"] = /^(-?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(written)!;
      const shift = BigInt(power) - BigInt(fraction.length) + BigInt(value.places);
      const digits = BigInt(whole + fraction);
      const [left, right] =
        shift >= 0n ? [digits * 10n ** shift, value.digits] : [digits, value.digits * 10n ** -shift];
      expect(left, `${written} became ${text}`).toBe(right);
    });
  },
  FUZZ_TIMEOUT_MS,
);

type Exact = { readonly digits: bigint; readonly places: number };

/** Digits and the number of decimal places; undefined unless it is plain decimal text. */
function exactly(text: string): Exact | undefined {
  const [, sign, whole, fraction = ""] = /^(-?)([0-9]+)(?:\.([0-9]+))?$/.exec(text) ?? [];
  if (whole === undefined || text.endsWith("\n")) return undefined;
  const size = BigInt(whole + fraction);
  return { digits: sign === "-" ? -size : size, places: fraction.length };
}

function isRate(text: string): boolean {
  const value = exactly(text);
  return value !== undefined && !text.startsWith("-") && value.places <= 6 && text.split(".")[0]!.length <= 9;
}

function withPoint(digits: bigint, places: number): string {
  const sign = digits < 0n ? "-" : "";
  const text = String(digits < 0n ? -digits : digits).padStart(places + 1, "0");
  return places === 0 ? sign + text : `${sign}${text.slice(0, -places)}.${text.slice(-places)}`;
}
