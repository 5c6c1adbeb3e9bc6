import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Program } from "./life.ts";
import { type House, reachable } from "./plan.ts";
import { databaseVariable, isSet, LOOPBACK } from "./settings.ts";

/** What somebody in another terminal needs to know, also in <state>/run/system.json. */
export type Announcement = {
  readonly url: string;
  /** Null when the operator brought a key. */
  readonly apiKey: string | null;
  readonly simulatorControlUrl: string | null;
  readonly metricsUrl: string;
  readonly stateDir: string;
  /** A fee week begins at every multiple of the period after the anchor. */
  readonly feePeriodMs: number;
  readonly feeAnchor: string;
  /** What the keys command needs; null where the operator named a real one, and then names it there too. */
  readonly edgeDatabaseUrl: string | null;
  readonly natsUrl: string | null;
  readonly encryptionKeyFile: string | null;
};

const SECOND = { name: "second", lastsMs: 1_000 };
const UNITS = [
  { name: "day", lastsMs: 86_400_000 },
  { name: "hour", lastsMs: 3_600_000 },
  { name: "minute", lastsMs: 60_000 },
];
const OWN_KEY = "$PAMM_BOOTSTRAP_API_KEY";

export function announcement(
  { env, settings, secrets }: House,
  edge: Program,
  natsUrl: string | undefined,
): Announcement {
  const { httpHost, httpPort, metricsPort, controlPort, embedded, hasOwnKey, stateDir, feeWeek } = settings;
  const host = reachable(httpHost);
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${httpPort}`,
    apiKey: hasOwnKey ? null : secrets.apiKey,
    simulatorControlUrl: embedded.simulator ? `http://${LOOPBACK}:${controlPort}` : null,
    metricsUrl: `http://${LOOPBACK}:${metricsPort}/metrics`,
    stateDir,
    feePeriodMs: feeWeek.periodMs,
    feeAnchor: feeWeek.anchor.toISOString(),
    edgeDatabaseUrl: embedded.postgres ? (edge.env[databaseVariable("edge")] ?? null) : null,
    natsUrl: natsUrl ?? null,
    encryptionKeyFile: isSet(env, "PAMM_ENCRYPTION_KEY") ? null : secrets.encryptionKeyFile,
  };
}

export function welcome(system: Announcement): string {
  const { url, apiKey, simulatorControlUrl, metricsUrl, stateDir, feePeriodMs, feeAnchor } = system;
  const key = apiKey ?? OWN_KEY;
  // A shell puts the value of a variable in between double quotes only.
  const quote = apiKey === null ? '"' : "'";
  const lines = [
    "",
    "The PAMM Integration Service is ready.",
    "",
    `  API         ${url}/api/v1     (documentation: ${url}/docs)`,
    `  API key     ${key}`,
    ...(simulatorControlUrl === null ? [] : [`  simulator   ${simulatorControlUrl}/control/accounts`]),
    `  metrics     ${metricsUrl}`,
    `  fee weeks   ${inWords(feePeriodMs)} each, counted from ${feeAnchor}`,
    `  data, logs  ${stateDir}`,
    "",
    "A first request:",
    "",
    `  curl -H ${quote}Authorization: Bearer ${key}${quote} '${url}/api/v1/investor/directory?engine=PAMM&limit=50'`,
    "",
    "Ctrl-C stops everything; the next start finds it as it was.",
    "",
  ];
  return `${lines.join("\n")}\n`;
}

function inWords(ms: number): string {
  const unit = UNITS.find(({ lastsMs }) => ms % lastsMs === 0) ?? SECOND;
  const count = ms / unit.lastsMs;
  return `${count} ${unit.name}${count === 1 ? "" : "s"}`;
}

export function publish(system: Announcement): Disposable {
  writeFileSync(fileIn(system.stateDir), `${JSON.stringify(system, undefined, 2)}\n`, { mode: 0o600 });
  return { [Symbol.dispose]: () => forget(system.stateDir) };
}

/** Nobody must be sent to a system that is not there, or not yet. */
export function forget(stateDir: string): void {
  rmSync(fileIn(stateDir), { force: true });
}

function fileIn(stateDir: string): string {
  return join(stateDir, "run", "system.json");
}
