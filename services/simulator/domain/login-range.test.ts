import { expect, test } from "vitest";
import { firstChoice, nextFreeLogin } from "./login-range.ts";

const server = { first: 1, last: 1_000_000 };

test("logins start with those of the examples, inside the range of the server", () => {
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
