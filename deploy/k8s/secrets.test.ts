import { execFile } from "node:child_process";
import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { issueServerCertificate, makeAuthority } from "../provision/issue-certificates.ts";
import { provideNatsServer } from "../local/nats.ts";
import { SERVICES } from "../provision/services.ts";
import { secretManifests, secretsOf } from "./secrets.ts";

const OWN = {
  DATABASE_URL: "postgres://rows@db.example.com/pamm?sslmode=verify-full",
  DATABASE_MIGRATION_URL: "postgres://owner@db.example.com/pamm?sslmode=verify-full",
  MT5_PASSWORD: "Abcdef12",
};

test("generated secrets are kept, and each belongs to one Secret", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "secrets-"));
  const first = await secretsOf("dev", { env: {}, folder: folder.path });
  expect(await secretsOf("dev", { env: {}, folder: folder.path })).toEqual(first);

  const holders = (file: string): string[] => Object.keys(first).filter((name) => file in first[name]!);
  expect(holders("encryption-key")).toEqual(["account", "init-database"]);
  expect(holders("api-key-pepper")).toEqual(["edge", "init-database"]);
  expect(holders("webhook-key")).toEqual(["edge", "init-database"]);
  expect(holders("mt5-password")).toEqual(["platform", "simulator", "init-database"]);
  expect(new Set(SERVICES.map((service) => first[service]!["database-url"])).size).toBe(SERVICES.length);
  expect(new Set(SERVICES.map((service) => first[service]!["nats-url"])).size).toBe(SERVICES.length);
});

test("a database of the operator is migrated by the operator's owner or not at all", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "secrets-"));
  const made = await secretsOf("dev", { env: { FEE_DATABASE_URL: OWN.DATABASE_URL }, folder: folder.path });
  expect(made["migrate"]).toMatchObject({ "fee-url": "", "edge-url": expect.stringContaining("@postgres:5432/") });
  expect(made["init-database"]).toHaveProperty("postgres-password-fee-owner");
});

test("in production everything that is the operator's has to be given, and all that is missing is named", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "secrets-"));
  const make = (env: Record<string, string>) => secretsOf("production", { env, folder: folder.path });
  await expect(make({})).rejects.toThrow(/EDGE_DATABASE_URL is missing[^]*MT5_PASSWORD is missing/);

  const made = await make(OWN);
  expect(Object.keys(made).toSorted()).toEqual([...SERVICES, "init-streams", "migrate", "nats"].toSorted());
  expect(made["fee"]).toMatchObject({ "database-url": OWN.DATABASE_URL });
  expect(made["migrate"]).toMatchObject({ "fee-url": OWN.DATABASE_MIGRATION_URL });
  expect(made["platform"]).toEqual(expect.objectContaining({ "mt5-password": OWN.MT5_PASSWORD }));
  expect(made["edge"]).not.toHaveProperty("api-key");
});

test.each(["dev", "production"] as const)("the broker accepts its configuration of %s", async (overlay) => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "secrets-"));
  const authority = await makeAuthority();
  const { cert, key } = await issueServerCertificate(authority, { name: "nats", hosts: ["nats"] });
  const file = (name: string, text: string): void => writeFileSync(join(folder.path, name), text);
  file("tls.crt", cert);
  file("tls.key", key);
  file("ca.crt", authority.cert);
  const { nats } = await secretsOf(overlay, { env: overlay === "dev" ? {} : OWN, folder: folder.path });
  const check = async (text: string): Promise<string> => {
    file("nats.conf", text.replaceAll("/run/tls/", `${folder.path}/`).replace('"/data"', `"${folder.path}/data"`));
    const { path } = await provideNatsServer();
    const env = { POD_NAME: "nats-0" };
    const { stderr } = await promisify(execFile)(path, ["-t", "-c", join(folder.path, "nats.conf")], { env });
    return stderr;
  };
  const text = nats!["nats.conf"]!;
  expect(await check(text)).toContain("configuration file");
  const [, cluster] = /^server_name: \$POD_NAME\ncluster: (.+)$/m.exec(text) ?? [];
  if (overlay === "dev") expect(text).not.toContain("cluster");
  else {
    expect(JSON.parse(cluster ?? "")).toEqual({
      name: "pamm",
      listen: "0.0.0.0:6222",
      no_advertise: true,
      routes: [0, 1, 2].map((node) => `nats-route://nats-${node}.nats:6222`),
      tls: {
        cert_file: "/run/tls/tls.crt",
        key_file: "/run/tls/tls.key",
        ca_file: "/run/tls/ca.crt",
        verify: true,
      },
    });
  }
  await expect(check(text.replace("tls.crt", "none.crt"))).rejects.toThrow("none.crt");
});

test("the manifests have the content of the files", async () => {
  const files = { fee: { "database-url": "postgres://a:b@c/d" }, edge: { pem: "-----BEGIN-----\nAB==\n" } };
  const documents = parseAllDocuments(secretManifests(files, "pamm")).map((document) => document.toJS());
  expect(documents).toEqual(
    Object.entries(files).map(([name, stringData]) => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name, namespace: "pamm", labels: { "app.kubernetes.io/part-of": "pamm" } },
      stringData,
    })),
  );
});
