import { join } from "node:path";
import { readConfig } from "#kernel/process/config.ts";
import { runService } from "#kernel/process/service.ts";
import { settings } from "./config.ts";
import { startSimulator } from "./start.ts";
import { writeWhole } from "./store/folder.ts";

await runService("simulator", async ({ stack, env, log, watch }) => {
  const config = readConfig(settings, env);
  const simulator = stack.use(
    await startSimulator({
      stateDir: config.PAMM_STATE_DIR,
      host: config.SIM_HOST,
      port: config.SIM_PORT,
      controlHost: config.SIM_CONTROL_HOST,
      controlPort: config.SIM_CONTROL_PORT,
      idleCloseMs: config.SIM_IDLE_CLOSE,
      tlsNames: config.SIM_TLS_NAMES ?? [],
      groups: config.SIM_GROUPS ?? [],
      loginRange: config.SIM_LOGIN_RANGE,
      reservedLogins: config.MT5_LOGIN_RANGE,
      timeZone: config.SIM_TIME_ZONE,
      keyCase: config.SIM_KEY_CASE,
      managerGroups: config.SIM_MANAGER_GROUPS,
      ...(config.SIM_MANAGER_RIGHTS === undefined ? {} : { managerRights: config.SIM_MANAGER_RIGHTS }),
      managerLogin: config.MT5_LOGIN,
      managerPassword: config.MT5_PASSWORD.reveal(),
      log,
    }),
  );
  watch("journal", simulator.closed);
  const { url, port, controlUrl, controlPort, caFile } = simulator;
  const ports = { url, port, controlUrl, controlPort, caFile, pid: process.pid };
  await writeWhole(join(config.PAMM_STATE_DIR, "simulator", "ports.json"), `${JSON.stringify(ports)}\n`);
  log.info("the Web API listens", { url, port });
  log.info("the control API listens", { url: controlUrl, port: controlPort });
});
