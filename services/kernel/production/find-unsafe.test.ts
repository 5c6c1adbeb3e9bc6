import { expect, test } from "vitest";
import { Secret } from "../values/secret.ts";
import { findUnsafe } from "./find-unsafe.ts";

const key = (seed: number) =>
  new Secret(Buffer.from(Array.from({ length: 32 }, (_, index) => (seed + index * 7) % 256)));
const SAFE = {
  PAMM_REHEARSAL: false,
  PAMM_MIGRATE: "check",
  FUNDING_DATABASE_URL: new Secret("postgresql://funding:kX91@db.example/pamm?sslmode=verify-full"),
  NATS_URL: new Secret("tls://funding:w2Lq@a.example:4222,tls://b.example:4222"),
  PAMM_API_KEY_PEPPER: key(1),
};

test("a safe configuration has no reason against it", () => {
  expect(findUnsafe(SAFE, { PAMM_REHEARSAL: "false", PATH: "/usr/bin", PAMM_API_KEY_PEPPER_FILE: "/a" })).toEqual([]);
});

test.each<[string, Record<string, unknown>, string]>([
  ["a rehearsal", { PAMM_REHEARSAL: true }, "PAMM_REHEARSAL is true: remove it"],
  ["failpoints", { PAMM_FAILPOINTS: "/tmp" }, "PAMM_FAILPOINTS makes"],
  ["migrations by the service", { PAMM_MIGRATE: "auto" }, "PAMM_MIGRATE is not check"],
  [
    "the owner of the tables",
    { FUNDING_DATABASE_MIGRATION_URL: new Secret("postgresql://owner:zz9@db/pamm?sslmode=verify-full") },
    "FUNDING_DATABASE_MIGRATION_URL is the owner of the tables",
  ],
  [
    "the bootstrap key",
    { PAMM_BOOTSTRAP_API_KEY: new Secret("bootstrap-of-2026") },
    "PAMM_BOOTSTRAP_API_KEY has every scope",
  ],
  [
    "a broker in plain text",
    { NATS_URL: new Secret("nats://funding:w2Lq@a.example") },
    "NATS_URL is not encrypted: use tls://",
  ],
  ["a broker without a user", { NATS_URL: new Secret("tls://a.example") }, "NATS_URL names no user"],
  [
    "a database that is not verified",
    { FUNDING_DATABASE_URL: new Secret("postgresql://funding:kX91@db.example/pamm?sslmode=require") },
    "FUNDING_DATABASE_URL is not encrypted, or its server is not verified: add sslmode=verify-full",
  ],
  [
    "a password that is the name of the user",
    { FUNDING_DATABASE_URL: new Secret("postgresql://funding:funding@db.example/pamm?sslmode=verify-full") },
    "FUNDING_DATABASE_URL has a default password",
  ],
  ["a default password", { MT5_PASSWORD: new Secret("Password") }, "MT5_PASSWORD is a default"],
  [
    "a key that is not random",
    { PAMM_API_KEY_PEPPER: new Secret(Buffer.alloc(32, 1)) },
    "PAMM_API_KEY_PEPPER is not random",
  ],
  ["equal keys", { PAMM_ENCRYPTION_KEY: key(1) }, "PAMM_API_KEY_PEPPER and PAMM_ENCRYPTION_KEY share one secret"],
])("%s is one reason, without the value", (_what, unsafe, reason) => {
  const reasons = findUnsafe({ ...SAFE, ...unsafe }, {});
  expect(reasons).toEqual([expect.stringContaining(reason)]);
  expect(reasons.join()).not.toMatch(/kX91|w2Lq|bootstrap-of|example/);
});

test("all reasons are found at once, and unknown variables are named", () => {
  const env = { PAMM_QUIET_PERIDO: "PT5M", PAMM_REHEARSAL_FILE: "", PAMM_FEE_ANCHOR: "x", MT5_URL: "y" };
  expect(findUnsafe({ PAMM_REHEARSAL: true, PAMM_MIGRATE: "check", NATS_URL: new Secret("nats://h") }, env)).toEqual([
    "PAMM_REHEARSAL is true: remove it",
    "NATS_URL is not encrypted: use tls://",
    "NATS_URL names no user: each service has its own",
    "PAMM_QUIET_PERIDO is not a variable of this service: correct or remove it",
  ]);
});
