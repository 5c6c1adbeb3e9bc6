import { inspect } from "node:util";
import { expect, test } from "vitest";
import { Secret } from "./secret.ts";

const password = new Secret("hunter2");

test("a secret shows itself only when it is asked to", () => {
  expect(password.reveal()).toBe("hunter2");
});

test("a secret in any object is not written by accident", () => {
  const account = { login: "9001", password, nested: [{ password }] };

  const written = [JSON.stringify(account), inspect(account, { depth: 9, showHidden: true }), `${password}`];
  expect(written.join(" ")).not.toContain("hunter2");
  expect(JSON.parse(JSON.stringify(account))).toMatchObject({ password: "[secret]" });
  expect({ ...password }).toEqual({});
});
