import { expect, test } from "vitest";
import { isSameOwner, writtenName } from "./owner.ts";

test.each([
  ["Ann", "Ann "],
  ["Ann", "ann"],
  ["Ann Lee", "Ann  Lee"],
  ["Ann Lee", "Ann\u00a0Lee"],
  ["Ann Lee", "Ann\tLee"],
  ["Ann", "A\u200bnn"],
  ["Zo\u00eb", "Zoe\u0308"],
  ["Ann", "\uff21nn"],
  ["Stra\u00dfe", "STRASSE"],
])("%j and %j are one owner", (one, other) => {
  expect([isSameOwner(one, other), isSameOwner(other, one)]).toEqual([true, true]);
});

test.each([
  ["Ann", "Anna"],
  ["Ann Lee", "AnnLee"],
  ["Zo\u00eb", "Zoe"],
])("%j and %j are two owners", (one, other) => {
  expect(isSameOwner(one, other)).toBe(false);
});

test.each([
  [" Ann  Lee ", "Ann Lee"],
  ["Zoe\u0308", "Zo\u00eb"],
  ["A\u200bnn", "Ann"],
  ["ann", "ann"],
])("the name %j is written %j", (name, written) => {
  expect(writtenName(name)).toBe(written);
});
