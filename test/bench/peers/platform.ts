import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { textOf, isObject } from "../../../deploy/demo/exact-json.ts";
import { startNats } from "../../../deploy/local/nats.ts";
import { freePort } from "../../../deploy/local/ports.ts";
import { type Client, clientOf, eventually } from "../../journey/support/client.ts";
import { startService } from "../start-service.ts";
import { inParallel } from "../system/accounts.ts";

/** A simulator and a broker of the peers, so that the service does not read their deals. */
export type PeerPlatform = AsyncDisposable & {
  readonly control: Client["control"];
  readonly simulatorPid: number;
  readonly natsPid: number;
  /** For the processes of a peer. */
  readonly variables: Readonly<Record<string, string>>;
};

const MANAGER = { MT5_LOGIN: "1005", MT5_PASSWORD: "Manager#1005" };
/** Their connections stay open while their owners are stopped for the turn of another contestant. */
const IDLE_CLOSE = "PT10M";
const STARTS_WITHIN_MS = 60_000;

export async function startPeerPlatform(folder: string): Promise<PeerPlatform> {
  await using stack = new AsyncDisposableStack();
  const state = join(folder, "peers");
  mkdirSync(state, { recursive: true });
  const broker = stack.use(await startNats({ dir: join(state, "nats") }));
  const [web, port] = [await freePort(), await freePort()];
  const env = {
    ...MANAGER,
    SIM_PORT: String(web),
    SIM_CONTROL_PORT: String(port),
    SIM_IDLE_CLOSE: IDLE_CLOSE,
    PAMM_STATE_DIR: state,
    LOG_LEVEL: "error",
  };
  const simulator = stack.use(startService("simulator", env, join(state, "simulator.log")));
  const simulatorControlUrl = `http://127.0.0.1:${port}`;
  const { control } = clientOf({ info: () => ({ url: "", apiKey: "", simulatorControlUrl }) });
  await eventually(() => control("GET", "stats"), STARTS_WITHIN_MS);
  const held = stack.move();
  return {
    control,
    simulatorPid: simulator.pid,
    natsPid: broker.process.pid,
    variables: {
      ...MANAGER,
      MT5_TIME_ZONE: "Europe/Athens",
      MT5_URL: `https://127.0.0.1:${web}`,
      MT5_CA_FILE: join(state, "simulator/ca.pem"),
      NATS_URL: broker.url,
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

export async function createPlatformAccounts({ control }: PeerPlatform, count: number): Promise<string[]> {
  return await inParallel(count, async () => {
    const account = await control("POST", "accounts", { group: String.raw`pamm\investor`, name: "Ines" });
    return textOf(isObject(account) ? account : {}, "login");
  });
}
