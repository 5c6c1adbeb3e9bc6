import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessName } from "../journey/support/system.ts";
import type { SystemUnderTest } from "./system-under-test.ts";

export type Fault = {
  readonly name: string;
  /** Injects the fault during traffic; resolves when its cause is over. */
  readonly inject: (tested: SystemUnderTest) => Promise<void>;
};

const STOPPED_MS = 30_000;
const CUT_OFF_MS = 8_000;
const LATE_MS = 3_000;
const HIDDEN_MS = 10_000;
const SLOW_MS = 6_000;
/** A fault hits this many consecutive commands, which come from different customers. */
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
  return { name: `kill -9 ${name}`, inject: ({ system }) => system.kill(name) };
}

function simulated(name: string, fault: Readonly<Record<string, string | number>>): Fault {
  return {
    name,
    async inject({ client: { control } }) {
      await control("POST", "faults", { command: "trade/balance", times: TIMES, ...fault });
      await sleep(FAULT_MS);
      await control("DELETE", "faults");
    },
  };
}

export const FAULTS: readonly Fault[] = [
  ...KILLED.map(killed),
  { name: "kill -9 of all processes at once", inject: ({ system }) => system.restart("SIGKILL") },
  { name: "stop and start", inject: ({ system }) => system.restart("SIGINT") },
  { name: "Postgres stopped in immediate mode", inject: ({ system }) => system.kill("postgres", "SIGQUIT") },
  {
    name: "JetStream's files deleted",
    async inject({ system }) {
      rmSync(join(system.stateDir, "nats/jetstream"), { recursive: true, force: true });
      await system.kill("nats");
    },
  },
  {
    name: "platform service stopped for 30 s",
    inject: ({ system }) => system.pause("platform", STOPPED_MS),
  },
  {
    name: "connection to the platform cut",
    async inject({ client: { control } }) {
      await control("POST", "faults", { command: "*", effect: "drop_before", times: 1_000_000 });
      await sleep(CUT_OFF_MS);
      await control("DELETE", "faults");
    },
  },
  {
    name: "platform is suspended, then executes its commands",
    inject: ({ system }) => system.pause("simulator", CUT_OFF_MS),
  },
  { name: "platform restarts", inject: async ({ client }) => void (await client.control("POST", "restart", {})) },
  simulated("answer lost, command not executed", { effect: "drop_before" }),
  simulated("answer lost, command executed", { effect: "drop_after" }),
  simulated("answer late", { effect: "delay", delay_ms: SLOW_MS }),
  simulated("applied late", { effect: "late_apply", delay_ms: LATE_MS }),
  simulated("answer 502 of a proxy", { effect: "http:502" }),
  simulated("return code 9, time-out", { effect: "retcode:9" }),
  simulated("return code 12, too frequent", { effect: "retcode:12" }),
  simulated("deal hidden for 10 s", { effect: "hide_deal", delay_ms: HIDDEN_MS }),
  {
    name: "answer lost and deal hidden",
    async inject({ client: { control } }) {
      for (const effect of ["drop_after", "hide_deal"]) {
        await control("POST", "faults", { command: "trade/balance", times: TIMES, effect, delay_ms: HIDDEN_MS });
      }
      await sleep(FAULT_MS);
      await control("DELETE", "faults");
    },
  },
];
