import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { Secret } from "#kernel/secret.ts";
import { createVault } from "./vault.ts";

const PLACE = { owner: "account:trading:1", field: "main" } as const;
const key = (): Secret<Buffer> => new Secret(randomBytes(32));

test("what was sealed opens in its place", () => {
  const vault = createVault([key()]);

  expect(vault.open(vault.seal(new Secret("Pä55.word"), PLACE), PLACE).reveal()).toBe("Pä55.word");
});

test.each([
  ["another owner", { owner: "account:trading:2", field: "main" }],
  ["another field", { owner: "account:trading:1", field: "investor" }],
] as const)("a seal that was moved to %s does not open", (_where, place) => {
  const vault = createVault([key()]);
  const sealed = vault.seal(new Secret("Pa55.word"), PLACE);

  expect(() => vault.open(sealed, place)).toThrow();
});

test.each(["ciphertext", "nonce"] as const)("a changed %s does not open", (part) => {
  const vault = createVault([key()]);
  const sealed = vault.seal(new Secret("Pa55.word"), PLACE);
  const changed = Buffer.from(sealed[part]);
  changed.writeUInt8(changed.readUInt8(0) ^ 1, 0);

  expect(() => vault.open({ ...sealed, [part]: changed }, PLACE)).toThrow();
});

test("the same text is never sealed the same twice", () => {
  const vault = createVault([key()]);
  const [first, second] = [vault.seal(new Secret("Pa55.word"), PLACE), vault.seal(new Secret("Pa55.word"), PLACE)];

  expect(Buffer.from(first.ciphertext).equals(Buffer.from(second.ciphertext))).toBe(false);
});

test("the key before still opens, and says that it is not the newest", () => {
  const [before, now] = [key(), key()];
  const sealed = createVault([before]).seal(new Secret("Pa55.word"), PLACE);
  const vault = createVault([now, before]);

  expect(vault.open(sealed, PLACE).reveal()).toBe("Pa55.word");
  expect(vault.isCurrent(sealed)).toBe(false);
});

test("without the key that sealed it, the error names the key's id and nothing of the text", () => {
  const sealed = createVault([key()]).seal(new Secret("Pa55.word"), PLACE);

  expect(() => createVault([key()]).open(sealed, PLACE)).toThrow(`no encryption key has the id ${sealed.keyId}`);
});
