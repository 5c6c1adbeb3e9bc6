import { expect, test } from "vitest";
import { isTurnOf, lacksDeposits, type LoginState } from "./admission.ts";
import { LEG_KINDS, type LegKind } from "./leg-kind.ts";
import { legNumber } from "./leg-number.ts";

const KINDS = Object.keys(LEG_KINDS) as LegKind[];
const FREE: LoginState = { isBeingRead: false, mayLackDeals: false, accountLock: undefined };
const LOCK = { lockOwner: "saga", admitsBefore: 10n };
const BEHIND = legNumber(5n);

test("on a free login it is the turn of every kind", () => {
  for (const kind of KINDS) expect(isTurnOf(FREE, { kind, lockOwner: "" }, undefined)).toBe(true);
});

test.each<[string, Partial<LoginState>, typeof BEHIND | undefined]>([
  ["facts are being read", { isBeingRead: true }, undefined],
  ["another saga has the account lock", { accountLock: LOCK }, undefined],
  ["a leg has to end before", {}, BEHIND],
])("while %s only a leg that does not occupy its login is sent", (_what, own, obstacle) => {
  const sent = KINDS.filter((kind) => isTurnOf({ ...FREE, ...own }, { kind, lockOwner: "" }, obstacle));
  expect(sent).toEqual(["fee_credit"]);
});

test("while a deal may be that of a lost permit, no leg of any kind is sent, also under the account lock of its own saga", () => {
  const login = { ...FREE, mayLackDeals: true, accountLock: LOCK };
  for (const kind of KINDS) expect(isTurnOf(login, { kind, lockOwner: "saga" }, undefined)).toBe(false);
});

test("an account lock admits the legs of its saga and, until it is granted, those that were recorded before it", () => {
  const isAdmitted = (lockOwner: string, number?: bigint, accountLock = LOCK) =>
    isTurnOf(
      { ...FREE, accountLock },
      { kind: "deposit", lockOwner, number: number === undefined ? undefined : legNumber(number) },
      undefined,
    );

  expect(isAdmitted("saga")).toBe(true);
  expect(isAdmitted("", 9n)).toBe(true);
  expect(isAdmitted("", 10n)).toBe(false);
  expect(isAdmitted("")).toBe(false);
  const granted = { ...LOCK, admitsBefore: 0n };
  expect([isAdmitted("saga", undefined, granted), isAdmitted("", 9n, granted)]).toEqual([true, false]);
});

const SEEN_AT = new Date(1_000_000);
const unfiledFor = (ms: number) => ({ undecidedFrom: new Date(SEEN_AT.getTime() - ms), seenAt: SEEN_AT });

test("deposits are closed when deals are unfiled for more than ten seconds and no open leg explains it", () => {
  expect(lacksDeposits({ undecidedFrom: undefined, seenAt: SEEN_AT }, "deposit", undefined)).toBe(false);
  expect(lacksDeposits(unfiledFor(10_000), "deposit", undefined)).toBe(false);
  expect(lacksDeposits(unfiledFor(10_001), "deposit", undefined)).toBe(true);
  expect(lacksDeposits(unfiledFor(10_001), "deposit", BEHIND)).toBe(false);
  expect(lacksDeposits(unfiledFor(10_001), "mirror", undefined)).toBe(false);
});
