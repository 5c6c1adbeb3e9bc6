import { expect, test } from "vitest";
import { readConfig } from "#kernel/process/config.ts";
import { settings } from "./config.ts";

const ADDRESS = "127.0.0.1:1";
const ENV = {
  DATABASE_URL: "postgres://localhost/pamm",
  NATS_URL: "nats://localhost",
  PAMM_TLS_CA_FILE: "ca.pem",
  PAMM_TLS_CERT_FILE: "cert.pem",
  PAMM_TLS_KEY_FILE: "key.pem",
  PLATFORM_GRPC_URL: ADDRESS,
  ACCOUNT_GRPC_URL: ADDRESS,
  FEE_GRPC_URL: ADDRESS,
};

test("the fee week lasts seven days from a Saturday by default and can be configured", () => {
  expect(readConfig(settings, ENV)).toMatchObject({
    PAMM_FEE_PERIOD: 7 * 86_400_000,
    PAMM_FEE_ANCHOR: new Date("2025-01-04T00:00:00Z"),
  });
  const configured = { PAMM_FEE_PERIOD: "PT5S", PAMM_FEE_ANCHOR: "2026-01-01T12:00:00Z" };
  expect(readConfig(settings, { ...ENV, ...configured })).toMatchObject({
    PAMM_FEE_PERIOD: 5_000,
    PAMM_FEE_ANCHOR: new Date("2026-01-01T12:00:00Z"),
  });
});

test("a fee week shorter than three quarters of a second is refused", () => {
  for (const period of ["PT0.74S", "PT0S", "soon"]) {
    expect(() => readConfig(settings, { ...ENV, PAMM_FEE_PERIOD: period })).toThrow(
      /PAMM_FEE_PERIOD.*at least PT0.75S/,
    );
  }
});
