import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { openApiDocument } from "../../deploy/docs/openapi/document.ts";
import { DOCUMENTED_ROUTES } from "../../services/edge/api/documented-routes.ts";

/** Lints the document, without a server and without the network. Prints what is wrong. */
const folder = join(import.meta.dirname, "../../.cache/openapi");
const CLI = join(import.meta.dirname, "../../node_modules/@redocly/cli/bin/cli.js");
/** The command would report its use, and look for a newer version. */
const OFFLINE = { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", CI: "true" };

type Report = {
  readonly problems: readonly {
    readonly ruleId: string;
    readonly message: string;
    readonly location: readonly Place[];
  }[];
};
type Place = { readonly pointer: string };

mkdirSync(folder, { recursive: true });
const file = join(folder, "openapi.json");
writeFileSync(file, JSON.stringify(openApiDocument(DOCUMENTED_ROUTES), undefined, 2));
const found = await redocly(file);
for (const line of found) process.stderr.write(`${line}\n`);
process.exitCode = found.length === 0 ? 0 : 1;

/** Errors and warnings of the rules that Redocly recommends. */
async function redocly(file: string): Promise<string[]> {
  const args = [CLI, "lint", file, "--extends", "recommended", "--format", "json", "--max-problems", "1000"];
  const options = { env: { ...process.env, ...OFFLINE }, maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)(process.execPath, args, options).catch((error: unknown) => {
    // The status is 1 when there are errors.
    const printed = error instanceof Error && "stdout" in error ? String(error.stdout) : "";
    if (!printed.startsWith("{")) throw error;
    return { stdout: printed };
  });
  const { problems } = JSON.parse(stdout) as Report;
  return problems.map(
    ({ ruleId, message, location: [place] }) => `redocly ${ruleId}: ${message} ${place?.pointer ?? ""}`,
  );
}
