import { randomBytes } from "node:crypto";
import { register } from "prom-client";
import { expect, test } from "vitest";
import { createLog } from "#kernel/process/log.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { Secret } from "#kernel/values/secret.ts";
import { testDatabase } from "#test/support/database.ts";
import { createCredentialCipher } from "../credential-cipher.ts";
import { decryptPasswords } from "../passwords.ts";
import { putCredential } from "../store/credentials.ts";
import { reencryptPasswords } from "./reencrypt-passwords.ts";

const key = (): Secret<Buffer> => new Secret(randomBytes(32));

async function counted() {
  const { values } = await register.getSingleMetric("pamm_encrypted_passwords")!.get();
  return Object.fromEntries(values.map(({ labels, value }) => [labels["key"], value]));
}

test("after two rotations in a row all passwords are under the newest key, and the older keys can be destroyed", async () => {
  const { pool } = await testDatabase("account");
  const [oldest, older, newest, foreign] = [key(), key(), key(), key()];
  const save = async (owner: string, masterKey: Secret<Buffer>) => {
    const cipher = createCredentialCipher([masterKey]);
    for (const field of ["main", "investor"] as const) {
      const context = { owner, field };
      await putCredential(pool, { ...context, ...cipher.encrypt(new Secret(`${owner} ${field}`), context) });
    }
  };
  for (let number = 1; number <= 300; number += 1) {
    await save(`account:trading:${number}`, number % 2 === 0 ? oldest : older);
  }
  await save("account:trading:301", newest);
  await save("account:trading:302", foreign);
  const deps = {
    pool,
    credentialCipher: createCredentialCipher([newest, older, oldest]),
    log: createLog({ service: "account", level: "silent" }),
  };

  expect(await reencryptPasswords(deps)).toBe(true);
  expect(await counted()).toEqual({ current: 502, older: 100, unknown: 2 });
  expect(await reencryptPasswords(deps)).toBe(false);
  expect(await counted()).toEqual({ current: 602, older: 0, unknown: 2 });
  const before = await many(pool, sql`select * from credential order by owner, field`);
  expect(await reencryptPasswords(deps)).toBe(false);
  expect(await many(pool, sql`select * from credential order by owner, field`)).toEqual(before);

  const alone = { pool, credentialCipher: createCredentialCipher([newest]) };
  for (const owner of ["account:trading:1", "account:trading:2", "account:trading:301"]) {
    const passwords = await decryptPasswords(alone, owner);
    expect([passwords?.main.reveal(), passwords?.investor.reveal()]).toEqual([`${owner} main`, `${owner} investor`]);
  }
  await expect(decryptPasswords(alone, "account:trading:302")).rejects.toThrow("No encryption key has the id");
});
