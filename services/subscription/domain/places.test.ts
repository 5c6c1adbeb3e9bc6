import fc from "fast-check";
import { expect, test } from "vitest";
import {
  ACCOUNT_PLACES,
  type Change,
  changeAccount,
  changeSeat,
  combine,
  EMPTY_SEAT,
  isEmptySeat,
  move,
  NOTHING_ON_ACCOUNT,
  onInvestor,
  onMaster,
  type Place,
  SEAT_PLACES,
} from "./places.ts";

const PLACES: readonly Place[] = [...ACCOUNT_PLACES, ...SEAT_PLACES];
const aChange = fc.record(Object.fromEntries(PLACES.map((place) => [place, fc.bigInt(-1_000n, 1_000n)])), {
  requiredKeys: [],
}) as fc.Arbitrary<Change>;

test("each cent shows on the accounts that its place says", () => {
  const shown = PLACES.map((place) => [place, onInvestor({ [place]: 1n }), onMaster({ [place]: 1n })]);
  expect(shown).toEqual([
    ["outside", 1n, 0n],
    ["quarantined", 1n, 0n],
    ["unposted", -1n, 0n],
    ["inbound", 1n, 0n],
    ["waiting", 1n, 1n],
    ["pooled", 1n, 1n],
    ["reserved", 1n, 1n],
    ["outbound", 0n, 1n],
  ]);
});

test("changes add up, whatever way they are combined", () => {
  fc.assert(
    fc.property(aChange, aChange, (left, right) => {
      const both = combine(left, right);
      expect(onInvestor(both)).toBe(onInvestor(left) + onInvestor(right));
      expect(onMaster(both)).toBe(onMaster(left) + onMaster(right));
      expect(changeSeat(changeSeat(EMPTY_SEAT, left), right)).toEqual(changeSeat(EMPTY_SEAT, both));
      expect(changeAccount(changeAccount(NOTHING_ON_ACCOUNT, left), right)).toEqual(
        changeAccount(NOTHING_ON_ACCOUNT, both),
      );
    }),
  );
});

test("a move takes from one place what it gives to the other", () => {
  expect(move("outside", "inbound", 5n)).toEqual({ outside: -5n, inbound: 5n });
});

test("what joins or leaves what is pooled changes neither account by itself", () => {
  for (const change of [move("waiting", "pooled", 7n), move("pooled", "reserved", 7n)]) {
    expect([onInvestor(change), onMaster(change)]).toEqual([0n, 0n]);
  }
});

test("a seat is empty only when nothing is anywhere", () => {
  expect(isEmptySeat(EMPTY_SEAT)).toBe(true);
  for (const place of SEAT_PLACES) expect(isEmptySeat({ ...EMPTY_SEAT, [place]: 1n })).toBe(false);
});
