import { expect, test } from "vitest";
import { firstChoice, nextFreeLogin } from "./login-range.ts";

const server = { first: 1, last: 1_000_000 };

test("the first login is 900101, or the first of the range when 900101 is outside it", () => {
  expect(firstChoice(server)).toBe(900_101);
  expect(firstChoice({ first: 5, last: 10 })).toBe(5);
});

test("used and reserved logins are skipped until no login is left", () => {
  const reserved = { first: 900_103, last: 999_998 };
  const isTaken = (login: number) => login === 900_101;
  expect(nextFreeLogin(900_101, { server, reserved }, isTaken)).toBe(900_102);
  expect(nextFreeLogin(900_103, { server, reserved }, isTaken)).toBe(999_999);
  expect(nextFreeLogin(1_000_001, { server, reserved }, isTaken)).toBeUndefined();
  expect(nextFreeLogin(900_103, { server, reserved: { first: 1, last: 2_000_000 } }, isTaken)).toBeUndefined();
});
