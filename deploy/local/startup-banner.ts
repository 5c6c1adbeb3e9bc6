import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type LaunchContext, reachable } from "./plan.ts";
import type { Program } from "./service-process.ts";
import { OWN_SECRETS, secretFolder } from "../provision/secrets.ts";
import { databaseVariable, LOOPBACK, type Service, SERVICES } from "../provision/services.ts";
import { isSet } from "./settings.ts";

/** How another process reaches the running system; also written to <state>/run/system.json. */
export type RunningSystem = {
  readonly url: string;
  /** Null when the operator set PAMM_BOOTSTRAP_API_KEY. */
  readonly apiKey: string | null;
  readonly simulatorControlUrl: string | null;
  readonly metricsUrl: string;
  /** Of each service, for a Prometheus on this machine: all ports but that of the edge change with each start. */
  readonly metricsUrls: Readonly<Record<Service, string>>;
  readonly stateDir: string;
  /** A fee week begins at every multiple of the period after the anchor. */
  readonly feePeriodMs: number;
  readonly feeAnchor: string;
  /** Read by the keys command; null where the operator named a database, which the operator then names there too. */
  readonly edgeDatabaseUrl: string | null;
  /** Of the user of the edge. */
  readonly natsUrl: string | null;
  readonly natsCaFile: string | null;
  readonly pepperFile: string | null;
};

const SECOND = { name: "second", lastsMs: 1_000 };
const UNITS = [
  { name: "day", lastsMs: 86_400_000 },
  { name: "hour", lastsMs: 3_600_000 },
  { name: "minute", lastsMs: 60_000 },
];
const OWN_KEY = "$PAMM_BOOTSTRAP_API_KEY";

export function describeSystem(
  { env, settings, secrets }: LaunchContext,
  programs: Readonly<Record<Service, Program>>,
): RunningSystem {
  const { edge } = programs;
  const { httpHost, httpPort, metricsPort, controlPort, embedded, hasOwnKey, stateDir, feeWeek } = settings;
  const host = reachable(httpHost);
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${httpPort}`,
    apiKey: hasOwnKey ? null : secrets.own.PAMM_BOOTSTRAP_API_KEY,
    simulatorControlUrl: embedded.simulator ? `http://${LOOPBACK}:${controlPort}` : null,
    metricsUrl: metricsUrlOf(metricsPort),
    metricsUrls: Object.fromEntries(
      SERVICES.map((service) => [service, metricsUrlOf(programs[service].env["PAMM_METRICS_PORT"])]),
    ) as Record<Service, string>,
    stateDir,
    feePeriodMs: feeWeek.periodMs,
    feeAnchor: feeWeek.anchor.toISOString(),
    edgeDatabaseUrl: embedded.postgres ? (edge.env[databaseVariable("edge")] ?? null) : null,
    natsUrl: embedded.nats ? (edge.env["NATS_URL"] ?? null) : null,
    natsCaFile: embedded.nats ? (edge.env["NATS_CA_FILE"] ?? null) : null,
    pepperFile: isSet(env, "PAMM_API_KEY_PEPPER")
      ? null
      : join(secretFolder(stateDir), OWN_SECRETS.PAMM_API_KEY_PEPPER.file),
  };
}

function metricsUrlOf(port: string | number | undefined): string {
  return `http://${LOOPBACK}:${port}/metrics`;
}

export function startupBanner(system: RunningSystem, env: NodeJS.ProcessEnv): string {
  const { url, apiKey, simulatorControlUrl, metricsUrl, stateDir, feePeriodMs, feeAnchor } = system;
  const key = apiKey ?? OWN_KEY;
  const lines = [
    "",
    "The PAMM Integration Service is ready.",
    "",
    `  API         ${url}/api/v1     (documentation: ${url}/docs)`,
    `  console     ${url}/console     (sign in with an API key)`,
    `  API key     ${key}`,
    ...(simulatorControlUrl === null ? [] : [`  simulator   ${simulatorControlUrl}/control/accounts`]),
    `  metrics     ${metricsUrl}`,
    `  fee weeks   ${inWords(feePeriodMs)} each, counted from ${feeAnchor}`,
    `  data, logs  ${stateDir}`,
    "",
    ...firstRequests(system, `-H "Authorization: Bearer ${key}"`, env["MT5_INVESTOR_GROUPS"]),
    "",
    "Ctrl-C stops everything; the next start continues with the same data.",
    "",
  ];
  return `${lines.join("\n")}\n`;
}

/** Against a real trading platform the first request only reads: no money moves because an operator tries it. */
function firstRequests({ url, simulatorControlUrl }: RunningSystem, auth: string, groups = "pamm\\investor"): string[] {
  if (simulatorControlUrl === null) {
    return ["A first request:", "", `  curl ${auth} '${url}/api/v1/investor/directory?engine=PAMM&limit=50'`];
  }
  const [investorGroup] = groups.split(",");
  const investor = {
    first_name: "Ivy",
    last_name: "Vestor",
    name: "Ivy Vestor",
    username: "ivy@example.com",
    platform_group: investorGroup,
  };
  return [
    "First requests: create an Investor, read its login from the answer, deposit, read the balance:",
    "",
    `  LOGIN=$(curl -s ${auth} -H 'Content-Type: application/json' '${url}/api/v1/investor/create' \\`,
    `    -d '${JSON.stringify(investor)}' | grep -oE '"mt5_login":"?[0-9]+' | grep -oE '[0-9]+$')`,
    `  curl -s -X POST ${auth} -H "Idempotency-Key: first-$LOGIN" "${url}/api/v1/investor/deposit?login=$LOGIN&amount=1000.00&comment=first-deposit"`,
    `  curl -s ${auth} "${url}/api/v1/info/balance/$LOGIN"`,
  ];
}

function inWords(ms: number): string {
  const unit = UNITS.find(({ lastsMs }) => ms % lastsMs === 0) ?? SECOND;
  const count = ms / unit.lastsMs;
  return `${count} ${unit.name}${count === 1 ? "" : "s"}`;
}

export function writeSystemFile(system: RunningSystem): Disposable {
  const file = systemFile(system.stateDir);
  // Whole or not at all: `make demo` may be reading it.
  writeFileSync(`${file}.new`, `${JSON.stringify(system, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return { [Symbol.dispose]: () => removeSystemFile(system.stateDir) };
}

/** The file exists only while the system is ready, so that no client connects to one that is not. */
export function removeSystemFile(stateDir: string): void {
  rmSync(systemFile(stateDir), { force: true });
}

function systemFile(stateDir: string): string {
  return join(stateDir, "run", "system.json");
}
