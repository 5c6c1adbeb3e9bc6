import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessName } from "../journey/support/system.ts";
import type { Stage } from "./stage.ts";

export type Fault = {
  readonly name: string;
  /** Happens while customers are at it; when it is over everything can be well again. */
  readonly happen: (stage: Stage) => Promise<void>;
};

const STOPPED_MS = 30_000;
const CUT_OFF_MS = 8_000;
const LATE_MS = 3_000;
const HIDDEN_MS = 10_000;
const SLOW_MS = 6_000;
/** Commands hit by a fault, one after the other, each of another customer. */
const TIMES = 4;
const FAULT_MS = 1_500;

const KILLED: readonly ProcessName[] = [
  "edge",
  "funding",
  "platform",
  "subscription",
  "fee",
  "account",
  "postgres",
  "nats",
  "simulator",
];

function killed(name: ProcessName): Fault {
  return { name: `kill -9 ${name}`, happen: ({ system }) => system.kill(name) };
}

function faulty(name: string, fault: Readonly<Record<string, string | number>>): Fault {
  return {
    name,
    async happen({ client: { control } }) {
      await control("POST", "faults", { command: "trade/balance", times: TIMES, ...fault });
      await sleep(FAULT_MS);
      await control("DELETE", "faults");
    },
  };
}

/** Each of these while money is being moved. */
export const FAULTS: readonly Fault[] = [
  ...KILLED.map(killed),
  { name: "kill -9 of everything at once", happen: ({ system }) => system.restart("SIGKILL") },
  { name: "stop and start", happen: ({ system }) => system.restart("SIGINT") },
  { name: "Postgres stopped immediate", happen: ({ system }) => system.kill("postgres", "SIGQUIT") },
  {
    name: "JetStream's files deleted",
    async happen({ system }) {
      rmSync(join(system.stateDir, "nats/jetstream"), { recursive: true, force: true });
      await system.kill("nats");
    },
  },
  {
    name: "platform service stopped for 30 s",
    happen: ({ system }) => system.pause("platform", STOPPED_MS),
  },
  {
    name: "connection to the platform cut",
    async happen({ client: { control } }) {
      await control("POST", "faults", { command: "*", effect: "drop_before", times: 1_000_000 });
      await sleep(CUT_OFF_MS);
      await control("DELETE", "faults");
    },
  },
  { name: "nothing arrives at the platform or from it", happen: ({ line }) => line.swallow(CUT_OFF_MS) },
  {
    name: "platform stands still, then does what was asked",
    happen: ({ system }) => system.pause("simulator", CUT_OFF_MS),
  },
  { name: "platform restarts", happen: async ({ client }) => void (await client.control("POST", "restart", {})) },
  faulty("answer lost before", { effect: "drop_before" }),
  faulty("answer lost after", { effect: "drop_after" }),
  faulty("answer late", { effect: "delay", delay_ms: SLOW_MS }),
  faulty("applied late", { effect: "late_apply", delay_ms: LATE_MS }),
  faulty("answer 502 of a proxy", { effect: "http:502" }),
  faulty("return code 9, time-out", { effect: "retcode:9" }),
  faulty("return code 12, too frequent", { effect: "retcode:12" }),
  faulty("deal hidden for 10 s", { effect: "hide_deal", delay_ms: HIDDEN_MS }),
  {
    name: "answer lost and deal hidden",
    async happen({ client: { control } }) {
      for (const effect of ["drop_after", "hide_deal"]) {
        await control("POST", "faults", { command: "trade/balance", times: TIMES, effect, delay_ms: HIDDEN_MS });
      }
      await sleep(FAULT_MS);
      await control("DELETE", "faults");
    },
  },
];
