import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, untilKnown } from "../support/client.ts";
import { deposit, expectDone, newMaster, personalFields, INVESTOR_GROUP } from "../support/client-requests.ts";
import type { RunningSystem } from "../support/system.ts";

/** Checks the logs of all processes, including the database, the broker and the simulator. */
export function noSecretInLogs(system: () => RunningSystem, client: () => Client): void {
  test("no password, key, query string or body is in any log", async () => {
    const request = { ...personalFields("Sigrid"), platform_group: INVESTOR_GROUP };
    const { body } = await expectDone(client().post("/api/v1/investor/create", request));
    const { login } = await newMaster(client());
    const revealed = await expectDone(client().get(`/api/v1/info/master/${login}`));
    await expectDone(deposit(untilKnown(client()), textOf(body, "mt5_login"), "12.34", "CRM-CONFIDENTIAL-1"));

    const secrets = {
      "main password": textOf(body, "password"),
      "investor password": textOf(body, "investor_password"),
      "revealed password": textOf(revealed.body, "mt5_password"),
      "API key": system().info().apiKey,
      "a member of a body": request.username,
      "the comment in a query": "CRM-CONFIDENTIAL-1",
    };
    const folder = join(system().stateDir, "log");
    const files = readdirSync(folder);
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      const text = readFileSync(join(folder, file), "utf8");
      const leaked = Object.entries(secrets).filter(([, secret]) => text.includes(secret));
      expect(leaked.map(([name]) => `${name} is in ${file}`)).toEqual([]);
    }
  });
}
