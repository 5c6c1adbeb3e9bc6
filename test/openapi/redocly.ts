import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

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

/** Errors and warnings of the rules that Redocly recommends. */
export async function redocly(file: string): Promise<string[]> {
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
