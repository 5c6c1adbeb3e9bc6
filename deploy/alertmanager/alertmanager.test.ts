import { spawn, spawnSync } from "node:child_process";
import { mkdtempDisposableSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { waitFor } from "#test/support/wait-for.ts";
import { parse } from "yaml";
import { freePort } from "../local/ports.ts";
import { type Labels, readInhibitRules, notified } from "./inhibition.ts";

/** Debian's name of it, and that of the image. */
const PROGRAM = ["prometheus-alertmanager", "alertmanager"].find((name) => spawnSync(name, ["--version"]).status === 0);
const CONFIGURATION = join(import.meta.dirname, "alertmanager.yml");

type Shown = { readonly labels: Labels; readonly status: { readonly state: string } };
type Outage = { readonly alerts: readonly { readonly labels: Labels }[] };

test.skipIf(PROGRAM === undefined)("Alertmanager itself inhibits what the tests say it does", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "alertmanager-"));
  const url = `http://127.0.0.1:${await freePort()}`;
  const args = [`--config.file=${CONFIGURATION}`, `--storage.path=${folder.path}`, "--cluster.listen-address="];
  const program = spawn(PROGRAM!, [...args, `--web.listen-address=${url.slice("http://".length)}`], {
    stdio: "ignore",
  });
  try {
    await waitFor(async () => expect((await fetch(`${url}/-/ready`)).status).toBe(200));
    const outages = parse(readFileSync(new URL("testing/outages.yaml", import.meta.url), "utf8")) as readonly Outage[];
    // Each as an installation of its own.
    const alerts = outages.flatMap((outage, index) =>
      outage.alerts.map(({ labels }) => ({ ...labels, environment: `outage-${index}` })),
    );
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify(alerts.map((labels) => ({ labels })));
    expect((await fetch(`${url}/api/v2/alerts`, { method: "POST", headers, body })).status).toBe(200);
    const textOf = (labels: Labels): string => JSON.stringify(Object.entries(labels).toSorted());
    await waitFor(async () => {
      const shown = (await (await fetch(`${url}/api/v2/alerts`)).json()) as readonly Shown[];
      expect(shown.map(({ labels }) => textOf(labels)).toSorted()).toEqual([...new Set(alerts.map(textOf))].toSorted());
      const active = shown.filter(({ status }) => status.state === "active").map(({ labels }) => textOf(labels));
      expect(active.toSorted()).toEqual([...new Set(notified(alerts, readInhibitRules()).map(textOf))].toSorted());
    });
  } finally {
    program.kill();
  }
});
