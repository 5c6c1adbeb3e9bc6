import fc from "fast-check";
import { listed } from "../support/fuzz.ts";

/** Records of the platform with damaged members: missing, duplicate, of another type, or out of range. */

const EXTREME_VALUES = fc.constantFrom(
  ...listed(String.raw`"" | "0" | "-1" | "1.5" | "1e3" | "NaN" | "9007199254740993" | "9223372036854775808"`),
  ...listed(
    String.raw`"99999999999999999999" | "8640000000000001" | "9007199254740991" | "-9007199254740991" | "-62135596800"`,
  ),
  ...listed(
    String.raw`0 | 1 | -1 | 1.5 | 1e308 | null | true | [] | {} | ["1"] | "x" | "\u0000" | "\ud800" | "1 " | "+1" | "0x1"`,
  ),
  ...listed(String.raw`"1,5" | "1\n" | "-0.00" | "0.001" | "999999999999999999.99" | "9999999999999999999.99"`),
  ...listed(String.raw`"0.0000000000000000000001" | "PD0F7K3M9Q2X1A x" | "40000" | "-9223372036854775808"`),
);

type Damage = {
  readonly field: number;
  readonly what: "drop" | "replace" | "duplicate" | "rename";
  readonly value: string;
};
const DAMAGE: fc.Arbitrary<Damage> = fc.record({
  field: fc.nat(100),
  what: fc.constantFrom("drop", "replace", "replace", "replace", "duplicate", "rename"),
  value: EXTREME_VALUES,
});

/** Members in order, values as JSON text. */
export type Members = readonly (readonly [name: string, value: string])[];

export function record(members: Readonly<Record<string, string>>): Members {
  return Object.entries(members).map(([name, value]) => [name, JSON.stringify(value)] as const);
}

export function withDamage(members: fc.Arbitrary<Members>, maxDamages = 2): fc.Arbitrary<string> {
  const damages = fc.array(DAMAGE, { maxLength: maxDamages });
  return fc.tuple(members, damages).map(([whole, list]) => text(list.reduce(damage, whole)));
}

export function text(members: Members): string {
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`;
}

function damage(members: Members, { field, what, value }: Damage): Members {
  const at = members.length === 0 ? 0 : field % members.length;
  const [name, old] = members[at] ?? ["x", "1"];
  const before = members.slice(0, at);
  const after = members.slice(at + 1);
  switch (what) {
    case "drop":
      return [...before, ...after];
    case "replace":
      return [...before, [name, value], ...after];
    case "duplicate":
      return [...members, [name.toLowerCase(), value]];
    case "rename":
      return [...before, [name.toUpperCase(), old], ...after];
  }
}

export const LOGIN = "3000001";

const cents = fc.integer({ min: -1_000_000, max: 1_000_000 }).map((minor) => (minor / 100).toFixed(2));

export const dealMembers: fc.Arbitrary<Members> = fc
  .record({
    ticket: fc.integer({ min: 1, max: 1_000_000 }),
    action: fc.constantFrom("0", "1", "2", "2", "2", "3", "4", "5", "13", "19"),
    profit: cents,
    seconds: fc.integer({ min: 1_700_000_000, max: 1_800_000_000 }),
    comment: fc.constantFrom("", "PD0F7K3M9Q2X1A CRM", "dealer", "\u041f\u0440\u0438\u0432\u0435\u0442"),
  })
  .map(({ ticket, action, profit, seconds, comment }) =>
    record({
      Deal: String(ticket),
      Login: LOGIN,
      Dealer: "1005",
      Order: "0",
      Action: action,
      Entry: "0",
      Time: String(seconds),
      TimeMsc: `${seconds}123`,
      Symbol: "",
      Price: "0.00000",
      VolumeExt: "100000000",
      VolumeClosedExt: "0",
      Profit: profit,
      Storage: "0.00",
      Commission: "0.00",
      PositionID: "7",
      Comment: comment,
    }),
  );

export const positionMembers: fc.Arbitrary<Members> = fc
  .record({ ticket: fc.integer({ min: 1, max: 1_000_000 }), action: fc.constantFrom("0", "1"), profit: cents })
  .map(({ ticket, action, profit }) =>
    record({
      Position: String(ticket),
      Login: LOGIN,
      Symbol: "EURUSD",
      Action: action,
      Volume: "10000",
      PriceOpen: "1.10250",
      Profit: profit,
      Storage: "-0.10",
      TimeCreate: "1767225600",
    }),
  );

export const userMembers: fc.Arbitrary<Members> = cents.map((balance) =>
  record({
    Login: LOGIN,
    Group: "pamm\\investor",
    Name: "Ann",
    Comment: "PAMM 1",
    Rights: "355",
    Leverage: "100",
    Balance: balance,
    Credit: "0.00",
  }),
);
