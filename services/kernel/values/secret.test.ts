import { inspect } from "node:util";
import { expect, test } from "vitest";
import { Secret } from "./secret.ts";

const password = new Secret("hunter2");

test("a secret is returned by reveal only", () => {
  expect(password.reveal()).toBe("hunter2");
});

test("a secret inside an object is never serialised", () => {
  const account = { login: "9001", password, nested: [{ password }] };

  const written = [JSON.stringify(account), inspect(account, { depth: 9, showHidden: true }), `${password}`];
  expect(written.join(" ")).not.toContain("hunter2");
  expect(JSON.parse(JSON.stringify(account))).toMatchObject({ password: "[secret]" });
  expect({ ...password }).toEqual({});
});
