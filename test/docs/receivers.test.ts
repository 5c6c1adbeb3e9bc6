import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { Secret } from "#kernel/values/secret.ts";
import { signedHeaders } from "../../services/edge/events/webhooks/signature.ts";
import { cleanEnvironment, run } from "../journey/support/running.ts";
import { makeRunFolder } from "../support/run-folder.ts";
import { blocksOf } from "./markdown.ts";

const PAGE = "docs/integrate/webhooks.md";
const SECRET = new Secret(`whsec_${randomBytes(32).toString("base64")}`);
const OTHER = new Secret(`whsec_${randomBytes(32).toString("base64")}`);
const BODY = '{"type":"deposit.executed","timestamp":"2026-01-02T03:04:05.678Z","data":{"subject_id":"Grüße"}}';
const MINUTE_MS = 60_000;
/** The first time Go compiles its own packages, too. */
const STARTED_WITHIN_MS = 150_000;
const TEST_TIMEOUT_MS = 180_000;
const POLL_MS = 50;

const LANGUAGES = [
  { language: "ts", file: "receiver.mts", check: [process.execPath, "--version"] },
  { language: "python", file: "receiver.py", check: ["python3", "-c", "import sqlite3"] },
  { language: "php", file: "receiver.php", check: ["php", "-r", "exit(extension_loaded('pdo_sqlite') ? 0 : 1);"] },
  { language: "go", file: "receiver.go", check: ["go", "version"] },
] as const;

const COMMANDS = {
  ts: (path: string) => [process.execPath, path],
  python: (path: string) => ["python3", path],
  php: (path: string, port: number) => ["php", "-S", `127.0.0.1:${port}`, path],
  // `go run` would pass no signal on.
  go: (path: string) => ["sh", "-c", 'go build -o "$0.built" "$0" && exec "$0.built"', path],
} as const;

function isInstalled([command, ...options]: readonly [string, ...string[]]): boolean {
  try {
    execFileSync(command, options, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

for (const { language, file, check } of LANGUAGES) {
  test.skipIf(!isInstalled(check))(
    `the receiver in ${language} stores each event once, and refuses what is forged, changed or old`,
    { timeout: TEST_TIMEOUT_MS },
    async () => {
      using folder = makeRunFolder();
      const path = join(folder.path, file);
      writeFileSync(path, programIn(language));
      const port = await freePort();
      const command = COMMANDS[language](path, port);
      const receiver = run(["env", "-C", folder.path, ...command], {
        ...cleanEnvironment(),
        PAMM_WEBHOOK_SECRET: SECRET.reveal(),
        PORT: String(port),
        NODE_NO_WARNINGS: "1",
      });
      const send = await senderTo(port, receiver.isRunning);

      const first = signedHeaders({ id: "funding-1", body: BODY, sentAt: new Date() }, [SECRET]);
      const rotated = signedHeaders({ id: "funding-2", body: BODY, sentAt: new Date() }, [OTHER, SECRET]);
      const forged = signedHeaders({ id: "funding-3", body: BODY, sentAt: new Date() }, [OTHER]);
      const old = signedHeaders({ id: "funding-4", body: BODY, sentAt: new Date(Date.now() - 6 * MINUTE_MS) }, [
        SECRET,
      ]);
      const early = signedHeaders({ id: "funding-5", body: BODY, sentAt: new Date(Date.now() + 6 * MINUTE_MS) }, [
        SECRET,
      ]);
      expect(await send(first, BODY), receiver.output()).toBe(204);
      expect(await send(first, BODY)).toBe(204);
      expect(await send(rotated, BODY)).toBe(204);
      expect(await send(forged, BODY)).toBe(401);
      expect(await send(first, BODY.replace("executed", "not_executed"))).toBe(401);
      expect(await send({ ...first, "webhook-id": "funding-6" }, BODY)).toBe(401);
      expect(await send(old, BODY)).toBe(401);
      expect(await send(early, BODY)).toBe(401);
      expect(await send({}, BODY)).toBe(401);
      expect(await send(first, "x".repeat(70_000))).toBe(413);

      expect(stored(folder.path, language)).toEqual(["funding-1", "funding-2"]);
      receiver.signal("SIGTERM");
      await receiver.ended;
    },
  );
}

test("there is one receiver in each language", () => {
  const languages = blocksOf(PAGE).map(({ language }) => language);

  expect(languages.filter((language) => language !== "sh")).toEqual(LANGUAGES.map(({ language }) => language));
});

function programIn(wanted: string): string {
  return blocksOf(PAGE).find(({ language }) => language === wanted)?.text ?? "";
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

type Send = (headers: Readonly<Record<string, string>>, body: string) => Promise<number>;

/** When something listens. */
async function senderTo(port: number, isRunning: () => boolean): Promise<Send> {
  const send: Send = async (headers, body) => {
    const { status } = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body });
    return status;
  };
  for (const until = Date.now() + STARTED_WITHIN_MS; ; await sleep(POLL_MS)) {
    const isListening = await send({}, "").then(
      () => true,
      () => false,
    );
    if (isListening || !isRunning() || Date.now() > until) return send;
  }
}

function stored(folder: string, language: string): string[] {
  if (language === "go") {
    const names = readdirSync(join(folder, "inbox")).toSorted();
    return names.map((name) => name.replace(/\.json$/, ""));
  }
  using database = new DatabaseSync(join(folder, "inbox.db"), { readOnly: true });
  return database
    .prepare("select id from inbox order by id")
    .all()
    .map((row) => String(row["id"]));
}
