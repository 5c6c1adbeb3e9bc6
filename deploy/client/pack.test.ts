import { execFile, execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { answer, problem, scriptedServer } from "../../services/client/test-server.ts";
import { openApiDocument } from "../docs/openapi/document.ts";
import { DOCUMENTED_ROUTES } from "../../services/edge/api/documented-routes.ts";
import { packClient } from "./pack.ts";
import { type ClientDocument, isCurrent } from "./source.ts";

const ROOT = join(import.meta.dirname, "../..");
const CLIENT = join(ROOT, "services/client");
const NAME = "pamm-integration-client";
const STRICT = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--skipLibCheck", "false"];
const MODULES = ["--module", "nodenext", "--target", "es2022", "--types", "node", "--lib", "es2022", "--ignoreConfig"];

/** A folder of a CRM that has installed the package, and nothing else. */
let folder: string;
let files: readonly string[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "client-"));
  const archive = packClient(join(folder, "pack"));
  files = run("tar", ["-tzf", archive]).trim().split("\n");
  writeFileSync(join(folder, "package.json"), `{ "name": "crm", "type": "module", "private": true }`);
  run("npm", ["install", archive, "--offline", "--no-audit", "--no-fund", "--silent"]);
  // The compiler needs the types of Node for `process` and `console`; a CRM has them.
  mkdirSync(join(folder, "node_modules/@types"), { recursive: true });
  for (const name of ["@types/node", "undici-types"]) {
    symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
  }
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

function run(command: string, args: readonly string[]): string {
  return execFileSync(command, args, { encoding: "utf8", cwd: folder });
}

async function compile(...files: readonly string[]): Promise<string> {
  const args = [...STRICT, ...MODULES, ...files.map((file) => join(folder, file))];
  const { stdout } = await promisify(execFile)(join(ROOT, "node_modules/.bin/tsc"), args).catch((error: unknown) => ({
    stdout: String(Object(error).stdout),
  }));
  return stdout;
}

/** The oldest Node that the package promises, where the machine has one: npm usually runs on it. */
function nodes(): string[] {
  const own = join(ROOT, "node_modules/.bin");
  const paths = (process.env["PATH"] ?? "").split(":").filter((path) => path !== own && existsSync(join(path, "node")));
  const others = paths.map((path) => join(path, "node")).filter((node) => /^v(20|22)\./.test(run(node, ["--version"])));
  return [process.execPath, ...others.slice(0, 1)];
}

test("the generated files are those of the routes; `make codegen` makes them", async () => {
  expect(await isCurrent(openApiDocument(DOCUMENTED_ROUTES) as ClientDocument, join(CLIENT, "gen"))).toBe(true);
});

test("the package has compiled code and types, no sources, no tests and no dependencies", () => {
  const manifest = JSON.parse(readFileSync(join(folder, "node_modules", NAME, "package.json"), "utf8")) as object;

  expect(files).toEqual(
    expect.arrayContaining(["package/README.md", "package/dist/index.js", "package/dist/index.d.ts"]),
  );
  expect(files.filter((file) => !/^package\/(README\.md|package\.json|dist\/.+\.(js|d\.ts))$/.test(file))).toEqual([]);
  expect(files.filter((file) => file.includes("test"))).toEqual([]);
  expect(Object.keys(manifest)).not.toEqual(expect.arrayContaining(["dependencies"]));
  expect(manifest).not.toHaveProperty("private");
});

test("a strict consumer and the sample of the README compile, and each of the planted mistakes does not", async () => {
  copyFileSync(join(import.meta.dirname, "consumer.txt"), join(folder, "consumer.ts"));
  const [, sample = ""] = /```ts\n(.*?)```/s.exec(readFileSync(join(CLIENT, "README.md"), "utf8")) ?? [];
  writeFileSync(join(folder, "sample.ts"), sample);

  expect(await compile("consumer.ts", "sample.ts")).toBe("");
  writeFileSync(join(folder, "wrong.ts"), sample.replace("mt5_login;", "mt5_lgin;"));
  expect(await compile("wrong.ts")).toContain("mt5_lgin");
});

test("it is imported and required, on each Node of this machine", async () => {
  await compile("consumer.ts");
  const required = `const { toMinor } = require("${NAME}"); console.log(String(toMinor("1.5")))`;
  for (const node of nodes()) {
    await using server = await scriptedServer(
      answer(`{"amount":250.50,"deal_id":9007199254740993}`),
      problem(404, "master_not_found"),
    );
    const { stdout } = await promisify(execFile)(node, [join(folder, "consumer.js"), server.url]);

    expect(stdout, node).toBe("9007199254740993 250.50 master_not_found\n");
    expect(run(node, ["--input-type=commonjs", "--no-warnings", "--eval", required]), node).toBe("150\n");
  }
});
