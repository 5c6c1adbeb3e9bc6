import { beforeAll, describe } from "vitest";
import { accessRules } from "./routes/access.ts";
import { commandsAgain } from "./routes/commands-again.ts";
import { erasure } from "./routes/erasure.ts";
import { eventRoutes } from "./routes/events.ts";
import { operationRoutes } from "./routes/operations.ts";
import { rawRequests } from "./routes/raw-requests.ts";
import { noSecretInLogs } from "./routes/secrets.ts";
import { textsAndTimes } from "./routes/texts.ts";
import { type Client, clientOf } from "./support/client.ts";
import { sharedSystem, START_TIMEOUT_MS } from "./support/shared-system.ts";
import type { RunningSystem } from "./support/system.ts";

const TIMEOUT = { timeout: 180_000 };

let system: RunningSystem;
let client: Client;

beforeAll(async () => {
  system = await sharedSystem();
  client = clientOf(system);
}, START_TIMEOUT_MS);

/** What several services do together, beside the specification (`test/conformance`) and the document (`strict-clients.test.ts`). */
describe("access", TIMEOUT, () => {
  accessRules(() => client);
});
describe("erasure", () => {
  erasure(() => client);
});
describe("operations", () => {
  operationRoutes(() => client);
});
describe("texts and times", TIMEOUT, () => {
  textsAndTimes(() => client);
});
describe("events", TIMEOUT, () => {
  eventRoutes(() => client);
});
describe("commands that are sent again", () => {
  commandsAgain(() => client);
});
describe("raw requests", TIMEOUT, () => {
  rawRequests(
    () => system,
    () => client,
  );
});
describe("secrets", () => {
  noSecretInLogs(
    () => system,
    () => client,
  );
});
