import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { issueCertificate, issueServerCertificate, makeAuthority } from "../provision/issue-certificates.ts";
import { keyIn, keys } from "../demo/keys.ts";
import { createPlatform } from "../demo/platform.ts";
import { poll } from "../demo/wait.ts";
import { roleOf, serviceUrl, withClient } from "../provision/database.ts";
import { IDENTIFIED } from "../provision/identities.ts";
import { writeSecret } from "../provision/secrets.ts";
import { databaseVariable, LOOPBACK, type Service, SERVICES } from "../provision/services.ts";
import { createAccount } from "./accounts.ts";
import { proveMovements } from "./books.ts";
import type { Access } from "./clients.ts";
import type { Rehearsal } from "./rehearsal.ts";
import { type RollingSystem, startRollingSystem } from "./rolling-system.ts";
import { runRehearsal } from "./run-rehearsal.ts";
import { type Caller, newCaller, startTraffic, type Traffic } from "./traffic.ts";
import { startWebhookTraffic, type WebhookTraffic } from "./webhook-traffic.ts";

const CALLERS = 4;
/** So that the traffic after a rotation shows its effect. */
const AFTERWARDS_MS = 2_000;
const METRIC = { withinMs: 60_000, everyMs: 500 };

process.exitCode = await runRehearsal(
  "Rehearsal: every secret is replaced while deposits go on.",
  async (rehearsal, { folder, stack }) => {
    const stateDir = join(folder, "state");
    mkdirSync(stateDir);
    return await rotate(
      rehearsal,
      await rehearsal.step("Start a system", async () => stack.use(await startRollingSystem(stateDir))),
      stack,
    );
  },
);

/** `make rehearse-rotation`: docs/operate/rotation.md, carried out and timed while deposits go on. */
async function rotate(rehearsal: Rehearsal, system: RollingSystem, stack: AsyncDisposableStack): Promise<number> {
  let apiKey = system.secrets.own.PAMM_BOOTSTRAP_API_KEY;
  const access = (): Access => ({ url: system.url(), apiKey });
  const created = await keys(system.stateDir, "create", "--name", "crm", "--scopes", "funds:deposit,funds:withdraw");
  const callers: Caller[] = [];
  for (let index = 0; index < CALLERS; index += 1) {
    callers.push(newCaller(await createAccount(access, "investor", `Ines${index}`), index % 2 === 0));
  }
  apiKey = keyIn(created);
  const reader = (): Access => ({ url: system.url(), apiKey: system.secrets.own.PAMM_BOOTSTRAP_API_KEY });
  const webhook = await startWebhookTraffic(reader, stack);
  const traffic = startTraffic(access, callers, true);

  await rotateApiKey(rehearsal, traffic, { system, created, use: (key) => (apiKey = key) });
  await rotatePepper(rehearsal, traffic, system);
  await rotateWebhookKey(rehearsal, traffic, { system, webhook });
  await rotateEncryptionKey(rehearsal, traffic, system);
  await rotateDatabasePasswords(rehearsal, traffic, system);
  await rotateBrokerPasswords(rehearsal, traffic, system);
  await rotateCertificates(rehearsal, traffic, system);
  await rotateManagerPassword(rehearsal, traffic, system);

  await rehearsal.step("Prove on the platform that no command was lost or executed twice", async (see) => {
    await traffic.stop();
    const platform = createPlatform(system.controlUrl);
    const { commands, executed } = await proveMovements(rehearsal, { access: reader(), platform, callers });
    see(`${commands} commands, ${executed} executed once`);
    see(`${await webhook.prove(rehearsal)} events at the endpoint of a webhook, none is missing`);
  });
  return rehearsal.finish();
}

/** A step with what the callers saw during it. */
async function rotation(
  { step, check }: Rehearsal,
  traffic: Traffic,
  name: string,
  work: (see: (text: string) => void) => Promise<void>,
): Promise<void> {
  traffic.take();
  await step(name, async (see) => {
    await work(see);
    await sleep(AFTERWARDS_MS);
    const { sent, executed, notExecuted, unknown, refused, longestGapMs } = traffic.take();
    const interrupted = [...notExecuted].map(([code, count]) => `${count} × ${code.slice(0, 60)}`).join(", ");
    see(
      `${sent} sent, ${executed} executed, not executed: ${interrupted === "" ? "none" : interrupted}, unknown: ${unknown}`,
    );
    see(`longest time without a deposit: ${(longestGapMs / 1_000).toFixed(1)} s`);
    check("no command was refused for good", refused.length === 0, refused[0] ?? "");
    check("deposits go on", executed > 0);
  });
}

type KeyRotation = { readonly system: RollingSystem; readonly created: string; readonly use: (key: string) => void };

async function rotateApiKey(
  rehearsal: Rehearsal,
  traffic: Traffic,
  { system, created, use }: KeyRotation,
): Promise<void> {
  await rotation(rehearsal, traffic, "API key: a second one, the callers change, the first is revoked", async () => {
    const id = /Key (\w+) created/.exec(created)?.[1] ?? "";
    use(keyIn(await keys(system.stateDir, "rotate", id, "--overlap", "PT1H")));
    await sleep(AFTERWARDS_MS);
    await keys(system.stateDir, "revoke", id);
  });
}

async function rotatePepper(rehearsal: Rehearsal, traffic: Traffic, system: RollingSystem): Promise<void> {
  const next = newKey();
  const last = system.secrets.own.PAMM_API_KEY_PEPPER;
  await rotation(rehearsal, traffic, "PAMM_API_KEY_PEPPER: known, exchanged, the old one removed", async (see) => {
    await system.roll(["edge"], () => ({ PAMM_API_KEY_PEPPER_OLD: next }));
    await system.roll(["edge"], () => ({ PAMM_API_KEY_PEPPER: next, PAMM_API_KEY_PEPPER_OLD: last }));
    await untilMetric(system, "edge", 'pamm_api_keys{pepper="other"} 0');
    see('pamm_api_keys{pepper="other"} is 0');
    await system.roll(["edge"], () => ({ PAMM_API_KEY_PEPPER_OLD: undefined }));
  });
}

type WebhookRotation = { readonly system: RollingSystem; readonly webhook: WebhookTraffic };

async function rotateWebhookKey(
  rehearsal: Rehearsal,
  traffic: Traffic,
  { system, webhook }: WebhookRotation,
): Promise<void> {
  const next = newKey();
  const last = system.secrets.own.PAMM_WEBHOOK_KEY;
  await rotation(rehearsal, traffic, "PAMM_WEBHOOK_KEY: known, exchanged, the old one removed", async (see) => {
    const sent: number[] = [];
    const untilSent = async (): Promise<void> => {
      await webhook.untilNext();
      sent.push(webhook.take());
    };
    await untilSent();
    await system.roll(["edge"], () => ({ PAMM_WEBHOOK_KEY_OLD: next }));
    await system.roll(["edge"], () => ({ PAMM_WEBHOOK_KEY: next, PAMM_WEBHOOK_KEY_OLD: last }));
    await untilSent();
    await untilMetric(system, "edge", 'pamm_webhook_secrets{key="older"} 0');
    see('pamm_webhook_secrets{key="older"} is 0');
    await system.roll(["edge"], () => ({ PAMM_WEBHOOK_KEY_OLD: undefined }));
    webhook.take();
    await untilSent();
    see(`signed events before, while and after: ${sent.join(", ")}`);
    rehearsal.check(
      "events are sent before, while and after",
      sent.every((count) => count > 0),
    );
  });
}

async function rotateEncryptionKey(rehearsal: Rehearsal, traffic: Traffic, system: RollingSystem): Promise<void> {
  const next = newKey();
  await rotation(rehearsal, traffic, "PAMM_ENCRYPTION_KEY: the old one beside the new, then removed", async (see) => {
    await system.roll(["account"], () => ({
      PAMM_ENCRYPTION_KEY: next,
      PAMM_ENCRYPTION_KEY_OLD: system.secrets.own.PAMM_ENCRYPTION_KEY,
    }));
    await untilMetric(system, "account", 'pamm_encrypted_passwords{key="older"} 0');
    see('pamm_encrypted_passwords{key="older"} is 0');
    await system.roll(["account"], () => ({ PAMM_ENCRYPTION_KEY_OLD: undefined }));
  });
}

/** A role has one password: a process opens no new connection between the change and its replacement. */
async function rotateDatabasePasswords(rehearsal: Rehearsal, traffic: Traffic, system: RollingSystem): Promise<void> {
  await rotation(rehearsal, traffic, "Passwords of the Postgres roles: changed, the services replaced", async () => {
    const passwords = new Map(SERVICES.map((service) => [service, newPassword()]));
    await withClient(system.databaseUrl.replace(/\/postgres$/, "/pamm"), async (database) => {
      for (const [service, password] of passwords) {
        await database.query(`alter role ${roleOf(service)} password ${pg.escapeLiteral(password)}`);
      }
    });
    await system.roll(SERVICES, (service) => ({
      [databaseVariable(service)]: serviceUrl(
        `${LOOPBACK}:${system.postgresPort}`,
        service,
        passwords.get(service) ?? "",
      ),
    }));
  });
}

/** The broker ends the connections of a user whose password changes, so each service gets a second user first. */
async function rotateBrokerPasswords(rehearsal: Rehearsal, traffic: Traffic, system: RollingSystem): Promise<void> {
  await rotation(
    rehearsal,
    traffic,
    "NATS: a second user for each service, the services replaced, the first removed",
    async () => {
      const passwords = new Map<string, string>(SERVICES.map((service) => [service, newPassword()]));
      const isLast = ({ user }: { user: string }): boolean => passwords.has(user);
      system.reloadBroker((users) => [
        ...users,
        ...users
          .filter(isLast)
          .map((each) => ({ ...each, user: `${each.user}-2`, password: passwords.get(each.user) ?? "" })),
      ]);
      await system.roll(SERVICES, (service) => ({
        NATS_URL: `tls://${service}-2:${passwords.get(service)}@${LOOPBACK}:${system.natsPort}`,
      }));
      system.reloadBroker((users) => users.filter((each) => !isLast(each)));
    },
  );
}

async function rotateCertificates(rehearsal: Rehearsal, traffic: Traffic, system: RollingSystem): Promise<void> {
  const folder = join(system.stateDir, "secret/tls");
  const authority = await makeAuthority();
  const unchanged = (): NodeJS.ProcessEnv => ({});
  await rotation(rehearsal, traffic, "Certificates, 1: both authorities are trusted", async () => {
    writeSecret(folder, "ca.pem", `${readFileSync(join(folder, "ca.pem"), "utf8").trim()}\n${authority.cert}`);
    await system.roll(SERVICES, unchanged);
  });
  await rotation(rehearsal, traffic, "Certificates, 2: new ones of the services and of the broker", async () => {
    for (const service of IDENTIFIED) {
      const { cert, key } = await issueCertificate(authority, service);
      writeSecret(folder, `${service}-key.pem`, key);
      writeSecret(folder, `${service}.pem`, cert);
    }
    const hosts = ["nats", "localhost", LOOPBACK];
    const broker = await issueServerCertificate(authority, { name: "nats", hosts, isClient: true });
    writeSecret(folder, "nats-key.pem", broker.key);
    writeSecret(folder, "nats.pem", broker.cert);
    system.reloadBroker();
    await system.roll(IDENTIFIED, unchanged);
  });
  await rotation(rehearsal, traffic, "Certificates, 3: the old authority is not trusted any more", async () => {
    writeSecret(folder, "ca.pem", authority.cert);
    await system.roll(SERVICES, unchanged);
  });
}

/** The platform lets sessions go on that are open; a process can open no other one until it was replaced. */
async function rotateManagerPassword(rehearsal: Rehearsal, traffic: Traffic, system: RollingSystem): Promise<void> {
  const password = newManagerPassword();
  await rotation(rehearsal, traffic, "Password of the MetaTrader manager: changed, platform replaced", async (see) => {
    const change = { method: "POST", path: "/control/manager", body: { password } } as const;
    const { kind } = await createPlatform(system.controlUrl).send(change);
    rehearsal.check("the platform has changed the password", kind === "done");
    await sleep(AFTERWARDS_MS);
    await system.roll(["platform"], () => ({ MT5_PASSWORD: password }));
    const [opened] = await linesOf(system, "platform", 'pamm_platform_sessions_opened_total{outcome="ok"');
    rehearsal.check("the new process has signed in with the new password", Number(opened?.split(" ").at(-1)) > 0);
    see(opened ?? "no session was opened");
  });
}

async function linesOf(system: RollingSystem, service: Service, start: string): Promise<string[]> {
  return (await system.metrics(service)).split("\n").filter((line) => line.startsWith(start));
}

async function untilMetric(system: RollingSystem, service: "account" | "edge", line: string): Promise<void> {
  let found = "";
  await poll(
    { what: line, ...METRIC },
    async () => {
      const lines = await linesOf(system, service, `${line.split("{")[0]}{`);
      found = lines.join(", ");
      return lines.includes(line) ? true : undefined;
    },
    () => found,
  );
}

function newKey(): string {
  return randomBytes(32).toString("base64");
}

function newPassword(): string {
  return randomBytes(24).toString("hex");
}

/** As the platform demands: 8 to 16 characters of four kinds. */
function newManagerPassword(): string {
  return `Mt5#${randomBytes(6).toString("hex")}`;
}
