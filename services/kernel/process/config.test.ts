import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import * as variable from "./config-variables.ts";
import { ConfigError, type Environment, readConfig } from "./config.ts";
import type { Secret } from "../values/secret.ts";

const settings = {
  PORT: variable.port({ whenMissing: "8080" }),
  SESSIONS: variable.integer(1, 16, { whenMissing: "4" }),
  STRICT: variable.flag({ whenMissing: "false" }),
  PERIOD: variable.duration({ whenMissing: "P7D" }),
  ANCHOR: variable.instant({ whenMissing: "2025-01-04T00:00:00Z" }),
  BROKER: variable.url(["nats", "tls"]),
  GROUPS: variable.list({ whenMissing: "a, b" }),
  COLOUR: variable.oneOf(["red", "blue"], { whenMissing: "red" }),
  NAME: variable.optional(variable.text("a name")),
  PASSWORD: variable.secret("a password"),
  OWN_DATABASE_URL: variable.secretUrl(["postgres"], { otherwise: "DATABASE_URL" }),
};

const good: Environment = {
  BROKER: "nats://localhost:4222",
  PASSWORD: "planted-password",
  DATABASE_URL: "postgres://user:planted-password@localhost/db",
};

function mistakesOf(env: Environment): readonly string[] {
  try {
    readConfig(settings, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes;
    throw error;
  }
  return [];
}

/** A file that is removed with the test. */
function fileWith(text: string): string {
  const folder = mkdtempDisposableSync(join(tmpdir(), "config-"));
  onTestFinished(() => folder.remove());
  const path = join(folder.path, "secret");
  writeFileSync(path, text);
  return path;
}

test("variables are parsed to their types, and missing ones have their defaults", () => {
  const { PASSWORD, OWN_DATABASE_URL, ...rest } = readConfig(settings, { ...good, STRICT: "true", SESSIONS: "16" });

  expect(rest).toEqual({
    PORT: 8080,
    SESSIONS: 16,
    STRICT: true,
    PERIOD: 604_800_000,
    ANCHOR: new Date("2025-01-04T00:00:00Z"),
    BROKER: "nats://localhost:4222",
    GROUPS: ["a", "b"],
    COLOUR: "red",
  });
  const password: Secret<string> = PASSWORD;
  expect(password.reveal()).toBe("planted-password");
  expect(OWN_DATABASE_URL.reveal()).toBe(good["DATABASE_URL"]);
});

test("all invalid variables are reported at once, with name and expected format, without their values", () => {
  const planted = "planted-value";
  const mistakes = mistakesOf({
    PORT: "70000",
    SESSIONS: "0",
    STRICT: planted,
    PERIOD: "5 days",
    ANCHOR: "2025-01-04T00:00:00",
    BROKER: `https://${planted}`,
    GROUPS: "a,,b",
    COLOUR: planted,
    NAME: " ",
    OWN_DATABASE_URL: planted,
  });

  expect(mistakes).toEqual([
    "PORT is not valid: expected a port, 0 to 65535",
    "SESSIONS is not valid: expected a whole number from 1 to 16",
    "STRICT is not valid: expected true or false",
    "PERIOD is not valid: expected an ISO 8601 duration such as PT5S, PT20M or P7D",
    "ANCHOR is not valid: expected an instant such as 2025-01-04T00:00:00Z",
    "BROKER is not valid: expected a URL that begins with nats: or tls:",
    "GROUPS is not valid: expected names separated by commas",
    "COLOUR is not valid: expected one of red, blue",
    "NAME is not valid: expected a name",
    "PASSWORD is missing: expected a password",
    "OWN_DATABASE_URL is not valid: expected a URL that begins with postgres:",
  ]);
  expect(mistakes.join()).not.toContain(planted);
});

test("empty text counts as not set", () => {
  expect(readConfig(settings, { ...good, PORT: "", NAME: "" }).PORT).toBe(8080);
  expect(mistakesOf({ ...good, DATABASE_URL: "" })).toEqual([
    "OWN_DATABASE_URL or DATABASE_URL is missing: expected a URL that begins with postgres:",
  ]);
});

test("a service's own variable takes precedence over the common one", () => {
  const config = readConfig(settings, { ...good, OWN_DATABASE_URL: "postgres://own" });

  expect(config.OWN_DATABASE_URL.reveal()).toBe("postgres://own");
});

test("a secret can be read from a file, without the last newline", () => {
  const { PASSWORD: _, ...env } = good;
  const config = readConfig(settings, { ...env, PASSWORD_FILE: fileWith("from file\n") });

  expect(config.PASSWORD.reveal()).toBe("from file");
});

test("a secret that is set twice, or whose file is missing or empty, is refused", () => {
  const { PASSWORD: _, ...env } = good;

  expect(mistakesOf({ ...good, PASSWORD_FILE: fileWith("x") })).toEqual([
    "PASSWORD and PASSWORD_FILE are both set: keep one",
  ]);
  expect(mistakesOf({ ...env, PASSWORD_FILE: "/nowhere/at/all" })).toEqual([
    "PASSWORD_FILE names a file that cannot be read (ENOENT)",
  ]);
  expect(mistakesOf({ ...env, PASSWORD_FILE: fileWith("\n") })).toEqual(["PASSWORD_FILE names a file that is empty"]);
});

test("the nodes of a cluster are addresses separated by commas, each with a protocol that is accepted", () => {
  const broker = { BROKER: variable.secretUrls(["nats", "tls"]) };
  const read = (BROKER: string): string => readConfig(broker, { BROKER }).BROKER.reveal();

  expect(read("tls://u:p@a:4222,tls://u:p@b:4222")).toBe("tls://u:p@a:4222,tls://u:p@b:4222");
  expect(() => read("tls://u:p@a:4222,http://b")).toThrow("BROKER is not valid");
  expect(() => read("tls://u:p@a:4222,")).toThrow("BROKER is not valid");
});
