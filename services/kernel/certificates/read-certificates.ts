import { readFileSync } from "node:fs";
import { StartupError } from "../process/startup-error.ts";

/** The content of the file that a variable names; undefined when it is not set. Throws a StartupError with the variable's name. */
export function readCertificates(variable: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    throw new StartupError(`${variable} names a file that cannot be read (${code})`, { cause: error });
  }
}
