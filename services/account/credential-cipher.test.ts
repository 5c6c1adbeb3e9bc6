import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { Secret } from "#kernel/values/secret.ts";
import { createCredentialCipher } from "./credential-cipher.ts";

const CONTEXT = { owner: "account:trading:1", field: "main" } as const;
const key = (): Secret<Buffer> => new Secret(randomBytes(32));

test("an encrypted password is decrypted in its own context", () => {
  const cipher = createCredentialCipher([key()]);

  expect(cipher.decrypt(cipher.encrypt(new Secret("Pä55.word"), CONTEXT), CONTEXT).reveal()).toBe("Pä55.word");
});

test.each([
  ["another owner", { owner: "account:trading:2", field: "main" }],
  ["another field", { owner: "account:trading:1", field: "investor" }],
] as const)("a ciphertext that was moved to %s is not decrypted", (_context, context) => {
  const cipher = createCredentialCipher([key()]);
  const encrypted = cipher.encrypt(new Secret("Pa55.word"), CONTEXT);

  expect(() => cipher.decrypt(encrypted, context)).toThrow();
});

test.each(["ciphertext", "nonce"] as const)("a changed %s is not decrypted", (part) => {
  const cipher = createCredentialCipher([key()]);
  const encrypted = cipher.encrypt(new Secret("Pa55.word"), CONTEXT);
  const changed = Buffer.from(encrypted[part]);
  changed.writeUInt8(changed.readUInt8(0) ^ 1, 0);

  expect(() => cipher.decrypt({ ...encrypted, [part]: changed }, CONTEXT)).toThrow();
});

test("the same text never has the same ciphertext twice", () => {
  const cipher = createCredentialCipher([key()]);
  const password = new Secret("Pa55.word");
  const [first, second] = [cipher.encrypt(password, CONTEXT), cipher.encrypt(password, CONTEXT)];

  expect(Buffer.from(first.ciphertext).equals(Buffer.from(second.ciphertext))).toBe(false);
});

test("the previous key still decrypts", () => {
  const [previous, newest] = [key(), key()];
  const encrypted = createCredentialCipher([previous]).encrypt(new Secret("Pa55.word"), CONTEXT);
  const cipher = createCredentialCipher([newest, previous]);

  expect(cipher.decrypt(encrypted, CONTEXT).reveal()).toBe("Pa55.word");
});

test("without the key that encrypted it, the error names the id of the key and no part of the text", () => {
  const encrypted = createCredentialCipher([key()]).encrypt(new Secret("Pa55.word"), CONTEXT);

  expect(() => createCredentialCipher([key()]).decrypt(encrypted, CONTEXT)).toThrow(
    `No encryption key has the id ${encrypted.keyId}`,
  );
});
